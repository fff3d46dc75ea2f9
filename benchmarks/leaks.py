"""Leaks that are named, and false alarms: ``python -m benchmarks.leaks``.

A leak is added to made-up tables of 20 columns, of which five tell about the target. Every real
table is selected from as it is: a column that is called a leak there is a false alarm. Results are
in ``results/leaks.csv``; ``above_limit`` says whether a selected column has an AUC or R2 above
0.97, which would be a false alarm if that limit alone decided.
"""

import csv
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from sklearn import datasets

from benchmarks.machine import RESULTS, describe_machine
from benchmarks.quality import sets
from bestk import Solution, select
from bestk.diagnosis.leaks import MAX_ERROR, predict_alone
from bestk.tables.frames import read_features
from bestk.tables.target import parse_target

Floats = NDArray[np.float64]
Leak = Callable[[np.random.Generator, NDArray[Any]], Any]

K = 10
METHODS = ("auto", "mrmr")
SEEDS = range(5)
ROWS = (500, 2000, 10_000)
POSITIVES = (0.5, 0.2, 0.05, 0.01)
MIN_POSITIVES = 10
NAMED = "nearly determines the target"
# Tables of R packages, with a target that a rule chose, which another column restates.
RESTATED = {
    "Stat2Data/NCbirths": "a low weight at birth, from the weight",
    "dragracer/rpdr_contep": "a prize of a contestant, from the name of the contestant",
    "nlme/Remifentanil": "the sex, from a formula with the sex",
    "openintro/ucla_f18": "independent study, from the number of the course",
    "wooldridge/gpa2": "one of two groups of students, from the other",
}
SMALL = ("breast_cancer", "iris", "wine")  # of scikit-learn, beside those of the quality benchmark


def score(auc: float) -> Leak:
    """A number of that AUC, normal within each of two classes."""
    # AUC = Phi(distance / sqrt(2))
    distance = {0.98: 2.9045, 0.99: 3.2900, 0.998: 4.0703, 0.9994: 4.5801}[auc]
    return lambda rng, y: distance * y + rng.normal(size=len(y))


def flipped(rng: np.random.Generator, y: NDArray[Any]) -> Any:
    """Yes or no, wrong in one row of a hundred."""
    return np.where((y == 1) ^ (rng.random(len(y)) < 0.01), "yes", "no")


def filled_date(rng: np.random.Generator, y: NDArray[Any]) -> Any:
    """A date that 97% of the positives have, and no other row."""
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, len(y)), unit="D")
    return pd.Series(days).where((y == 1) & (rng.random(len(y)) < 0.97))


def filled_amount(rng: np.random.Generator, y: NDArray[Any]) -> Any:
    """A number that 98% of the positives have, and 0.5% of the others."""
    is_filled = rng.random(len(y)) < np.where(y == 1, 0.98, 0.005)
    return np.where(is_filled, rng.lognormal(3, 1, len(y)), np.nan)


def range_of_numbers(rng: np.random.Generator, y: NDArray[Any]) -> Any:
    """A number in the middle of its range where y is 1, and at either end where it is not."""
    ends = rng.choice([-1.0, 1.0], len(y)) * rng.uniform(1, 3, len(y))
    return np.where(y == 1, rng.uniform(-1, 1, len(y)), ends)


def reason(rng: np.random.Generator, y: NDArray[Any]) -> Any:
    """One of 30 codes, of which six belong to the positives; one code of a hundred is wrong."""
    codes = np.where(y == 1, rng.integers(0, 6, len(y)), rng.integers(6, 30, len(y)))
    wrong = rng.random(len(y)) < 0.01
    codes[wrong] = rng.integers(0, 30, wrong.sum())
    return np.char.add("code ", codes.astype(str))


CLASS_LEAKS: dict[str, Leak] = {
    "score, AUC 0.98": score(0.98),
    "score, AUC 0.99": score(0.99),
    "score, AUC 0.998": score(0.998),
    "score, AUC 0.9994": score(0.9994),
    "yes or no, 1% wrong": flipped,
    "date of 97% of the positives": filled_date,
    "amount of 98% of the positives": filled_amount,
    "range of numbers": range_of_numbers,
    "30 codes, 1% wrong": reason,
}


def noisy(explained: float) -> Leak:
    """The target with noise, so that a line explains this part of the variance."""
    noise = np.sqrt(1 / explained - 1)
    return lambda rng, y: y + noise * y.std() * rng.normal(size=len(y))


def either_sign(rng: np.random.Generator, y: NDArray[Any]) -> Any:
    """The distance of the target from its minimum, with noise, and with a random sign."""
    return rng.choice([-1.0, 1.0], len(y)) * (noisy(0.99)(rng, y) - y.min())


NUMBER_LEAKS: dict[str, Leak] = {
    "number, R2 0.98": noisy(0.98),
    "number, R2 0.995": noisy(0.995),
    "exponential, R2 0.995": lambda rng, y: np.exp(noisy(0.995)(rng, y)),
    "of either sign, R2 0.99": either_sign,
    "rounded": lambda rng, y: np.round(y / y.std() * 4),
}


