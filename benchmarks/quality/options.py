"""What a run of the benchmark is asked to do."""

import argparse
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import RESULTS
from benchmarks.quality.plan import METHODS, QUICK_SETS
from benchmarks.quality.sets import HALVES, NAMES, available

PARTS = ("folds", "times", "report")


@dataclass(frozen=True)
class Options:
    """Parts, sets, methods and places of a run."""

    parts: tuple[str, ...]
    sets: tuple[str, ...]
    missing: tuple[str, ...]
    methods: tuple[str, ...]
    again: tuple[str, ...]  # methods of which earlier results are thrown away
    quick: bool
    data: str | None
    out: Path
    jobs: int


def read_options(arguments: Sequence[str] | None, description: str | None) -> Options:
    """The options of a command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.quality", description=description)
    known = (*PARTS, *HALVES, *NAMES)
    parser.add_argument("--only", nargs="+", choices=known, default=[], metavar="PART|HALF|SET",
                        help=f"parts ({', '.join(PARTS)}), halves ({', '.join(HALVES)}) or data "
                        f"sets ({', '.join(NAMES)})")  # fmt: skip
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="NAME",
                        help=f"some of {', '.join(METHODS)}")  # fmt: skip
    parser.add_argument("--again", nargs="+", choices=METHODS, default=[], metavar="NAME",
                        help="throw away what is stored of these methods first")  # fmt: skip
    parser.add_argument("--quick", action="store_true",
                        help="two folds of six small sets: a few minutes")  # fmt: skip
    parser.add_argument("--data", default=os.environ.get("BESTK_DATA") or None,
                        help="folder of the data sets, NAME.npz (default: BESTK_DATA)")  # fmt: skip
    parser.add_argument("--out", type=Path, help="folder of results (default: benchmarks/results; "
                        "quick: a temporary one)")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    given = parser.parse_args(arguments)
    sets = _sets(given.only) or (QUICK_SETS if given.quick else NAMES)
    there = tuple(name for name in sets if available(name, given.data))
    quick_out = Path(tempfile.gettempdir()) / "bestk-quality"
    return Options(
        tuple(part for part in PARTS if part in given.only) or PARTS,
        there,
        tuple(name for name in sets if name not in there),
        tuple(given.methods),
        tuple(given.again),
        given.quick,
        given.data,
        given.out or (quick_out if given.quick else RESULTS),
        max(1, given.jobs),
    )


def _sets(only: Sequence[str]) -> tuple[str, ...]:
    wanted = {name for text in only for name in HALVES.get(text, (text,))}
    return tuple(name for name in NAMES if name in wanted)
