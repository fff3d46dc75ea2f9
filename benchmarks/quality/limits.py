"""Yardsticks for the made-up tables: ``python -m benchmarks.quality limits``.

Two ways know more than a table shows. *Informed* sees the columns before they are disguised, and
tests each by the test that fits its kind. *Truth* sees the score behind the target, without noise,
in all rows, and adds the column that explains most of what is left of it.
"""

import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.machine import describe_machine
from benchmarks.quality.encode import Floats, Split, days
from benchmarks.quality.judge import Judge, ks_for, rows_of, split
from benchmarks.quality.runs import about_fold
from benchmarks.quality.scores import Scores
from benchmarks.quality.sets import MADE_FOLDS
from benchmarks.quality.tables import JUDGE_SEEDS, MAKERS, Draft, draw, training_rows
from benchmarks.quality.ways import DEFAULT, FILTER, select

INFORMED, TRUTH = "informed", "truth"
NOISE_SEEDS = range(200, 230)  # of neither half: more of them than the benchmark has
NOISE_KS = (5, 10)
NOISE_FILE, TRUTH_FILE = "quality_limits.csv", "quality_truth.csv"
TINY = 1e-6  # of a standard deviation; what is smaller is rounding


class Undisguised(Draft):
    """Columns as they were drawn."""

    def disguise(self, values: Floats) -> list[Any]:
        """The columns themselves; the random numbers of the looks are drawn all the same."""
        super().disguise(values)
        return list(values.T)


def write_limits(folder: Path, jobs: int | None) -> None:
    """Write the noise of the informed way and the scores of the truth."""
    machine = asdict(describe_machine())
    with ProcessPoolExecutor(jobs, initializer=warnings.simplefilter, initargs=("ignore",)) as pool:
        noise = chain.from_iterable(pool.map(noise_of, *_tables(NOISE_SEEDS)))
        table = pd.DataFrame(noise).pivot_table("noise", ["family", "way"], "k").reset_index()
        rows = list(pool.map(truth_of, *_tables(JUDGE_SEEDS)))
    table.assign(tables=len(NOISE_SEEDS), **machine).to_csv(folder / NOISE_FILE, index=False)
    cells = Scores.of(rows).cells.groupby(["family", "k", "model"])["score"].mean().reset_index()
    cells.assign(**machine).to_csv(folder / TRUTH_FILE, index=False)
    print(table.to_string(index=False))


def _tables(seeds: Iterable[int]) -> Iterator[tuple[Any, ...]]:
    """Families and seeds of all tables."""
    return zip(*product(MAKERS, seeds), strict=True)


def noise_of(family: str, seed: int) -> list[dict[str, Any]]:
    """The share of noise among columns that the informed way, the default and a filter select."""
    problem, _ = draw(family, seed)
    bare, _ = draw(family, seed, kind=Undisguised)
    rows = Split(problem.X, problem.y, problem.X[:1], problem.y[:1], problem.kind)
    pvalues = [pvalue(column, bare.y) for _, column in days(bare.X).items()]
    orders = {INFORMED: np.argsort(pvalues, kind="stable").tolist()}
    most = max(NOISE_KS)
    for way in (DEFAULT, FILTER):
        orders[way] = select(way, rows, [most])[most]
    lines = []
    for way, order in orders.items():
        for k in NOISE_KS:
            noise = problem.noise_share(problem.X.columns[order[:k]].tolist())
            lines.append({"family": family, "way": way, "k": k, "noise": noise})
    return lines


def pvalue(column: pd.Series, y: Floats) -> float:
    """By a straight line; of categories by analysis of variance; of missing cells by either."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        targets = [y[column.cat.codes == code] for code in np.unique(column.cat.codes)]
        repeated = [target for target in targets if len(target) > 1]
        return float(stats.f_oneway(*repeated).pvalue)
    values = column.to_numpy(float)
    is_missing = column.isna().to_numpy()
    filled = np.where(is_missing, np.nanmean(values), values)
    line = float(stats.pearsonr(filled, y).pvalue)
    if not is_missing.any():
        return line
    return 2 * min(line, float(stats.pearsonr(is_missing, y).pvalue))


def truth_of(family: str, seed: int) -> dict[str, Any]:
    """A row of the benchmark for columns that are selected by the score behind the target."""
    problem, score = draw(family, seed, MADE_FOLDS * training_rows(family))
    judge = Judge(problem, split(problem, 0, 0))
    ks = ks_for(problem)
    matrix = judge.rows.matrix
    score = score[np.concatenate(rows_of(problem, 0, 0))]
    numbers = np.vstack([matrix.train, matrix.test])
    order = list(explain(numbers, matrix.owner, score, max(ks)))
    scores = judge.describe({k: order[:k] for k in ks})
    return about_fold(judge, 0, 0) | {"way": TRUTH, "seconds": 0.0, "ks": scores}


def explain(numbers: Floats, owner: Any, score: Floats, k: int) -> Iterator[int]:
    """Columns, one by one, that explain most of what is left of a score."""
    numbers_of = {}
    for column in range(owner.max() + 1):
        values = numbers[:, owner == column]
        numbers_of[column] = values - values.mean(axis=0)
    unexplained = score - score.mean()
    for _ in range(k):
        basis_of = {column: directions(values) for column, values in numbers_of.items()}
        explained = {
            c: float(((basis.T @ unexplained) ** 2).sum()) for c, basis in basis_of.items()
        }
        best = max(explained, key=explained.__getitem__)
        basis = basis_of[best]
        unexplained = unexplained - basis @ (basis.T @ unexplained)
        del numbers_of[best]
        numbers_of = {c: values - basis @ (basis.T @ values) for c, values in numbers_of.items()}
        yield best


def directions(columns: Floats) -> Floats:
    """An orthonormal basis of some columns of mean 0, of variance 1 at first."""
    basis, triangle = np.linalg.qr(columns)
    return basis[:, np.abs(np.diag(triangle)) > TINY * len(columns) ** 0.5]
