"""bestk doctor: what it finds, what it calls a problem, and that nothing stops it."""

import copy
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

import bestk
from bestk.cli import _bench, _child, _doctor, _machine, _versions, main
from bestk.cli._bench_text import bench_lines
from bestk.cli._doctor_text import lines_of
from bestk.cli._problems import find_problems

HEALTHY = {
    "bestk": "1.0",
    "python": "3.12.1",
    "python_minimum": "3.11",
    "platform": "Linux-x86_64",
    "packages": {
        "numpy": {"name": "numpy", "version": "2.4", "minimum": "2.0", "extra": None,
                  "is_old": False, "install": None},
        "torch": {"name": "torch", "version": None, "minimum": "2.6", "extra": "gpu",
                  "is_old": False, "install": "pip install 'bestk[gpu]'"},
    },
    "cpu": {"name": "A chip", "target": "znver4", "features": ["popcnt", "avx2"], "cores": 4,
            "cores_to_use": 2},
    "memory": {"free": 2.0**33, "total": 2.0**34, "words": "8 GiB are free of 16"},
    "blas": [{"internal_api": "openblas", "version": "0.3", "num_threads": 2}],
    "cache": {"folder": "/c", "writable": True, "bytes": 9, "words": "9 B"},
    "select": {"seconds": 0.5, "threads": 2, "layer": "omp", "compiles": True},
    "gpu": [],
    "data": {"folder": None, "exists": False, "sets": []},
}  # fmt: skip


def changed(**parts):
    """A healthy report, but for some values of its parts."""
    report = copy.deepcopy(HEALTHY)
    for name, values in parts.items():
        partly = isinstance(values, dict) and "error" not in values
        report[name] = {**report[name], **values} if partly else values
    return report


def doctor(*args, **env):
    """The report of a doctor in a process of its own, and its exit code."""
    done = subprocess.run(
        [sys.executable, "-m", "bestk", "doctor", "--json", *args],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **env},
    )
    return json.loads(done.stdout), done.returncode


def test_a_machine_on_which_selecting_works_is_healthy(tmp_path):
    report, code = doctor(BESTK_DATA=str(tmp_path))
    assert (report["healthy"], code) == (True, 0)
    assert report["bestk"] == bestk.__version__
    assert report["python"] == ".".join(map(str, sys.version_info[:3]))
    needed = {"numpy", "scipy", "scikit-learn", "numba", "llvmlite", "narwhals", "rich", "click"}
    optional = {"pyarrow", "matplotlib", "torch", "dask", "distributed"}
    assert needed | optional <= set(report["packages"])
    assert not any("error" in report[name] for name in (*_doctor.PROBES, "packages", "data"))
    assert 1 <= report["cpu"]["cores_to_use"] <= report["cpu"]["cores"]
    assert 0 < report["memory"]["free"] <= report["memory"]["total"]
    assert report["cache"]["bytes"] > 0
    assert report["select"]["layer"] in ("omp", "tbb", "workqueue")
    assert report["data"] == {"folder": str(tmp_path), "exists": True, "sets": []}


def test_a_package_that_cannot_be_imported_is_a_problem_and_an_exit_code(tmp_path):
    (tmp_path / "numba.py").write_text("raise ImportError('no LLVM here')")
    report, code = doctor(PYTHONPATH=str(tmp_path))
    assert (report["healthy"], code) == (False, 1)
    worst = report["problems"][0]
    assert worst["serious"]
    assert "no LLVM here" in worst["what"]
    assert "pip install --force-reinstall" in worst["do"]
    assert "error" in report["cpu"]
    assert "error" not in report["memory"]


