"""Write the page on testing from the records in ``hardening/results``."""

from pathlib import Path

from evidence import markup, trials
from evidence.records import MissingError

HEAD = """How bestk is tested
===================

``make test`` compares every estimate with a slow reference implementation, every bound with the
optimum of small problems, and checks properties on random tables; it takes minutes and runs on
every change. This page is about ``make test-long``, which takes hours: fuzzing, fault injection
and mutation testing. All numbers are from ``hardening/results``.

*Failed* counts all failures so far. All of them have been fixed, either in bestk, with a test, or
in the trial.

"""
PARTS = {
    "Invalid input": (
        ("inputs", "readers", "arguments"),
        "*inputs*: calls of the public functions with random tables and options (hypothesis): "
        "unusual types and frames, missing and extreme values, repeated names, no rows, read-only, "
        "memory-mapped and non-contiguous arrays. Each call has to return a valid result or raise "
        "an error that states how to fix it; a crash, a hang, a wrong result or a warning of "
        "another package is a failure. *readers*: damaged files, guided by code coverage "
        "(atheris). *arguments*: command lines, in the same way.",
    ),
    "Faults": (
        ("faults",),
        "*disk*: full or read-only while results and reports are written; an existing file must "
        "not change. *interrupted*: Ctrl-C at random times; no partial files. *killed*: "
        "``kill -9`` at random times during ``make paper`` and a benchmark; after a restart, the "
        "results must be those of an uninterrupted run. *memory*: "
        "limits from 2 GiB up (``ulimit -v``); a result, or a message with the available "
        "memory. *cluster*: a worker or the scheduler of Dask is killed.",
    ),
    "Proofs and time limits": (
        ("certificates", "limits"),
        "*certificates*: random problems with penalties of 1e3 to 1e17, duplicates and ties, "
        "solved exactly and by enumeration; every claim of optimality must be true. *limits*: "
        "every solver, bound and path of several k must end within its time limit, 20% and 0.1 s "
        "more.",
    ),
    "Identical results": (
        ("golden", "environments", "backends", "crowds"),
        "Selections of many methods, with their exact objectives. *golden*: compared with stored "
        "results. *environments*, *backends* and *crowds*: with other numbers of threads, "
        "instruction sets and backends, and from threads and processes at the same time. "
        "``make test-sanitized`` runs the tests of the C kernels with address and overflow checks.",
    ),
}  # fmt: skip
MUTANTS = """
One line of the code is changed (by cosmic-ray), for a random sample of all possible changes, and
the related tests are run. *Equivalent*: the change affects only the running time, or nothing;
``hardening/mutation/equivalent.txt`` has the reasons. ``python -m hardening.mutation --report``
lists the changes that no test detects, and ``--again`` runs more tests for them.
"""
OPEN = """
Windows, macOS and processors other than x86-64 are not tested; their kernels are compiled from the
same source. The fuzzers run for minutes to hours, not for weeks. The C kernels have no coverage
measurements (``make coverage`` is for Python) and no mutation testing.
"""


def write(folder: Path) -> None:
    """Write ``tested.rst`` into the folder."""
    parts = [part for name in PARTS for part in section(name)]
    try:
        parts += [markup.title("Mutation testing"), MUTANTS, trials.mutants()]
        parts += [markup.title("Machines"), trials.machines()]
    except MissingError as reason:
        parts.append(str(reason))
    parts += [markup.title("What is not tested"), OPEN]
    markup.write(folder / "tested.rst", HEAD + markup.paragraphs(parts))


def section(name: str) -> list[str]:
    """One kind of trials."""
    kinds, text = PARTS[name]
    try:
        rows = trials.runs(*kinds)
    except MissingError as reason:
        rows = str(reason)
    return [markup.title(name), text, rows, f"Commands: {trials.commands(*kinds)}."]
