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
EXTRAS = ("cli", "plots", "report", "gpu", "dask")
REQUIREMENT = re.compile(  # such as: dask[array]<2027,>=2025.1; extra == "dask"
    r"""(?P<name>[\w.-]+)([^;]*>=\s*(?P<minimum>[\w.]+))?.*?(extra\s*==\s*['"](?P<extra>[\w-]+).*)?"""
)


def check_installation() -> dict[str, Any]:
    """The versions, the memory, the result of the test selection, and all problems."""
    report: dict[str, Any] = {
        "bestk": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": find_packages(),
        "memory": {"free": _memory.free_memory(), "text": _memory.limits()},
        "test": run_test(),
    }
    problems = list(find_problems(report))
    report["problems"] = [{"serious": serious, "text": text} for serious, text in problems]
    report["ok"] = not any(serious for serious, _ in problems)
    return report


def find_packages() -> dict[str, dict[str, Any]]:
    """The packages that bestk needs or can use: installed version, minimum version and extra."""
    packages: dict[str, dict[str, Any]] = {}
    for line in metadata.requires("bestk") or ():
        found = REQUIREMENT.fullmatch(line)
        if found and found["extra"] in (None, *EXTRAS) and found["name"] != "bestk":
            try:
                version = metadata.version(found["name"])
            except metadata.PackageNotFoundError:
                version = None
            packages[found["name"]] = {
                "version": version, "minimum": found["minimum"], "extra": found["extra"],
            }  # fmt: skip
    return packages


def parse_version(version: str) -> tuple[int, ...]:
    """Parse the leading numbers of a version.

    Examples
    --------
    >>> parse_version("2.13.0+cpu") < parse_version("2.13.1")
    True
    """
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def run_test() -> dict[str, Any]:
    """Run a small selection in a separate process, because a broken library may end it."""
    path = os.pathsep.join(filter(None, sys.path))
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "bestk.cli._doctor"], capture_output=True, text=True,
            timeout=LIMIT, check=False, env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"error": f"no result after {LIMIT:.0f} s"}
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        return {"error": f"exit status {done.returncode}; {last}".strip("; ")}
    result: dict[str, Any] = json.loads(done.stdout.strip().rpartition("\n")[2])
    return result


def select_known() -> dict[str, Any]:
    """Select from a table whose best feature is known, and describe the library."""
    from bestk import select
    from bestk.native import cpu_levels
    from bestk.native.threads import n_threads

    y = [i % 2 for i in range(60)]
    X = [[i * i % 13, y[i] + i % 7 / 10, ("red", "green", "blue")[i % 3]] for i in range(60)]
    selected = select(X, y, k=1).support.tolist()
    if selected != [1]:
        raise RuntimeError(f"the test selection gave column {selected}, not [1]")
    return {"cpu": os.environ.get("BESTK_CPU") or cpu_levels()[-1], "threads": n_threads()}


def find_problems(report: dict[str, Any]) -> Iterator[tuple[bool, str]]:
    """Whether each problem is serious, and its text with the remedy."""
    if error := report["test"].get("error"):
        yield True, f"test selection: {error}"
    for name, package in report["packages"].items():
        version, minimum, extra = package["version"], package["minimum"], package["extra"]
        fix = f"pip install 'bestk[{extra}]'" if extra else f"pip install '{name}>={minimum}'"
        if version is None and extra is None:
            yield True, f"{name} is not installed; run: {fix}"
        elif version and minimum and parse_version(version) < parse_version(minimum):
            yield False, f"{name} {version} is older than {minimum}; run: {fix}"
    if report["memory"]["free"] < LOW_MEMORY:
        yield False, f"little memory: {report['memory']['text']}"


def format_lines(report: dict[str, Any]) -> Iterator[str]:
    """Format the report, the problems last."""
    yield f"bestk {report['bestk']}, Python {report['python']}, {report['platform']}"
    for name, package in report["packages"].items():
        absent = f"not installed (optional: pip install 'bestk[{package['extra']}]')"
        yield f"{name:<13} {package['version'] or absent}"
    yield f"{'memory':<13} {report['memory']['text']}"
    test = report["test"]
    if "error" not in test:
        yield f"{'library':<13} loaded, CPU level {test['cpu']}, {test['threads']} threads"
    yield f"{'selection':<13} {'FAILED' if 'error' in test else 'OK'}"
    for problem in report["problems"]:
        yield f"{'FAILED' if problem['serious'] else 'WARNING'}: {problem['text']}"
    yield "OK" if report["ok"] else "FAILED"


if __name__ == "__main__":
    print(json.dumps(select_known()))
