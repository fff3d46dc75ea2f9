"""Ways that know more than a made-up table shows."""

import numpy as np
import pandas as pd

from benchmarks.quality.limits import Undisguised, explain, pvalue
from benchmarks.quality.tables import draw


def test_the_undisguised_table_has_the_same_columns_and_target():
    (plain, score), (bare, same) = draw("credit", 3, 200), draw("credit", 3, 200, Undisguised)
    assert list(plain.X.columns) == list(bare.X.columns)
    np.testing.assert_array_equal(plain.y, bare.y)
    np.testing.assert_array_equal(score, same)
    assert (bare.X.nunique() == 200).all()
    assert not (plain.X.nunique() == 200).all()


def test_the_truth_adds_what_explains_most_of_the_rest_of_the_score():
    numbers = np.random.default_rng(0).normal(size=(500, 5))
    numbers[:, 3] = numbers[:, 0]  # a copy explains nothing more
    owner = np.array([0, 1, 1, 2, 3])
    score = 3 * numbers[:, 0] + 2 * numbers[:, 1] - 2 * numbers[:, 2] + numbers[:, 4]
    assert list(explain(numbers, owner, score, 3)) == [0, 1, 3]


def test_columns_are_tested_by_their_kind():
    y = np.arange(300) % 2
    noise = np.random.default_rng(0).normal(size=300)
    assert pvalue(pd.Series(y + noise), y) < 1e-6 < 0.01 < pvalue(pd.Series(noise), y)
    assert pvalue(pd.Series(np.where(y, np.nan, noise)), y) < 1e-6
    assert pvalue(pd.Series(pd.Categorical(np.where(y, "a", "b"))), y) < 1e-6
