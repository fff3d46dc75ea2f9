"""What is wrong with a machine, and what to do about it."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from bestk.cli._child import OVER, failed
from bestk.cli._versions import as_numbers

Report = dict[str, Any]
LITTLE = 2**30  # bytes of free memory


@dataclass(frozen=True)
class Problem:
    """Something that is wrong."""

    what: str
    do: str
    serious: bool = False  # selecting does not work

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def find_problems(report: Report) -> list[Problem]:
    """All that is wrong with what was found, the serious first."""
    found = [problem for rule in RULES for problem in rule(report)]
    return sorted(found, key=lambda problem: not problem.serious)


def about_python(report: Report) -> Iterator[Problem]:
    """A Python that is too old."""
    came, least = report["python"], report["python_minimum"]
    if isinstance(least, str) and as_numbers(came) < as_numbers(least):
        yield Problem(f"Python {came} is older than {least}", f"install Python {least} or later")


def about_packages(report: Report) -> Iterator[Problem]:
    """Packages that are too old, or not there though bestk cannot do without."""
    for each in _found(report, "packages").values():
        missing = each["version"] is None and each["extra"] is None
        if each["is_old"]:
            old = f"{each['name']} {each['version']} is older than {each['minimum']}"
            yield Problem(old, each["install"])
        elif missing:
            yield Problem(f"{each['name']} is not installed", each["install"], serious=True)


def about_selecting(report: Report) -> Iterator[Problem]:
    """Whether a small table can be selected from."""
    error = report["select"].get("error")
    if error == OVER:
        yield Problem(
            "a small selection took too long: kernels were still being compiled, or hang",
            "run it again: what is compiled is kept, where the cache is writable",
            serious=True,
        )
    elif error:
        yield Problem(f"selecting from a small table fails: {error}", _cure(error), serious=True)
    elif not report["select"]["compiles"]:
        yield Problem("NUMBA_DISABLE_JIT is set: nothing is compiled", "unset NUMBA_DISABLE_JIT")


def _cure(error: str) -> str:
    if "no locator available" in error:
        return "set NUMBA_CACHE_DIR to a folder that you may write to"
    if "ImportError" in error or "ModuleNotFoundError" in error:
        return "reinstall what it names: pip install --force-reinstall PACKAGE"
    return "bestk select FILE --target COL --debug shows where"


def about_cache(report: Report) -> Iterator[Problem]:
    """Kernels that are compiled at every start."""
    cache = _found(report, "cache")
    if cache and not cache["writable"]:
        where = f"in {cache['folder']}" if cache["folder"] else "anywhere"
        what = f"compiled kernels cannot be kept {where}: every start compiles again"
        yield Problem(what, "set NUMBA_CACHE_DIR to a folder that you may write to")


def about_threads(report: Report) -> Iterator[Problem]:
    """More threads than cores, or a chip without the instruction that counts bits."""
    cpu, select = _found(report, "cpu"), _found(report, "select")
    if cpu and select and select["threads"] > cpu["cores_to_use"]:
        cores = cpu["cores_to_use"]
        what = f"{select['threads']} threads share {cores} core{'s' * (cores > 1)}"
        yield Problem(what, f"set NUMBA_NUM_THREADS={cores}")
    if cpu and "x86" in report["platform"] and "popcnt" not in cpu["features"]:
        yield Problem("this CPU has no popcnt: pairs take much longer", "use another")


def about_memory(report: Report) -> Iterator[Problem]:
    """Little memory."""
    memory = _found(report, "memory")
    if memory and memory["free"] < LITTLE:
        what = f"little memory: {memory['words']}"
        yield Problem(what, "close something; bestk plan FILE says what a selection takes")


def about_data(report: Report) -> Iterator[Problem]:
    """A folder of data sets that is not there."""
    data = _found(report, "data")
    if data.get("folder") and not data["exists"]:
        what = f"BESTK_DATA names {data['folder']}, which is no folder"
        yield Problem(what, "unset BESTK_DATA, or set it to the folder of the data sets")


def about_probes(report: Report) -> Iterator[Problem]:
    """What could not be found out."""
    for name in ("packages", "cpu", "memory", "blas", "cache", "gpu", "data"):
        if failed(report[name]):
            yield Problem(f"{name}: {report[name]['error']}", _cure(report[name]["error"]))


def _found(report: Report, name: str) -> dict[str, Any]:
    """What was found under a name; nothing, where that failed."""
    found: dict[str, Any] = report[name]
    return {} if failed(found) else found


RULES: tuple[Callable[[Report], Iterator[Problem]], ...] = (
    about_python, about_packages, about_selecting, about_cache, about_threads, about_memory,
    about_data, about_probes,
)  # fmt: skip
