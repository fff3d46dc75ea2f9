"""``python -m benchmarks.interactions recovery|fdr``: published problems, false discoveries."""

import argparse
import csv
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.interactions.problems import FOLDS, RELEVANT, draw, training_rows
from benchmarks.machine import RESULTS, describe_machine
from benchmarks.quality.runs import choose_sets
from benchmarks.quality.sets import load
from bestk import SelectRelevant


def recovery(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The share of the relevant columns among those of the smallest p-values."""
    for problem in options.problems:
        for columns in options.columns:
            for seed in range(options.seeds):
                table = draw(problem, options.rows, columns, seed)
                for fold in range(options.folds):
                    rows = training_rows(options.rows, fold)
                    X, y = table.X[rows], table.y[rows]
                    start = time.perf_counter()
                    selector = SelectRelevant(permutations=0).fit(X, y)
                    seconds = time.perf_counter() - start
                    k = RELEVANT[problem]
                    order = np.lexsort((-selector.scores_, selector.pvalues_))
                    best = {
                        name: np.isin(order[:n], table.relevant).sum() / k
                        for name, n in (("best_k", k), ("best_2k", 2 * k))
                    }
                    yield {
                        "task": "recovery",
                        "problem": problem,
                        "rows": len(rows),
                        "columns": columns,
                        "seed": seed,
                        "fold": fold,
                        **best,
                        "seconds": round(seconds, 3),
                    }


def fdr(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Real tables with a permuted target: every discovery is false."""
    entries, _ = choose_sets("judge", [])
    names = [entry.name for entry in entries if entry.source != "made-up"]
    for trial in range(options.trials):
        name = names[trial % len(names)]
        problem = load(name)
        rng = np.random.default_rng(trial)
        order = rng.permutation(len(problem.y))
        start = time.perf_counter()
        kind = "continuous" if problem.kind == "numbers" else "classes"
        selector = SelectRelevant(target=kind).fit(problem.X, problem.y[order])
        yield {
            "task": "fdr",
            "problem": name,
            "rows": len(order),
            "columns": selector.n_features_in_,
            "seed": trial,
            "found": int(selector.support_.sum()),
            "smallest_p": float(selector.pvalues_.min()),
            "permutations": selector.n_permutations_,
            "seconds": round(time.perf_counter() - start, 3),
        }


def main() -> int:
    """Run a task, and add its rows to the record."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interactions", description=__doc__)
    parser.add_argument("task", choices=["recovery", "fdr"])
    parser.add_argument("--problems", nargs="+", default=list(RELEVANT), choices=list(RELEVANT))
    parser.add_argument("--columns", nargs="+", type=int, default=[64, 512, 2048])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--folds", type=int, default=FOLDS)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "interactions.csv")
    options = parser.parse_args()
    machine = vars(describe_machine())
    run = {"recovery": recovery, "fdr": fdr}[options.task]
    fields = [
        "task",
        "problem",
        "rows",
        "columns",
        "seed",
        "fold",
        "best_k",
        "best_2k",
        "found",
        "smallest_p",
        "permutations",
        "seconds",
        "date",
        "commit",
        "cpu",
        "threads",
    ]
    new = not options.out.exists()
    with options.out.open("a", newline="") as file:
        writer = csv.DictWriter(
            file, fields, restval="", extrasaction="ignore", lineterminator="\n"
        )
        if new:
            writer.writeheader()
        for row in run(options):
            writer.writerow(row | machine)
            file.flush()
            print({name: row[name] for name in row if name != "task"}, flush=True)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    sys.exit(main())
