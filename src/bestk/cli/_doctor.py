"""``bestk doctor``: check the installation."""

import os
import platform
import re
from collections.abc import Iterator
from importlib import metadata
from typing import Any
from warnings import catch_warnings

from bestk import __version__, _memory

REQUIREMENT = re.compile(r"""([\w.-]+).*?(?:extra\s*==\s*['"](cli|plots|report|gpu|dask)['"].*)?""")


def check_installation() -> dict[str, Any]:
    """The versions, the memory, and the result of the test selection."""
    test = run_test()
    return {
        "bestk": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": dict(find_packages()),
        "memory": {"free": _memory.free_memory(), "text": _memory.limits()},
        "test": test,
        "ok": "error" not in test,
    }


def find_packages() -> Iterator[tuple[str, dict[str, str | None]]]:
    """The packages that bestk needs or can use: the installed version, and the extra."""
    for line in metadata.requires("bestk") or ():
        found = REQUIREMENT.fullmatch(line)
        if found is None or found[1] == "bestk" or (found[2] is None and "extra" in line):
            continue  # of bestk[all], and of development
        try:
            version = metadata.version(found[1])
        except metadata.PackageNotFoundError:
            version = None
        yield found[1], {"version": version, "extra": found[2]}


def run_test() -> dict[str, Any]:
    """Run a small selection, and read how the library counts."""
    y = [i % 2 for i in range(60)]
    X = [[i * i % 13, y[i] + i % 7 / 10, ("red", "green", "blue")[i % 3]] for i in range(60)]
    try:
        from bestk import select
        from bestk.native import cpu_levels
        from bestk.native.threads import n_threads

        with catch_warnings(action="ignore"):
            selected = select(X, y, k=1).support.tolist()
        if selected != [1]:
            return {"error": f"the test selection gave column {selected}, not [1]"}
        return {"cpu": os.environ.get("BESTK_CPU") or cpu_levels()[-1], "threads": n_threads()}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def format_lines(report: dict[str, Any]) -> Iterator[str]:
    """Format the report."""
    yield f"bestk {report['bestk']}, Python {report['python']}, {report['platform']}"
    for name, package in report["packages"].items():
        absent = f"not installed (optional: pip install 'bestk[{package['extra']}]')"
        yield f"{name:<13} {package['version'] or absent}"
    yield f"{'memory':<13} {report['memory']['text']}"
    test = report["test"]
    if report["ok"]:
        yield f"{'library':<13} loaded, CPU level {test['cpu']}, {test['threads']} threads"
    yield f"{'selection':<13} {'OK' if report['ok'] else 'FAILED: ' + test['error']}"
    yield "OK" if report["ok"] else "FAILED"