def made_up(seed: int, rows: int, positives: float | None) -> tuple[pd.DataFrame, NDArray[Any]]:
    """20 columns, five of which tell about classes of that share, or about numbers (None)."""
    rng = np.random.default_rng([seed, rows])
    X = pd.DataFrame(rng.normal(size=(rows, 18))).rename(columns="x{}".format)
    X["region"] = rng.choice([*"abcde"], rows)
    X["plan"] = rng.choice(["basic", "plus", "pro"], rows)
    signal = X.iloc[:, :4].to_numpy() @ [0.9, 0.7, 0.5, 0.5] + (X["plan"] == "pro")
    if positives is None:
        return X, np.asarray(signal + rng.normal(size=rows))
    chance = expit(1.5 * (signal - np.quantile(signal, 1 - positives)))
    draws = chance + 0.3 * rng.logistic(size=rows)
    return X, (draws > np.quantile(draws, 1 - positives)).astype(np.int64)


def selection(X: pd.DataFrame, y: NDArray[Any], method: str) -> Solution:
    """What is selected from a table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return select(X, y, min(K, X.shape[1]), method)


def named_columns(solution: Solution) -> list[str]:
    """The columns that a selection calls leaks."""
    sentences = [text for text in solution.warnings if NAMED in text]
    names = [str(solution.names[place]) for place in solution.support]
    return [name for name in names if any(f"'{name}'" in text for text in sentences)]


def is_above_limit(X: pd.DataFrame, y: NDArray[Any], solution: Solution) -> bool:
    """Whether a selected column has a cross-validated AUC or R2 above 0.97."""
    table = read_features(X.iloc[:, np.sort(solution.support)])
    predictions = predict_alone(table, np.array([], np.int64), parse_target(y, len(X)))
    return bool((predictions.errors < MAX_ERROR).any())


def hits() -> Iterator[dict[str, Any]]:
    """For each leak, balance and number of rows, how many are named, and other columns named."""
    cases = [(name, leak, share) for name, leak in CLASS_LEAKS.items() for share in POSITIVES]
    cases += [(name, leak, None) for name, leak in NUMBER_LEAKS.items()]
    for name, leak, share in cases:
        for rows in ROWS:
            if share is not None and share * rows < MIN_POSITIVES:
                continue
            for method in METHODS:
                found, wrong = 0, 0
                for seed in SEEDS:
                    X, y = made_up(seed, rows, share)
                    X["leak"] = leak(np.random.default_rng(seed), y)
                    named = named_columns(selection(X, y, method))
                    found += "leak" in named
                    wrong += bool(set(named) - {"leak"})
                yield {
                    "table": name, "rows": rows, "positives": share, "method": method,
                    "tables": len(SEEDS), "named": found, "others_named": wrong,
                    "above_limit": "", "columns": "",
                }  # fmt: skip


def real_tables() -> Iterator[tuple[str, str, Callable[[], tuple[pd.DataFrame, Any]]]]:
    """The source, the name and the reader of each real table."""
    for entry in sets.entries():
        if entry.source in sets.REAL and entry.available:
            yield entry.source, entry.name, lambda name=entry.name: _read(name)
    for name in SMALL:
        load = getattr(datasets, f"load_{name}")
        yield "scikit-learn", name, lambda load=load: load(return_X_y=True, as_frame=True)


def _read(name: str) -> tuple[pd.DataFrame, Any]:
    problem = sets.load(name)
    return problem.X, problem.y


def false_alarms() -> Iterator[dict[str, Any]]:
    """For each real table, the columns that are called leaks."""
    for source, name, read in real_tables():
        X, y = read()
        y = np.asarray(y)
        for method in METHODS:
            solution = selection(X, y, method)
            named = named_columns(solution)
            yield {
                "table": f"{source}: {name}", "rows": len(X), "positives": None, "method": method,
                "tables": 1, "named": int(bool(named)), "others_named": 0,
                "above_limit": int(is_above_limit(X, y, solution)), "columns": ", ".join(named),
            }  # fmt: skip


def main() -> None:
    machine = asdict(describe_machine())
    planted = []
    for row in hits():
        print(*row.values(), flush=True)
        planted.append(row)
    real = []
    for row in false_alarms():
        if row["named"] or row["above_limit"]:
            print(*row.values(), flush=True)
        real.append(row)
    for method in METHODS:
        made = [row for row in planted if row["method"] == method]
        alarms = [row for row in real if row["method"] == method]
        named = sum(row["named"] for row in made) / sum(row["tables"] for row in made)
        called = sum(row["named"] for row in alarms)
        restated = sum(row["named"] for row in alarms if row["table"].split(": ")[1] in RESTATED)
        above = sum(row["above_limit"] for row in alarms)
        print(
            f"{method}: {named:.1%} of the leaks named; of {len(alarms)} real tables {called} with "
            f"a column that is called a leak, which restates the target in {restated}; "
            f"{above} with one above 0.97"
        )
    with (RESULTS / "leaks.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*planted[0], *machine])
        writer.writeheader()
        writer.writerows(row | machine for row in (*planted, *real))


if __name__ == "__main__":
    sys.exit(main())
