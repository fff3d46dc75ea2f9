"""Modules for what is not installed here are not imported; any other that cannot be is an error.

Pictures are closed after each test: matplotlib keeps those of pyplot, and warns of many.
"""

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:  # each worker has a core to itself
    os.environ["OMP_NUM_THREADS"] = "1"

NEEDS = {
    "torch": "src/*/_torch*.py",
    "triton": "src/*/_torch*_kernels.py",
    "distributed": "src/*dask*.py",
    "jinja2": "src/bestk/report/*.py",
}

collect_ignore_glob = [modules for package, modules in NEEDS.items() if find_spec(package) is None]


@pytest.fixture(autouse=True)
def close_pictures() -> Iterator[None]:
    """Forget the pictures that a test has drawn."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
