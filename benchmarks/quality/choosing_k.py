"""How well ``k="auto"`` chooses k: ``python -m benchmarks.quality.choosing_k [--folds N] ...``.

In each fold a linear SVM is fitted to the features that the default selects from the training
rows, for every k of the grid. A rule sees those rows only and names one k; its error is that of
the SVM on the test rows. Rules are compared on the half of the sets on which defaults are chosen.
"""

import argparse
import csv
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import RESULTS, describe_machine
from benchmarks.quality.classifiers import Judge
from benchmarks.quality.folds import FOLDS, repeats_for, rows_of, split
from benchmarks.quality.sets import HALVES, NAMES, Problem, available, load
from bestk import SelectBestK
from bestk._choose_k import choose, cross_validate, numbers_to_try
from bestk.table import read_table
from bestk.task import Task

Floats = NDArray[np.float64]
DEFAULT = 10  # features, where nobody says how many
FIXED, HINDSIGHT = "k=", "best k in hindsight"
USUAL = f"{FIXED}{DEFAULT}"


def within(parts: float) -> Callable[[Sequence[int], Floats], int]:
    """The smallest k whose error is within so many standard errors of the least."""

    def rule(ks: Sequence[int], errors: Floats) -> int:
        mean = errors.mean(axis=0)
        best = int(np.argmin(mean))
        slack = parts * errors[:, best].std(ddof=1) / np.sqrt(len(errors))
        return ks[int(np.argmax(mean <= mean[best] + slack))]

    return rule


def paired(ks: Sequence[int], errors: Floats) -> int:
    """The smallest k whose difference from the best is within its own standard error."""
    best = int(np.argmin(errors.mean(axis=0)))
    more = errors - errors[:, [best]]
    slack = more.std(axis=0, ddof=1) / np.sqrt(len(errors))
    return ks[int(np.argmax(more.mean(axis=0) <= slack))]


RULES: dict[str, Callable[[Sequence[int], Floats], int]] = {
    "best": lambda ks, errors: choose(ks, -errors, "best"),
    "one-se": lambda ks, errors: choose(ks, -errors, "one-se"),
    "half-se": within(0.5),
    "paired-se": paired,
}


@dataclass(frozen=True)
class Row:
    """The k of a rule in one fold, and the errors that it costs."""

    name: str
    repeat: int
    fold: int
    rule: str  # or a k that does not look at the data
    k: int
    wrong: int
    n_test: int
    n_features: int


def run_fold(problem: Problem, repeat: int, fold: int) -> list[Row]:
    """All rules, and every k of the grid, on one fold."""
    train, test = split(problem.y, repeat, fold)
    seen, judge = rows_of(problem, train), Judge(problem, train, test)
    selector = SelectBestK(categorical_features=problem.categorical, random_state=0)
    table, grid = read_table(seen.X), numbers_to_try(problem.n_features)
    ks = sorted({*grid, min(DEFAULT, grid[-1])})
    supports = [s.support for s in Task.of(selector, table, seen.y).path(ks)]
    wrong = {k: judge.wrong(s, ["svm"])["svm"] for k, s in zip(ks, supports, strict=True)}
    errors = cross_validate(selector, table, seen.y, grid)
    chosen = {name: rule(grid, errors) for name, rule in RULES.items()}
    chosen |= {f"{FIXED}{k}": k for k in grid} | {USUAL: min(DEFAULT, grid[-1])}
    return [
        Row(problem.name, repeat, fold, rule, k, wrong[k], len(test), problem.n_features)
        for rule, k in chosen.items()
    ]


def table_of(rows: Sequence[Row]) -> str:
    """Errors in percent by set and rule, with the mean k; last, on how many sets it is less."""
    columns = [*RULES, USUAL, HINDSIGHT]
    lines = [f"{'':14}" + "".join(f"{name:>22}" for name in columns)]
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in columns}
    for name in dict.fromkeys(row.name for row in rows):
        own = [row for row in rows if row.name == name]
        told = {rule: _mean(own, rule) for rule in dict.fromkeys(row.rule for row in own)}
        told[HINDSIGHT] = min(told[rule] for rule in told if rule.startswith(FIXED))
        lines.append(f"{name:14}" + "".join(_cell(told[column]) for column in columns))
        for column in columns:
            found[column].append(told[column])
    means = [np.mean(found[column], axis=0).tolist() for column in columns]
    lines.append(f"{'mean':14}" + "".join(_cell((error, k)) for error, k in means))
    first = np.array([error for error, _ in found[columns[0]]])
    signs = [np.sign(np.array([error for error, _ in found[name]]) - first) for name in columns]
    counts = [f"{(s < 0).sum()}/{(s == 0).sum()}/{(s > 0).sum()}" for s in signs]
    lines.append(f"{'less/same/more':14}" + "".join(f"{count:>22}" for count in counts))
    return "\n".join(lines)


def _mean(rows: Sequence[Row], rule: str) -> tuple[float, float]:
    """Error in percent over all test rows of a set, and the mean k."""
    own = [row for row in rows if row.rule == rule]
    wrong, n_test = sum(row.wrong for row in own), sum(row.n_test for row in own)
    return 100 * wrong / n_test, float(np.mean([row.k for row in own]))


def _cell(told: tuple[float, float]) -> str:
    return f"{told[0]:10.2f} (k {told[1]:6.1f})"


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Write all rows, with the commit and the date of the run."""
    machine = describe_machine()
    where = {"date": machine.date, "commit": machine.commit}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        names = [*(field.name for field in fields(Row)), *where]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) | where for row in rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.choosing_k",
                                     description=__doc__)  # fmt: skip
    parser.add_argument("--only", nargs="+", choices=[*HALVES, *NAMES], default=["tune"],
                        metavar="SET", help="sets, or a half of them (default: tune)")  # fmt: skip
    parser.add_argument("--folds", type=int, default=FOLDS, choices=range(1, FOLDS + 1),
                        help=f"how many of the {FOLDS} folds (default: all)")  # fmt: skip
    parser.add_argument("--data", default=os.environ.get("BESTK_DATA") or None,
                        help="folder of the data sets, NAME.npz (default: BESTK_DATA)")  # fmt: skip
    parser.add_argument("--out", type=Path, default=RESULTS / "choosing_k.csv")
    given = parser.parse_args(arguments)
    names = [name for text in given.only for name in HALVES.get(text, (text,))]
    rows: list[Row] = []
    for name in dict.fromkeys(names):
        if not available(name, given.data):
            print(f"{name} is left out: it is not in {given.data or 'any folder'}")
            continue
        problem = load(name, given.data)
        places = product(range(repeats_for(len(problem.y))), range(given.folds))
        for repeat, fold in places:
            rows += run_fold(problem, repeat, fold)
            print(f"{name}, repeat {repeat}, fold {fold}", file=sys.stderr, flush=True)
    write_rows(rows, given.out)
    print(table_of(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
