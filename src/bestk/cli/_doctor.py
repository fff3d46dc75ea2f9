"""``bestk doctor``: check the installation."""

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from typing import Any

from bestk import __version__, _memory

LIMIT = 120.0  # seconds for the test selection
LOW_MEMORY = 2**30  # bytes
REQUIREMENT = re.compile(r"""([\w.-]+).*?(?:extra\s*==\s*['"](cli|plots|report|gpu|dask)['"].*)?""")
TEST = """
import json, os
from bestk import select
from bestk.native import cpu_levels
from bestk.native.threads import n_threads

y = [i % 2 for i in range(60)]
X = [[i * i % 13, y[i] + i % 7 / 10, ("red", "green", "blue")[i % 3]] for i in range(60)]
selected = select(X, y, k=1).support.tolist()
assert selected == [1], f"the test selection gave column {selected}, not [1]"
print(json.dumps({"cpu": os.environ.get("BESTK_CPU") or cpu_levels()[-1], "threads": n_threads()}))
"""


def check_installation() -> dict[str, Any]:
    """The versions, the memory, the result of the test selection, and all problems."""
    test, free = run_test(), _memory.free_memory()
    problems = []
    if "error" in test:
        problems.append({"serious": True, "text": f"test selection: {test['error']}"})
    if free < LOW_MEMORY:
        problems.append({"serious": False, "text": f"little memory: {_memory.limits()}"})
    return {
        "bestk": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": dict(find_packages()),
        "memory": {"free": free, "text": _memory.limits()},
        "test": test,
        "problems": problems,
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
    """Run a small selection in a separate process, because a broken library may end it."""
    path = os.pathsep.join(filter(None, sys.path))
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", TEST], capture_output=True, text=True,
            timeout=LIMIT, check=False, env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"error": f"no result after {LIMIT:.0f} s"}
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        return {"error": f"exit status {done.returncode}; {last}".strip("; ")}
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def format_lines(report: dict[str, Any]) -> Iterator[str]:
    """Format the report, the problems last."""
    yield f"bestk {report['bestk']}, Python {report['python']}, {report['platform']}"
    for name, package in report["packages"].items():
        absent = f"not installed (optional: pip install 'bestk[{package['extra']}]')"
        yield f"{name:<13} {package['version'] or absent}"
    test = report["test"]
    yield f"{'memory':<13} {report['memory']['text']}"
    if "error" not in test:
        yield f"{'library':<13} loaded, CPU level {test['cpu']}, {test['threads']} threads"
    yield f"{'selection':<13} {'FAILED' if 'error' in test else 'OK'}"
    for problem in report["problems"]:
        yield f"{'FAILED' if problem['serious'] else 'WARNING'}: {problem['text']}"
    yield "OK" if report["ok"] else "FAILED"
