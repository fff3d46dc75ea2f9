"""The page that says how bestk is tested, written from the records in ``hardening/results``."""

from pathlib import Path

from evidence import markup, trials
from evidence.records import MissingError

HEAD = """How it is tested
================

A filter that others build on has to be right, and to fail kindly where it cannot be. ``make test``
holds every measure against a slow, obvious twin, every bound against the optimum of small problems,
and laws over random tables; it takes minutes, and every change has to pass it. This page is of what
takes hours, ``make test-long``: attempts to break bestk. Its numbers are read from
``hardening/results`` when the page is made.

*Failed* counts all that was found, ever; it is mended since, in bestk with a test that stays, or
in the trial where that was wrong.

"""
PARTS = {
    "Bad input": (
        ("inputs", "readers", "arguments"),
        "*inputs*: calls of the public names with tables and options that hypothesis draws: odd "
        "types and frames, missing and extreme values, repeated names, no rows, memory that is "
        "read-only, mapped or in pieces. Each has to give an answer that keeps the laws of it, "
        "or an error that says what to do; a crash, a hang, a wrong answer or a warning of "
        "another package is a failure. *readers*: damaged files, led by what code they reach "
        "(atheris). *arguments*: command lines, in the same way.",
    ),
    "Faults": (
        ("faults",),
        "*disk*: full or read-only while results and reports are written; the "
        "old file has to stay as it was. *interrupted*: Ctrl-C at random moments; no half file. "
        "*killed*: ``kill -9`` at random moments while ``make paper``, a benchmark and ``bestk "
        "compare --keep`` run; started again, they have to end with the results of a run left "
        "alone, none lost or double. *memory*: from 0.2 GiB up (``ulimit -v``); an answer, or a "
        "message that says how much there is. *cluster*: a worker or the scheduler of Dask is "
        "killed.",
    ),
    "The same bits": (
        ("golden", "environments", "backends", "crowds"),
        "Selections of many methods, with their objectives to the last bit. *golden*: as stored, "
        "on the sets that are there. Then other numbers of threads, kernels for other "
        "instruction sets, other backends; and threads, forked and spawned workers of one process "
        "at the same time. ``make test-sanitized`` runs the tests of kernels on a library that "
        "checks every access to memory and every overflow.",
    ),
}  # fmt: skip
MUTANTS = """
A fault is put into one line of the code (cosmic-ray), a sample of all that can be, and the tests
nearest to it are run. *No fault*: by reading, it changes how long something takes, or nothing;
``hardening/mutation/equivalent.txt`` says why. ``python -m hardening.mutation --report`` lists
those that no test sees, and ``--again`` runs all related tests for them.
"""
OPEN = """
Windows and macOS are never run, nor are processors other than x86-64; their kernels come from the
same source. The fuzzers run for minutes to hours, not for weeks. Coverage of the C kernels is not
measured (``make coverage`` tells of the rest), and no faults are put into them.
"""


def write(folder: Path) -> None:
    """Write ``tested.rst`` into the folder."""
    parts = [part for name in PARTS for part in section(name)]
    try:
        parts += [markup.title("Faults in the code"), MUTANTS, trials.mutants()]
        parts += [markup.title("Where"), trials.machines()]
    except MissingError as reason:
        parts.append(str(reason))
    parts += [markup.title("What is not tried"), OPEN]
    markup.write(folder / "tested.rst", HEAD + markup.paragraphs(parts))


def section(name: str) -> list[str]:
    """One kind of attempts."""
    kinds, text = PARTS[name]
    try:
        rows = trials.runs(*kinds)
    except MissingError as reason:
        rows = str(reason)
    return [markup.title(name), text, rows, f"Commands: {trials.commands(*kinds)}."]
