"""Made-up tables of particular fields: what is called noise is, and what is relevant helps."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import f_classif, f_regression

from benchmarks.quality.domains import (
    DOMAINS,
    JUDGE_SEEDS,
    TUNE_SEEDS,
    half_of,
    is_judged_only,
    make,
    names,
)
from benchmarks.quality.encode import MAX_INDICATORS, Split

ROWS = 2400


@pytest.fixture(scope="module", params=sorted(DOMAINS))
def table(request):
    return make(request.param, seed=7, rows=ROWS)


def pvalues_by_column(X, table):
    """The smallest p-value of the numbers of each column, times their count."""
    matrix = Split(X, table.y, X[:1], table.y[:1], table.kind).matrix
    test = f_classif if table.kind == "classes" else f_regression
    varied = matrix.train.std(axis=0) > 0
    pvalues = test(matrix.train[:, varied], table.y)[1]
    columns = pd.Series(pvalues).groupby(X.columns.to_numpy()[matrix.owner[varied]])
    return columns.min() * columns.size()


def test_the_same_seed_makes_the_same_table_and_another_makes_another(table):
    again = make(table.family, 7, ROWS)
    assert table.X.equals(again.X)
    assert np.array_equal(table.y, again.y)
    assert not np.array_equal(table.y, make(table.family, 8, ROWS).y)


def test_noise_is_not_related_to_the_target_and_most_relevant_groups_are(table):
    """Categories of many levels are left out: their encoding has seen the target."""
    numbers = list(table.X.select_dtypes("number"))
    few_levels = [name for name in table.X if table.X[name].nunique() <= MAX_INDICATORS]
    tested = sorted({*numbers, *few_levels})
    pvalues = pvalues_by_column(table.X[tested], table)
    noise = pvalues[pvalues.index.isin(table.noise)]
    assert noise.min() * len(noise) > 1e-3
    groups = [set(group) & set(tested) for group in table.groups]
    related = [pvalues[list(group)].min() < 0.01 for group in groups if group]
    assert np.mean(related) > 0.7


def test_a_third_of_the_families_has_no_seed_for_tuning():
    judged = [name for name in DOMAINS if is_judged_only(name)]
    assert len(judged) == len(DOMAINS) // 3
    listed = names()
    assert not any(name in judged for name, seed in listed if seed in TUNE_SEEDS)
    assert {half_of(name, seed) for name, seed in listed if seed in JUDGE_SEEDS} == {"judge"}
    assert len(set(listed)) == len(listed)