def test_a_crash_is_told_and_what_comes_after_it_is_still_looked_at(monkeypatch, tmp_path):
    (tmp_path / "llvmlite.py").write_text("import os; os.abort()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    found = _child.ask(_doctor.MACHINE, ["cpu", "memory"], 100)
    assert found["cpu"]["error"].startswith("the process was ended by SIGABRT")
    assert found["memory"]["total"] > 0


def test_what_takes_too_long_is_ended(tmp_path, monkeypatch):
    (tmp_path / "sleeps.py").write_text("import time; time.sleep(600)")
    monkeypatch.syspath_prepend(str(tmp_path))
    late = {"error": _child.OVER}
    assert _child.ask("sleeps", ["a", "b"], 0.2) == {"a": late, "b": late}


def test_what_was_found_before_the_time_was_up_is_kept(monkeypatch):
    def end(command, timeout, **options):
        raise subprocess.TimeoutExpired(command, timeout, f'{_child.MARK}{{"a": 1}}\n'.encode())

    monkeypatch.setattr(_child.subprocess, "run", end)
    output, reason = _child._run("any", ["a", "b"], 1.0)
    assert (_child._read(output), reason) == ({"a": 1}, _child.OVER)


def test_what_libraries_print_is_not_taken_for_a_finding():
    printed = f'hello\n{_child.MARK}{{"a": 1}}\n{{"b": 2}}\n{_child.MARK}{{"c": '
    assert _child._read(printed) == {"a": 1}


def test_nothing_is_wrong_with_a_healthy_machine():
    assert find_problems(HEALTHY) == []
    text = "\n".join(lines_of(HEALTHY | {"healthy": True, "problems": []}))
    assert text.endswith("\nall is well")
    assert "torch         not installed, for counting on a GPU: pip install 'bestk[gpu]'" in text
    assert "gpu           unknown without torch" in text


@pytest.mark.parametrize(
    ("parts", "what", "do", "serious"),
    [
        ({"python": "3.9.2"}, "Python 3.9.2 is older than 3.11", "install Python 3.11", False),
        ({"select": {"error": "ValueError: x"}}, "fails: ValueError: x", "--debug", True),
        ({"select": {"error": "RuntimeError: no locator available for file"}},
         "no locator available", "set NUMBA_CACHE_DIR", True),
        ({"select": {"error": _child.OVER}}, "took too long", "run it again", True),
        ({"select": {"compiles": False}}, "nothing is compiled", "unset NUMBA_DISABLE_JIT", False),
        ({"cache": {"writable": False}}, "every start compiles", "set NUMBA_CACHE_DIR", False),
        ({"cache": {"writable": False, "folder": None}}, "cannot be kept anywhere", "set NUMBA",
         False),
        ({"select": {"threads": 8}}, "8 threads share 2 cores", "NUMBA_NUM_THREADS=2", False),
        ({"cpu": {"features": []}}, "no popcnt", "use another", False),
        ({"memory": {"free": 2.0**20}}, "little memory", "bestk plan", False),
        ({"data": {"folder": "/nowhere"}}, "BESTK_DATA names /nowhere", "unset BESTK_DATA", False),
        ({"blas": {"error": "OSError: x"}}, "blas: OSError: x", "--debug", False),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_what_to_do(parts, what, do, serious):
    report = changed(**parts)
    (problem,) = find_problems(report)
    assert what in problem.what
    assert do in problem.do
    assert problem.serious == serious
    told = {"healthy": not serious, "problems": [problem.to_dict()]}
    *_, state, line, cure = lines_of(report | told)
    assert state == ("NOT well" if serious else "selecting works")
    assert problem.what in line
    assert problem.do in cure


def test_versions_are_compared_with_those_that_the_metadata_ask_for(monkeypatch):
    wanted = {
        "bestk": ["numpy>=2.0", "gone>=1.0", 'pyarrow>=19; extra == "files"', 'x; extra == "test"'],
        "numba": ["llvmlite<0.51,>=0.50.0dev0"],
    }
    installed = {"numpy": "1.26.4", "llvmlite": "0.50.0", "pyarrow": "18.1.0"}

    def version(name):
        if name not in installed:
            raise _versions.metadata.PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(_versions.metadata, "requires", wanted.get)
    monkeypatch.setattr(_versions.metadata, "version", version)
    found = {package.name: package for package in _versions.find_packages()}
    assert list(found) == ["numpy", "gone", "llvmlite", "pyarrow"]
    assert [found[name].is_old for name in found] == [True, False, False, True]
    assert found["pyarrow"].install == "pip install 'bestk[files]'"
    problems = find_problems(HEALTHY | {"packages": {n: p.to_dict() for n, p in found.items()}})
    assert [(p.what, p.do, p.serious) for p in problems] == [
        ("gone is not installed", "pip install --upgrade 'gone>=1.0'", True),
        ("numpy 1.26.4 is older than 2.0", "pip install --upgrade 'numpy>=2.0'", False),
        ("pyarrow 18.1.0 is older than 19", "pip install 'bestk[files]'", False),
    ]


def test_a_cache_that_can_be_nowhere_is_none(monkeypatch):
    from bestk.information.backends import _bitplanes

    nowhere = SimpleNamespace(stats=SimpleNamespace(cache_path=None))
    monkeypatch.setattr(_bitplanes, "count_rows", nowhere)
    assert _machine.look_at_cache() == {
        "folder": None, "writable": False, "bytes": 0, "words": "0 B",
    }  # fmt: skip


def test_the_table_that_is_tried_has_one_column_that_tells():
    rows = [_machine.trial_row(i).split(",") for i in range(_machine.ROWS)]
    assert {(float(signal) >= 1, y) for signal, _, _, y in rows} == {(False, "no"), (True, "yes")}


def test_gpus_are_those_that_torch_sees_and_none_without_it(monkeypatch):
    card = SimpleNamespace(name="A card", total_memory=3 * 2**30)
    cuda = SimpleNamespace(device_count=lambda: 1, get_device_properties=lambda i: card)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda, Tensor=int))
    monkeypatch.setattr(_machine, "find_spec", lambda name: name)
    found = _machine.look_at_gpus()
    assert found == [{"name": "A card", "bytes": 3 * 2**30, "words": "3.0 GiB"}]
    report = changed(gpu=found) | {"healthy": True, "problems": []}
    assert "gpu           A card, 3.0 GiB" in lines_of(report)
    monkeypatch.setattr(_machine, "find_spec", lambda name: None)
    assert _machine.look_at_gpus() == []


def test_every_kernel_is_timed(monkeypatch):
    job = _bench.Job(lambda: None, "2 x 2", 10.0, "pair")
    told = _bench.time_job(lambda: job)
    assert told["per_second"] == pytest.approx(10 / told["seconds"])
    assert told["first_seconds"] > 0
    found = _child.ask("bestk.cli._bench", _bench.NAMES, 300)
    assert list(found) == list(_bench.NAMES)
    assert not [name for name in found if "error" in found[name]], found
    lines = list(bench_lines(found))
    assert all(any(line.startswith(name) for line in lines) for name in found)
    assert "GFLOP/s" in "\n".join(lines)


def test_what_was_not_timed_is_told():
    lines = list(bench_lines({"a": {"error": _child.OVER}, "b": {"error": "ValueError: x"}}))
    assert "the time was up before: a" in lines
    assert "b: ValueError: x" in lines


def test_the_limit_of_a_bench_is_handed_on_and_does_not_change_the_exit_code(monkeypatch):
    asked = []
    monkeypatch.setattr(_doctor, "gather", lambda: copy.deepcopy(HEALTHY))
    monkeypatch.setattr(_doctor, "ask", lambda *args: asked.append(args) or {})
    done = CliRunner().invoke(main, ["doctor", "--bench", "--seconds", "3", "--json"])
    assert done.exit_code == 0
    assert asked == [("bestk.cli._bench", _bench.NAMES, 3.0)]
    assert json.loads(done.stdout)["bench"] == {}
