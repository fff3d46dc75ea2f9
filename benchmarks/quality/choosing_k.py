"""How well ``k="auto"`` chooses k: ``python -m benchmarks.quality.choosing_k [--half judge] ...``.

In each fold a linear model is fitted to the columns that ``SelectBestK`` selects for each k of a
list and for ``k="auto"``. The list shows by how much "auto" misses the best of its k.
"""

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import RESULTS, describe_machine
from benchmarks.quality.judge import Judge, split
from benchmarks.quality.runs import choose_sets
from benchmarks.quality.sets import load
from benchmarks.quality.ways import select_own

KS = (1, 2, 5, 10, 20, 50)


def run_fold(name: str, fold: int = 0) -> list[dict[str, Any]]:
    """The scores of every k, and of the number that "auto" takes."""
    problem = load(name)
    judge = Judge(problem, split(problem, 0, fold))
    ks: list[int | str] = [k for k in KS if k < problem.X.shape[1]]
    rows = []
    for k in [*ks, "auto"]:
        selected = select_own({}, judge.rows, k)
        scores = judge.score("linear", tuple(sorted(selected)))
        rows.append({"set": name, "fold": fold, "rule": k, "k": len(selected)} | scores)
    return rows


def measure_of(row: dict[str, Any]) -> float:
    """AUC, R2, or minus the log loss of more than two classes."""
    return row.get("auc", row.get("r2", -row.get("log_loss", 0.0)))


def describe(rows: Sequence[dict[str, Any]]) -> str:
    """One line for a table: the k of "auto", its score and that of the best k."""
    auto = next(row for row in rows if row["rule"] == "auto")
    best = max(rows, key=measure_of)
    told = f"{auto['set']:20} auto: k = {auto['k']:3}, {measure_of(auto):.3f}"
    return f"{told}; best: k = {best['k']:3}, {measure_of(best):.3f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.choosing_k", description=__doc__
    )
    parser.add_argument("--half", choices=["tune", "judge"], default="tune")
    parser.add_argument("--sets", nargs="+", default=[], help="names, families or sources")
    parser.add_argument("--out", type=Path, default=RESULTS / "choosing_k.csv")
    options = parser.parse_args(arguments)
    rows: list[dict[str, Any]] = []
    for entry in choose_sets(options.half, options.sets)[0]:
        rows_of_set = run_fold(entry.name)
        rows += rows_of_set
        print(describe(rows_of_set), flush=True)
    commit = {"commit": describe_machine().commit}
    columns = list(dict.fromkeys(name for row in rows for name in row | commit))
    with options.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | commit for row in rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
