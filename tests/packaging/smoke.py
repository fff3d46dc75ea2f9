"""What a stranger has after ``pip install bestk``, with no extra: ``make test-wheel`` runs this.

It is run by the Python of an environment that has the built package alone, outside of the tree.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

EXTRAS = (
    "click",
    "rich",
    "pyarrow",
    "matplotlib",
    "torch",
    "dask",
    "distributed",
    "pandas",
    "polars",
)
HEAVY = {*EXTRAS, "sklearn", "scipy", "narwhals", "joblib"}


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


def the_command_prints_how_to_install_it() -> None:
    for args in ([], ["--version"], ["select", "table.csv", "-t", "y"]):
        assert "pip install 'bestk[cli]'" in bestk(*args, code=2)
        assert "pip install 'bestk[cli]'" in run("-m", "bestk", *args, code=2)


def the_types_are_there() -> None:
    import bestk as package

    assert Path(package.__file__).with_name("py.typed").exists()
    assert "site-packages" in package.__file__, f"{package.__file__} is not the installed one"


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


def the_library_names_the_extra_that_is_missing() -> None:
    from bestk import cmi_matrix, select
    from bestk.plots import plot_features
    from bestk.tables.sources import open_source

    Path("table.parquet").write_bytes(b"anything")
    X, y = [[0, 1], [1, 1], [0, 0], [1, 0]], [0, 1, 0, 1]
    asked: list[tuple[str, Callable[[], object]]] = [
        ("cli", lambda: open_source("table.parquet")),
        ("plots", lambda: plot_features(select(X, y, 1))),
        ("report", lambda: import_module("bestk.report")),
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
    the_command_prints_how_to_install_it,
    the_types_are_there,
    arrays_and_lists_are_tables,
    the_library_names_the_extra_that_is_missing,
)


def main() -> None:
    """Check all in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for check in CHECKS:
            start = perf_counter()
            check()
            print(
                f"  {perf_counter() - start:5.1f} s  {check.__name__.replace('_', ' ')}", flush=True
            )
        os.chdir("/")


if __name__ == "__main__":
    main()
