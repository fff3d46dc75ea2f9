"""Modules for what is not installed here are not imported; any other that cannot be is an error."""

from importlib.util import find_spec

NEEDS = {
    "torch": "src/*/_torch*.py",
    "triton": "src/*/_torch*_kernels.py",
    "distributed": "src/*/_dask*.py",
}

collect_ignore_glob = [modules for package, modules in NEEDS.items() if find_spec(package) is None]
