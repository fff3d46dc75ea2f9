"""The options of the experiments."""

import argparse
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.classification.plan import Plan
from experiments.datasets import DATASETS, available

RESULTS = Path(__file__).parent / "results"
PARTS = ("classification", "discretisation", "simulation", "report")
QUICK_FEATURES = 2000  # sets with more are left out of a quick run


@dataclass(frozen=True)
class Options:
    """Parts, data sets, sizes and places of a run."""

    parts: tuple[str, ...]
    sets: tuple[str, ...]  # that are there and wanted
    protocols: tuple[str, ...]
    missing: tuple[str, ...]
    quick: bool
    data: str | None
    out: Path
    jobs: int


def read_options(arguments: Sequence[str] | None, description: str | None) -> Options:
    """The options of a command line."""
    parser = argparse.ArgumentParser("python -m experiments", description=description)
    parser.add_argument("--only", action="append", default=[], metavar="PART/SET",
                        help=f"a part ({', '.join(PARTS)}), or a part and a data set, as in "
                        "classification/colon; may be repeated")  # fmt: skip
    parser.add_argument("--protocol", action="append", choices=Plan.protocols,
                        help="of the classification; may be repeated (default: all)")  # fmt: skip
    parser.add_argument("--quick", action="store_true",
                        help="at most 10 minutes on 2 cores: k = 10, 20, ..., three folds, sets "
                        f"of up to {QUICK_FEATURES} features, fewer matrices")  # fmt: skip
    parser.add_argument("--data", default=os.environ.get("BESTK_DATA") or None,
                        help="folder of the data sets, NAME.npz (default: BESTK_DATA)")  # fmt: skip
    parser.add_argument("--out", type=Path,
                        help="folder of results (default: experiments/results; quick: a temporary "
                        "one)")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    given = parser.parse_args(arguments)
    parts, sets = _read_only(given.only, parser)
    there = tuple(name for name in the_13(given.data) if available(name, given.data))
    missing = tuple(name for name in the_13(given.data) if name not in there)
    if given.quick:
        there = tuple(name for name in there if DATASETS[name].n <= QUICK_FEATURES)
    out = given.out or (Path(tempfile.gettempdir()) / "bestk-paper" if given.quick else RESULTS)
    return Options(
        parts,
        tuple(name for name in there if not sets or name in sets),
        tuple(given.protocol or Plan.protocols),
        missing,
        given.quick,
        given.data,
        out,
        max(1, given.jobs),
    )


def the_13(data: str | None) -> list[str]:
    """The paper's sets by name, Gisette by its stand-in where only that is there."""
    names = [name for name, entry in DATASETS.items() if entry.stands_in_for is None]
    if not available("gisette", data):
        names[names.index("gisette")] = "gisette_like"
    return names


def _read_only(
    only: list[str], parser: argparse.ArgumentParser
) -> tuple[tuple[str, ...], set[str]]:
    parts, sets = [], set()
    for text in only:
        part, _, name = text.partition("/")
        if part not in PARTS or (name and name not in DATASETS):
            parser.error(f"--only {text}: unknown; a part is one of {', '.join(PARTS)}, a data set "
                         f"one of {', '.join(DATASETS)}")  # fmt: skip
        parts.append(part)
        sets |= {name} if name else set()
    return tuple(dict.fromkeys(parts)) or PARTS, sets
