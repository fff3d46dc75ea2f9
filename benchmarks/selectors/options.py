"""The options of the benchmark."""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """Sizes and times of a run."""

    quick: bool
    only: tuple[str, ...]
    data: Path | None
    out: Path | None
    rounds: int
    budget: float  # seconds a slow peer may take in a round
    patience: float  # seconds after which a method is ended


def read_options(parts: tuple[str, ...], description: str | None) -> Options:
    parser = argparse.ArgumentParser("python -m benchmarks.selectors", description=description)
    parser.add_argument("--quick", action="store_true", help="small sizes: about a minute")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, metavar="CASE",
                        help=f"some of {', '.join(parts)}")  # fmt: skip
    parser.add_argument("--data", type=Path, default=os.environ.get("BESTK_DATA") or None,
                        help="folder of the data sets, *.npz (default: BESTK_DATA)")  # fmt: skip
    parser.add_argument("--rounds", type=int, help="how often each job is timed (3; quick: 2)")
    parser.add_argument("--budget", type=float,
                        help="seconds a slow peer may take in a round (2; quick: 0.3)")  # fmt: skip
    parser.add_argument("--patience", type=float,
                        help="seconds after which a method is ended (20; quick: 5)")  # fmt: skip
    parser.add_argument("--out", type=Path, help="folder for CSV and pictures (default: results; "
                        "quick: none)")  # fmt: skip
    given = parser.parse_args()
    return Options(
        quick=given.quick,
        only=tuple(given.only),
        data=None if given.data is None else Path(given.data),
        out=given.out,
        rounds=given.rounds or (2 if given.quick else 3),
        budget=given.budget or (0.3 if given.quick else 2.0),
        patience=given.patience or (5.0 if given.quick else 20.0),
    )
