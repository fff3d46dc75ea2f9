"""Very many columns: the default considers those with the largest relevance alone."""

import numpy as np
import pandas as pd
import pytest

from bestk import SelectBestK
from bestk.data.frames import read_column, read_features
from bestk.data.target import ParsedTarget
from bestk.errors import DataError
from bestk.selection import screening


@pytest.fixture
def few(monkeypatch):
    """A few columns count as very many, and no scan of pairs is affordable."""
    monkeypatch.setattr(screening, "MAX_MEASURED", 20)
    monkeypatch.setattr(screening, "CONSIDERED", 8)
    monkeypatch.setattr(screening, "SCAN_SECONDS", 0.0)


def share(x, y, classes):
    """The share of the variance of x that y explains."""
    groups = [x[y == c] for c in np.unique(y)] if classes else None
    if groups is None:
        return np.corrcoef(x, y)[0, 1] ** 2
    within = sum(((group - group.mean()) ** 2).sum() for group in groups)
    return 1 - within / ((x - x.mean()) ** 2).sum()


def twin(x, y, classes):
    """The information of a straight line and of what a parabola adds to it."""
    x = np.where(np.isnan(x), np.nanmean(x), x)
    new = x**2 - np.polyval(np.polyfit(x, x**2, 1), x)
    two_values = len(np.unique(x)) == 2
    found = share(x, y, classes) + (0 if two_values else share(new, y, classes))
    return -0.5 * np.log(1 - found)


@pytest.mark.parametrize("classes", [True, False])
def test_the_first_relevance_is_that_of_a_line_and_a_parabola(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 9))
    X[5, 2] = np.nan
    X[:, 3] = X[:, 3] > 0
    X[:, 4] += 1e4
    X[:, 5] *= 1e-200
    y = X[:, 0] + X[:, 1] ** 2 / 2
    y = np.digitize(y, [0.0, 1.0]) if classes else y
    target = ParsedTarget.of(read_column(y), 300, "classes" if classes else "continuous")
    found = screening.first_relevance(read_features(X, None), target, np.empty(0, int))
    X[:, 5] *= 1e200
    expected = [twin(column, y, classes) for column in X.T]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_categories_and_integers_are_screened_too(few):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 3, (400, 40))).add_prefix("n")
    y = rng.integers(0, 2, 400)
    table["text"] = np.where(rng.random(400) < 0.2, "abc", np.where(y, "yes", "no"))
    table["number"] = (y + rng.integers(0, 2, 400)).astype(np.int8)
    selector = SelectBestK(2).fit(table, y)
    assert set(selector.get_feature_names_out()) == {"text", "number"}
    assert selector.scores_.shape == (42,)
    assert np.isfinite(selector.scores_).all()


def test_included_columns_stay_and_more_than_those_considered_can_be_selected(few):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 60))
    y = (X[:, :3].sum(axis=1) > 0).astype(int)
    selector = SelectBestK(5, include=[50]).fit(X, y)
    assert {0, 1, 2, 50} <= set(selector.get_support(indices=True))
    assert SelectBestK(25).fit(X, y).get_support().sum() == 25
    assert SelectBestK(60).fit(X, y).get_support().all()


def test_infinite_values_are_refused(few):
    X = np.random.default_rng(0).normal(size=(50, 60))
    X[3, 7] = np.inf
    with pytest.raises(DataError, match=r"column 'x7' has 1 infinite value"):
        SelectBestK(2).fit(X, np.arange(50) % 2)
