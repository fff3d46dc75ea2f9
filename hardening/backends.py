"""The same counts and selections from every backend: ``python -m hardening.backends``."""

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from math import isclose
from typing import Any

import numpy as np

from bestk import CAIM, cmi_matrix, joint_mi_matrix, mutual_information
from hardening.golden.selections import chosen
from hardening.golden.sets import present, read
from hardening.record import keep

MAX_DIFFERENCE = 1e-13  # of objectives, relative
METHODS = ("auto", "tpower", "jmi", "mrmr", "search", "forward")


def compare(name: str, backend: str) -> list[str]:
    """What differs from the native backend: measures of all pairs, and selections."""
    X, y = read(name)
    if y.dtype.kind == "f":
        y = np.searchsorted(np.quantile(y, [0.25, 0.5, 0.75]), y)
    codes = CAIM().fit_transform(X, y)
    wrong = [
        f"{name}, {measure.__name__}"
        for measure in (mutual_information, joint_mi_matrix, cmi_matrix)
        if not np.array_equal(measure(codes, y, backend=backend), measure(codes, y))
    ]
    return wrong + [
        f"{name}, {method}"
        for method in METHODS
        if not alike(chosen(X, y, method, backend=backend), chosen(X, y, method))
    ]


def alike(found: dict[str, Any], own: dict[str, Any]) -> bool:
    """Whether selections are equal; logarithms of a GPU may differ in their last bit."""
    values = [float.fromhex(each["objective"]) for each in (found, own)]
    return found["support"] == own["support"] and isclose(*values, rel_tol=MAX_DIFFERENCE)


@contextmanager
def cluster() -> Iterator[None]:
    """A scheduler and two workers on this machine."""
    from distributed import Client, LocalCluster

    where = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with where, Client(where):
        yield


def main() -> int:
    """Compare all sets that are here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backends", nargs="+", default=["torch"])
    parser.add_argument("--sets", nargs="+", help="by default all that are here")
    options = parser.parse_args()
    total = 0
    for backend in options.backends:
        start, names = time.perf_counter(), options.sets or list(present())
        with cluster() if backend == "dask" else nullcontext():
            wrong = [line for name in names for line in compare(name, backend)]
        print("\n".join(wrong))
        tried = len(names) * (3 + len(METHODS))
        keep("backends", f"{backend} beside native", tried, len(wrong), time.perf_counter() - start)
        total += len(wrong)
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
