"""How often ``SelectRelevant`` finds something in tables where nothing is to be found.

``python -m benchmarks.error_control`` draws tables whose columns are independent of the target,
for each kind of columns, kind of target and number of rows, and counts the tables with a discovery
at ``fdr=0.1``: there should be one in ten, at most. Tables depend on the seeds alone.
"""

import argparse
import csv
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from benchmarks.machine import RESULTS
from bestk import SelectRelevant

N_COLUMNS = 40
ROWS = (60, 200, 600, 3000)
TABLES = 100  # of each cell
MAX_SHARE = 0.15  # of the tables of a cell that may have a discovery
MAX_MEAN_SHARE = 0.10  # of all tables
FIELDS = ("columns", "target", "rows", "permutations", "tables", "discoveries", "share")
Rng = np.random.Generator


def _sparse_numbers(rng: Rng, rows: int, n_columns: int) -> Any:
    """Numbers of which 90% are zero, as amounts are."""
    return np.where(rng.random((rows, n_columns)) < 0.1, rng.lognormal(size=(rows, n_columns)), 0.0)


def _categories(n_levels: int) -> Callable[[Rng, int, int], Any]:
    def draw(rng: Rng, rows: int, n_columns: int) -> Any:
        codes = rng.integers(0, n_levels, (rows, n_columns))
        names = [f"c{j}" for j in range(n_columns)]
        return pd.DataFrame(codes, columns=names).astype(str).astype("category")

    return draw


def _mixed(rng: Rng, rows: int, n_columns: int) -> Any:
    """A few columns of every other kind."""
    kinds = [draw for name, draw in COLUMNS.items() if name != "mixed"]
    per_kind = -(-n_columns // len(kinds))
    parts = [pd.DataFrame(draw(rng, rows, per_kind)) for draw in kinds]
    frame = pd.concat(parts, axis=1)
    frame.columns = [f"c{j}" for j in range(frame.shape[1])]
    return frame


COLUMNS: dict[str, Callable[[Rng, int, int], Any]] = {
    "normal": lambda rng, rows, n: rng.normal(size=(rows, n)),
    "heavy tails": lambda rng, rows, n: rng.standard_cauchy((rows, n)),
    "90% zeros": _sparse_numbers,
    "2% ones": lambda rng, rows, n: (rng.random((rows, n)) < 0.02).astype(int),
    "counts of mean 0.3": lambda rng, rows, n: rng.poisson(0.3, (rows, n)),
    "counts of mean 3": lambda rng, rows, n: rng.poisson(3, (rows, n)),
    "3 categories": _categories(3),
    "30 categories": _categories(30),
    "200 categories": _categories(200),
    "mixed": _mixed,
}


def _positives(share: float) -> Callable[[Rng, int], Any]:
    """Two classes; at least two rows are positive."""

    def draw(rng: Rng, rows: int) -> Any:
        count = max(2, round(share * rows))
        return rng.permutation(np.arange(rows) < count).astype(int)

    return draw


def _classes(shares: Any) -> Callable[[Rng, int], Any]:
    def draw(rng: Rng, rows: int) -> Any:
        labels = rng.choice(len(shares), rows, p=np.asarray(shares) / np.sum(shares))
        return np.array([f"class {label}" for label in labels])

    return draw


TARGETS: dict[str, Callable[[Rng, int], Any]] = {
    "balanced": _positives(0.5),
    "10% positives": _positives(0.1),
    "3% positives": _positives(0.03),
    "1% positives": _positives(0.01),
    "classes of 90, 9 and 1%": _classes([0.90, 0.09, 0.01]),
    "15 equal classes": _classes(np.ones(15)),
    "20 classes, some rare": _classes(1 / np.arange(1.0, 21.0) ** 1.5),
    "counts": lambda rng, rows: rng.poisson(3, rows),
    "numbers": lambda rng, rows: rng.normal(size=rows),
    "numbers with ties": lambda rng, rows: np.round(rng.lognormal(size=rows), 1),
    "claims": lambda rng, rows: np.where(rng.random(rows) < 0.05, rng.lognormal(size=rows), 0.0),
}


def cells(options: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    """The combinations that were asked for."""
    for rows in options.rows:
        for target in options.targets:
            for columns in options.columns:
                yield columns, target, rows


def count_discoveries(
    columns: str, target: str, rows: int, tables: int, permutations: int | None = None
) -> int:
    """In how many tables of a cell anything is found."""
    warnings.simplefilter("ignore")
    discoveries = 0
    for seed in range(tables):
        rng = np.random.default_rng([seed, rows])
        X = COLUMNS[columns](rng, rows, N_COLUMNS)
        y = TARGETS[target](rng, rows)
        if len(np.unique(y)) < 2:
            y[0] = 1  # rare claims of few rows
        kind = "continuous" if target in ("numbers", "numbers with ties", "claims") else "auto"
        selector = SelectRelevant(permutations=permutations, target=kind, random_state=seed)
        discoveries += bool(selector.fit(X, y).support_.any())
    return discoveries


def main() -> int:
    """Print and record a line for each cell; fail if there are too many discoveries."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.error_control", description=__doc__)
    parser.add_argument("--columns", nargs="+", default=list(COLUMNS), choices=list(COLUMNS))
    parser.add_argument("--targets", nargs="+", default=list(TARGETS), choices=list(TARGETS))
    parser.add_argument("--rows", nargs="+", type=int, default=list(ROWS))
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--permutations", type=int, help="of the target; by default automatic")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=RESULTS / "error_control.csv")
    options = parser.parse_args()
    counts = Parallel(n_jobs=options.jobs, return_as="generator")(
        delayed(count_discoveries)(*cell, options.tables, options.permutations)
        for cell in cells(options)
    )
    shares = []
    with options.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for (columns, target, rows), discoveries in zip(cells(options), counts, strict=True):
            share = discoveries / options.tables
            shares.append(share)
            permutations = "auto" if options.permutations is None else options.permutations
            rounded = round(share, 3)
            values = (columns, target, rows, permutations, options.tables, discoveries, rounded)
            writer.writerow(dict(zip(FIELDS, values, strict=True)))
            file.flush()
            mark = "  <-- too many" if share > MAX_SHARE else ""
            print(f"{columns:20} {target:24} {rows:5} {share:6.2f}{mark}", flush=True)
    print(f"mean {np.mean(shares):.3f}, largest {np.max(shares):.2f}, {len(shares)} cells")
    return int(max(shares) > MAX_SHARE or np.mean(shares) > MAX_MEAN_SHARE)


if __name__ == "__main__":
    sys.exit(main())
