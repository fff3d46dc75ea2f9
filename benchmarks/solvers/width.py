"""How ``sdp`` does on wide matrices: ``python -m benchmarks.solvers.width [--items N ...]``.

Of tables of 80 rows, ever more columns and 20 of them with information, the objective of the paper
for k = 20: what ``search`` finds, the value of the semidefinite relaxation, the best of a hundred
projections of it, and what ``sdp`` makes of them by swaps. It writes
``benchmarks/results/sdp_width.csv``.
"""

import argparse
import csv

import numpy as np

from benchmarks.machine import RESULTS, describe_machine
from bestk import BQP, cmi_matrix, solve

FILE = RESULTS / "sdp_width.csv"
ITEMS = (300, 1000, 2000, 4000, 7000)
ROWS = 80
INFORMATIVE = 20
K = 20
RANDOM_CHOICES = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=ITEMS)
    options = parser.parse_args()
    commit = describe_machine().commit
    lines = []
    for n in options.items:
        line = {**measure(n), "commit": commit}
        print(*(f"{name} {value}" for name, value in line.items()), sep=", ", flush=True)
        lines.append(line)
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(file, lines[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def wide_problem(n: int, seed: int = 0) -> BQP:
    """The paper's objective on a table of two classes, whose first columns have information."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, ROWS)
    X = rng.normal(size=(ROWS, n))
    X[:, :INFORMATIVE] += np.outer(y, np.linspace(0.2, 1.2, INFORMATIVE))
    three_levels = (X > 0).astype(np.int64) + (X > 1)
    return BQP(cmi_matrix(three_levels, y), K)


def measure(n: int) -> dict[str, float]:
    """Objectives by ``search``, ``sdp`` and at random, and the relaxation, of n columns."""
    problem = wide_problem(n)
    searched = solve(problem, solver="search", random_state=0, bound=None)
    relaxed = solve(problem, solver="sdp", random_state=0, bound=None)
    rng = np.random.default_rng(0)
    at_random = [problem.value(rng.permutation(n)[:K]) for _ in range(RANDOM_CHOICES)]
    values = {
        "search": searched.objective,
        "sdp": relaxed.objective,
        "rounded": relaxed.details["rounded"],
        "random": float(np.mean(at_random)),
        "relaxation": relaxed.details["relaxation"],
    }
    return {"n": n, "k": K, **{name: round(value, 3) for name, value in values.items()}}


if __name__ == "__main__":
    main()
