"""The package as a whole: light to import, complete, quiet."""

import subprocess
import sys

import bestk


def run(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_importing_bestk_brings_no_other_package_than_numpy():
    code = "import sys; {}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    before, after = (set(run(code.format(line))[0].split()) for line in ("pass", "import bestk"))
    others = after - before - set(sys.stdlib_module_names)
    assert {name for name in others if not name.startswith("_")} <= {"bestk", "numpy"}


def test_every_public_name_resolves_and_is_documented():
    for name in bestk.__all__:
        assert getattr(bestk, name).__doc__
    assert set(bestk.__all__) <= set(dir(bestk))
    assert not hasattr(bestk, "no_such_name")


def test_a_first_call_prints_and_warns_of_nothing():
    code = (
        "import numpy as np, bestk;"
        "X = np.random.default_rng(0).normal(size=(50, 3)); y = np.arange(50) % 2;"
        "bestk.cmi_matrix(bestk.CAIM().fit_transform(X, y), y)"
    )
    assert run(code) == ("", "")
