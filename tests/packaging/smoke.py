"""What a stranger has after ``pip install bestk``, with no extra: ``make test-wheel`` runs this.

It is run by the Python of an environment that has the built package alone, outside of the tree.
"""

import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

EXTRAS = ("pyarrow", "matplotlib", "torch", "dask", "distributed", "pandas", "polars")
HEAVY = {*EXTRAS, "sklearn", "scipy", "numba", "narwhals", "rich", "click", "joblib"}
BEST = ["worst perimeter", "worst smoothness", "mean texture"]


def run(*args: str, code: int = 0) -> str:
    """What a command prints; where it fails, the only line of its error."""
    done = subprocess.run([sys.executable, *args], capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{args} ended with {done.returncode}:\n{done.stderr}"
    if code == 2:
        assert done.stderr.count("\n") == 1, done.stderr
        return done.stderr
    return done.stdout


def bestk(*args: str, code: int = 0) -> str:
    """What ``bestk`` prints."""
    command = Path(sys.executable).with_name("bestk")
    return run(str(command), *args, code=code)


def no_extra_is_installed() -> None:
    present = [name for name in EXTRAS if find_spec(name)]
    assert not present, f"this environment is not clean: it has {present}"


def importing_is_light() -> None:
    code = "import sys, time; t = time.perf_counter(); import bestk; t = time.perf_counter() - t;"
    seconds, brought = run("-c", code + "print(t); print(*sys.modules)").splitlines()
    heavy = HEAVY & {name.split(".")[0] for name in brought.split()}
    assert not heavy, f"import bestk brings {heavy}"
    print(f"    import bestk: {1000 * float(seconds):.0f} ms")


def the_command_knows_its_version() -> None:
    assert bestk("--version") == f"bestk {version('bestk')}\n"


def the_types_are_there() -> None:
    import bestk as package

    assert Path(package.__file__).with_name("py.typed").exists()
    assert "site-packages" in package.__file__, f"{package.__file__} is not the installed one"


def features_are_selected_from_text() -> None:
    table = ("-t", "y", "-k", "3")
    for name in ("table.csv", "table.tsv.gz"):
        told = json.loads(bestk("select", name, *table, "--json"))
        assert [feature["name"] for feature in told["features"]] == BEST, told
    assert bestk("select", "table.csv", *table, "-q", "-o", "cut.csv").splitlines() == BEST
    assert Path("cut.csv").read_text().splitlines()[0] == ",".join([*BEST, "y"])
    assert bestk("select", "table.csv", *table, "-m", "maxrel", "-q", "--stream").count("\n") == 3


def methods_are_compared_and_told() -> None:
    told = bestk("compare", "table.csv", "-t", "y", "-k", "3", "-m", "maxrel", "-m", "mrmr")
    assert "maxrel" in told
    assert "mrmr" in told
    assert "tpower" in bestk("methods")


def a_plan_is_made() -> None:
    told = json.loads(bestk("plan", "table.csv", "-t", "y", "-k", "3", "--json"))
    assert (told["rows"], told["columns"]) == (569, 30)


def a_report_is_written() -> None:
    bestk("report", "table.csv", "-t", "y", "-k", "3", "-o", "page.html", "-q")
    assert "</html>" in Path("page.html").read_text(encoding="utf-8")


def arrays_and_lists_are_tables() -> None:
    from sklearn.datasets import load_breast_cancer

    from bestk import SelectBestK, select

    X, y = load_breast_cancer(return_X_y=True)
    chosen = SelectBestK(3).fit(X, y)
    assert chosen.transform(X).shape == (569, 3)
    listed = SelectBestK(3).fit(X.tolist(), y.tolist())
    assert (listed.get_support() == chosen.get_support()).all()
    mixed = [["red", 1], ["red", 2], ["blue", 1], ["blue", 2]]
    assert select(mixed, [0, 0, 1, 1], k=1).support.tolist() == [0]


def the_command_names_the_extra_that_is_missing() -> None:
    Path("table.parquet").write_bytes(b"anything")
    table = ("-t", "y", "-k", "3")
    asked = {
        "files": [
            ("select", "table.parquet", *table),
            ("select", "table.csv", *table, "-o", "cut.parquet"),
            ("compare", "table.parquet", *table),
            ("plan", "table.parquet", *table),
        ],
        "plots": [("select", "table.csv", *table, "--plot", "picture.png")],
    }
    for extra, commands in asked.items():
        for command in commands:
            assert f"pip install 'bestk[{extra}]'" in bestk(*command, code=2), command
    assert "pip install 'bestk[dask]'" in bestk("plan", "table.csv", *table, "--workers", "4")


def the_library_names_the_extra_that_is_missing() -> None:
    from bestk import cmi_matrix, select
    from bestk.files import open_source
    from bestk.plots import plot_features

    X, y = [[0, 1], [1, 1], [0, 0], [1, 0]], [0, 1, 0, 1]
    asked: list[tuple[str, Callable[[], object]]] = [
        ("files", lambda: open_source("table.parquet")),
        ("plots", lambda: plot_features(select(X, y, 1))),
        ("gpu", lambda: cmi_matrix(X, y, backend="torch")),
        ("dask", lambda: cmi_matrix(X, y, backend="dask")),
    ]
    for extra, attempt in asked:
        assert f"pip install 'bestk[{extra}]'" in error_of(attempt), extra


def error_of(attempt: Callable[[], object]) -> str:
    """What an attempt to import what is not there says."""
    try:
        attempt()
    except ImportError as error:
        return str(error)
    return "no error"


CHECKS = (
    no_extra_is_installed,
    importing_is_light,
    the_command_knows_its_version,
    the_types_are_there,
    features_are_selected_from_text,
    methods_are_compared_and_told,
    a_plan_is_made,
    a_report_is_written,
    arrays_and_lists_are_tables,
    the_command_names_the_extra_that_is_missing,
    the_library_names_the_extra_that_is_missing,
)


def write_tables() -> None:
    """A table as people have them, in two spellings."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    rows = [[*row.tolist(), data.target_names[label]] for row, label in zip(data.data, data.target)]  # noqa: B905
    with open("table.csv", "w", newline="") as comma, gzip.open("table.tsv.gz", "wt") as tab:
        for file, delimiter in ((comma, ","), (tab, "\t")):
            csv.writer(file, delimiter=delimiter).writerows([[*data.feature_names, "y"], *rows])


def main() -> None:
    """Check all in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_tables()
        for check in CHECKS:
            start = perf_counter()
            check()
            print(
                f"  {perf_counter() - start:5.1f} s  {check.__name__.replace('_', ' ')}", flush=True
            )
        os.chdir("/")


if __name__ == "__main__":
    main()
