"""``python -m benchmarks.interactions recovery|fdr|power|real|summary``: see ``--help``.

recovery: the problems of Passemiers et al. (2024); fdr: real tables with a permuted target;
power: made-up tables beside Boruta and a permutation forest; real: the same on real tables with
known columns; gpu: the scan of all pairs with backend="torch"; summary: what is recorded, and a
plot beside the published figures.
"""

import argparse
import csv
import os
import resource
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.interactions.contenders import RANKERS, SELECTORS
from benchmarks.interactions.plots import draw_recovery
from benchmarks.interactions.problems import FOLDS, RELEVANT, draw, training_rows
from benchmarks.interactions.summary import summarize
from benchmarks.machine import RESULTS, describe_machine
from benchmarks.quality.problem import Problem
from benchmarks.quality.sets import catalogue, load
from benchmarks.quality.tables import MAKERS, make
from bestk import SelectRelevant, pair_scan

FIELDS = (
    "task", "method", "problem", "rows", "columns", "seed", "fold", "best_k", "best_2k", "found",
    "recall", "false_share", "smallest_p", "random_p", "permutations", "seconds",
    "cpu_seconds", "peak_gb", "date", "commit", "cpu", "threads",
)  # fmt: skip
KNOWN = {
    "puma32h": (4, 15),  # theta5 and tau4, which matter only together
    "dna": range(60, 120),  # the bases around the junction
    "madelon": (28, 48, 64, 105, 128, 153, 241, 281, 318, 336, 338, 378, 433, 442, 451, 453, 455,
                472, 475, 493),  # five informative columns and fifteen combinations of them
}  # fmt: skip
Row = dict[str, Any]


def recovery(options: argparse.Namespace) -> Iterator[Row]:
    """The share of the relevant columns among the k, and the 2 k, that come first."""
    for problem, columns in ((p, c) for p in options.problems for c in options.columns):
        for seed in range(options.seeds):
            table, k = draw(problem, options.rows, columns, seed), RELEVANT[problem]
            for fold in range(options.folds):
                rows = training_rows(options.rows, fold)
                X, y = table.X[rows], table.y[rows]
                for method in options.methods or ["SelectRelevant"]:
                    start, processor = time.perf_counter(), time.process_time()
                    order = RANKERS[method](X, y, k)
                    yield {
                        "method": method, "problem": problem, "rows": len(rows),
                        "columns": columns, "seed": seed, "fold": fold,
                        "seconds": round(time.perf_counter() - start, 3), "peak_gb": _peak(),
                        "cpu_seconds": round(time.process_time() - processor, 3),
                        "best_k": round(float(np.isin(table.relevant, order[:k]).mean()), 4),
                        "best_2k": round(float(np.isin(table.relevant, order[: 2 * k]).mean()), 4),
                    }  # fmt: skip


def fdr(options: argparse.Namespace) -> Iterator[Row]:
    """Real tables with a permuted target: every discovery is false."""
    names = [e.name for e in catalogue().values() if not e.family and e.available]
    for trial in range(options.first, options.trials):
        problem = load(names[trial % len(names)])
        order = np.random.default_rng(trial).permutation(len(problem.y))
        start = time.perf_counter()
        kind = "continuous" if problem.kind == "numbers" else "classes"
        found = SelectRelevant(target=kind).fit(problem.X, problem.y[order])
        yield {
            "method": "SelectRelevant", "problem": problem.name, "rows": len(order),
            "columns": found.n_features_in_, "seed": trial, "found": int(found.support_.sum()),
            "smallest_p": float(found.pvalues_.min()), "permutations": found.n_permutations_,
            "random_p": float(found.pvalues_[_draw_varying(problem.X, trial)]),
            "seconds": round(time.perf_counter() - start, 3),
        }  # fmt: skip


def _draw_varying(X: Any, seed: int) -> int:
    """A random column that is not constant: p-values of different tables are independent."""
    order = np.random.default_rng(seed).permutation(X.shape[1])
    return next(int(j) for j in order if X.iloc[:, j].nunique(dropna=False) > 1)


def power(options: argparse.Namespace) -> Iterator[Row]:
    """Made-up tables whose relevant columns are known: recall and share of false discoveries."""
    for seed in range(options.seeds):
        for name in MAKERS:
            problem = make(name, seed, options.rows)
            relevant = np.isin(problem.X.columns, list(problem.relevant))
            yield from _select(options, problem, relevant, {"problem": name, "seed": seed})


def real(options: argparse.Namespace) -> Iterator[Row]:
    """Real tables of which it is known which columns matter."""
    for name, columns in KNOWN.items():
        problem = load(name)
        relevant = np.isin(np.arange(problem.X.shape[1]), columns)
        yield from _select(options, problem, relevant, {"problem": name})


def _select(options: Any, problem: Problem, relevant: Any, about: Row) -> Iterator[Row]:
    for method in options.methods or SELECTORS:
        start, processor = time.perf_counter(), time.process_time()
        found = SELECTORS[method](problem.X, problem.y, problem.kind == "classes")
        yield about | {
            "method": method, "rows": len(problem.y), "columns": len(relevant),
            "found": len(found), "recall": round(float(relevant[found].sum() / relevant.sum()), 4),
            "false_share": round(float((~relevant[found]).mean()), 4) if len(found) else 0.0,
            "seconds": round(time.perf_counter() - start, 3),
            "cpu_seconds": round(time.process_time() - processor, 3),
        }  # fmt: skip


def gpu(options: argparse.Namespace) -> Iterator[Row]:
    """The scan of all pairs on a GPU, from the table on the host to the best pairs; XOR."""
    for columns in options.columns:
        table = draw("xor", options.rows, columns, seed=0)
        rows = training_rows(options.rows, fold=0)
        for fold in range(2):  # the first run compiles kernels
            start = time.perf_counter()
            found = pair_scan(table.X[rows], table.y[rows], backend="torch")
            yield {
                "method": "pair_scan", "problem": "xor", "rows": len(rows), "columns": columns,
                "fold": fold, "seconds": round(time.perf_counter() - start, 3), "peak_gb": _peak(),
                "best_k": float(np.isin(table.relevant, found.pairs[0]).mean()),
            }  # fmt: skip


def _peak() -> float:
    """The most memory that this process had, in GB, the table included."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)


def main() -> int:
    """Run a task, and add its rows to the record."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interactions", description=__doc__)
    tasks = {"recovery": recovery, "fdr": fdr, "power": power, "real": real, "gpu": gpu}
    parser.add_argument("task", choices=[*tasks, "summary"])
    parser.add_argument("--problems", nargs="+", default=list(RELEVANT), choices=list(RELEVANT))
    parser.add_argument("--methods", nargs="+", choices=sorted({*RANKERS, *SELECTORS}))
    parser.add_argument("--columns", nargs="+", type=int, default=[64, 512, 2048])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--folds", type=int, default=FOLDS)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="first trial of fdr")
    parser.add_argument("--out", type=Path, default=RESULTS / "interactions.csv")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.task == "summary":
        published = os.environ.get("BESTK_INTERACTIONS")
        print(summarize(options.out))
        draw_recovery(options.out, published)
        return 0
    machine, new = vars(describe_machine()), not options.out.exists()
    with options.out.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, "", "ignore", lineterminator="\n")
        if new:
            writer.writeheader()
        for row in tasks[options.task](options):
            writer.writerow({"task": options.task} | row | machine)
            file.flush()
            print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
