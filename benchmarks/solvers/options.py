"""The options of the benchmark."""

import argparse
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import RESULTS


@dataclass(frozen=True)
class Options:
    """Sizes and times of a run."""

    quick: bool
    only: tuple[str, ...]
    data: Path | None
    bqp: Path | None
    out: Path
    fresh: bool
    runs: int  # random matrices in a cell, seeds of an instance
    second: float  # what "the same second" is
    gap_seconds: float
    peer_seconds: float


def read_options(parts: tuple[str, ...], description: str | None) -> Options:
    parser = argparse.ArgumentParser("python -m benchmarks.solvers", description=description)
    parser.add_argument("--quick", action="store_true", help="small sizes: a few minutes")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, metavar="PART",
                        help=f"some of {', '.join(parts)}")  # fmt: skip
    parser.add_argument("--data", type=Path, default=os.environ.get("BESTK_DATA") or None,
                        help="folder of the data sets, *.npz (default: BESTK_DATA)")  # fmt: skip
    parser.add_argument("--bqp", type=Path, default=os.environ.get("BESTK_BQP") or None,
                        help="folder of the listed problems (default: BESTK_BQP)")  # fmt: skip
    parser.add_argument("--out", type=Path,
                        help="folder for CSV and pictures (default: benchmarks/results; "
                        "quick: a temporary one)")  # fmt: skip
    parser.add_argument("--fresh", action="store_true",
                        help="measure again; without it a run goes on where it ended")  # fmt: skip
    parser.add_argument("--runs", type=int, help="random matrices in each cell (10; quick: 3)")
    parser.add_argument("--gap-seconds", type=float,
                        help="time for a proved gap (60; quick: 3)")  # fmt: skip
    parser.add_argument("--peer-seconds", type=float,
                        help="time for each peer (20; quick: 2)")  # fmt: skip
    given = parser.parse_args()
    quick = given.quick
    return Options(
        quick=quick,
        only=tuple(given.only),
        data=None if given.data is None else Path(given.data),
        bqp=None if given.bqp is None else Path(given.bqp),
        out=given.out or (Path(tempfile.gettempdir()) / "bestk-quick" if quick else RESULTS),
        fresh=given.fresh,
        runs=given.runs or (3 if quick else 10),
        second=0.2 if quick else 1.0,
        gap_seconds=given.gap_seconds or (3.0 if quick else 60.0),
        peer_seconds=given.peer_seconds or (2.0 if quick else 20.0),
    )
