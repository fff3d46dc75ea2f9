"""Select among a million columns: ``python -m benchmarks.scale.million --method tpower``.

The table of :mod:`benchmarks.scale.planted` is written to a file, and a process of its own reads
it, selects, and tells its time, its peak memory and which of the planted columns it has found. A
row of ``benchmarks/results/scale.csv`` keeps them. To see the memory as the system does, keep the
table and run the second half alone:

    python -m benchmarks.scale.million --method tpower --keep /tmp/million
    /usr/bin/time -v python -m benchmarks.scale.million --method tpower --from /tmp/million
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.machine import RESULTS, describe_machine
from benchmarks.scale.planted import SUFFIXES, Planted, read_table, write_table

FILE = RESULTS / "scale.csv"
PAIRS = 20  # fewer columns than k = 100: relevance has room for chance, too
SPARSE = 0.05  # ones in the columns of a sparse table


@dataclass(frozen=True)
class Row:
    """One selection; found are shares of the planted columns."""

    method: str
    form: str
    n: int
    m: int
    levels: int
    density: float
    k: int
    planted: int
    discretizer: str
    read_seconds: float
    fit_seconds: float
    cpu_seconds: float  # of the whole process, all threads: what a busy machine does not change
    load: float  # how many processes wanted a core, over the minute before
    peak_gib: float
    objective: float
    found: float
    partners_found: float
    found_by_relevance: float  # among the k columns of most relevance
    details: str


def main() -> None:
    options = _read_options()
    if options.source is not None:
        print(json.dumps(asdict(_measure(options, options.source))))
        return
    with TemporaryDirectory() as room:
        folder = options.keep or Path(room)
        folder.mkdir(parents=True, exist_ok=True)
        start = perf_counter()
        path = write_table(_planted(options), options.form, folder)
        size = path.stat().st_size / 2**30
        print(f"{path}: {size:.2f} GiB written in {perf_counter() - start:.0f} s", flush=True)
        row = _in_own_process(folder)
    if row is not None:
        _keep(row)


def _in_own_process(folder: Path) -> dict[str, Any] | None:
    """Read and select elsewhere, so that nothing of this process is counted."""
    command = [sys.executable, "-m", "benchmarks.scale.million", *sys.argv[1:], "--from"]
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    for name, value in row.items():
        print(f"{name:>20} {value:.6g}" if isinstance(value, float) else f"{name:>20} {value}")
    return row


def _measure(options: argparse.Namespace, folder: Path) -> Row:
    planted, load, start = _planted(options), os.getloadavg()[0], perf_counter()
    X, y = read_table(options.form, folder / f"planted.{SUFFIXES[options.form]}")
    reading, start = perf_counter() - start, perf_counter()
    solution, relevance = _select(options, X, planted.y if y is None else y)
    seconds = perf_counter() - start
    relevant = np.argsort(-relevance, kind="stable")[: options.k]
    return Row(
        options.method, options.form, planted.n, planted.m, planted.levels, planted.density,
        options.k, planted.places.size, options.discretizer, reading, seconds, process_time(),
        load, _peak(), solution.objective, _share(planted.places, solution.support),
        _share(planted.places[:, 1], solution.support), _share(planted.places, relevant),
        "{}",
    )  # fmt: skip


def _select(options: argparse.Namespace, X: Any, y: Any) -> tuple[Any, Any]:
    """The solution, and the relevance of every column; a table read from Parquet tells none."""
    from bestk import SelectBestK, select
    from bestk.tables.table import Table

    settings = {
        "discretizer": None if options.discretizer == "none" else options.discretizer,
        "random_state": options.seed,
    }
    if isinstance(X, Table):
        return select(X, y, options.k, options.method, **settings), np.empty(0)
    selector = SelectBestK(options.k, options.method, **settings).fit(X, y)
    return selector.solution_, selector.scores_


def _share(places: Any, picked: Any) -> float:
    return float(np.isin(places, picked).mean()) if len(picked) else nan


def _peak() -> float:
    """The most memory that this process has had, in GiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**30 if sys.platform == "darwin" else 2**20)


def _planted(options: argparse.Namespace) -> Planted:
    density = options.density or (SPARSE if options.form == "sparse" else 0.5)
    return Planted(options.n, options.m, options.levels, PAIRS, density, options.seed)


def _keep(row: dict[str, Any]) -> None:
    """Append the row, with the machine that it was measured on."""
    cells = {n: f"{value:.6g}" if isinstance(value, float) else value for n, value in row.items()}
    line = cells | asdict(describe_machine())
    new = not FILE.exists()
    with FILE.open("a", newline="") as file:
        writer = csv.DictWriter(file, list(line), lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(line)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", default="tpower", help="of bestk.METHODS, such as jmi")
    parser.add_argument("--as", dest="form", default="array", choices=SUFFIXES)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--m", type=int, default=1_000)
    parser.add_argument("--levels", type=int, default=2, choices=(2, 3))
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--density", type=float, help="of ones; 0.5, in a sparse table 0.05")
    parser.add_argument("--discretizer", default="none", help="caim is what SelectBestK does")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for the table, to use again")
    parser.add_argument("--from", dest="source", type=Path, help="the folder of a kept table")
    return parser.parse_args()


if __name__ == "__main__":
    main()
