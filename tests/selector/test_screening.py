"""Very many columns: the default considers those with the largest relevance alone together."""

import numpy as np
import pandas as pd
import pytest

from bestk import SelectBestK, SelectionWarning, select
from bestk.errors import DataError
from bestk.information.constants import BlockConstants
from bestk.methods.forward import BlockForward

# A few columns count as very many.
FEW = BlockForward(BlockConstants(max_measured=20))


def test_a_note_says_how_many_columns_were_considered_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 60))
    y = (X[:, :3].sum(axis=1) > 0).astype(int)
    with pytest.warns(SelectionWarning, match="20 of 60 columns were considered together: those"):
        found = select(X, y, 3, FEW)
    assert set(found.support) == {0, 1, 2}
    assert not any("considered" in text for text in select(X[:, :20], y, 3, FEW).warnings)


@pytest.mark.parametrize("classes", [True, False])
def test_relevance_is_that_of_all_columns_at_once(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 50))
    X[5:20, 2] = np.nan
    X[:, 3] = X[:, 3] > 0
    y = X[:, 0] + X[:, 1] ** 2 / 2
    y = np.digitize(y, [0.0, 1.0]) if classes else y
    with pytest.warns(SelectionWarning):
        screened = SelectBestK(2, FEW).fit(X, y)
    whole = SelectBestK(2).fit(X, y)
    np.testing.assert_allclose(screened.scores_, whole.scores_, atol=1e-9)
    assert set(screened.solution_.support) == {0, 1}


def test_categories_and_integers_are_screened_too():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 3, (400, 40))).add_prefix("n")
    y = rng.integers(0, 2, 400)
    table["text"] = np.where(rng.random(400) < 0.2, "abc", np.where(y, "yes", "no"))
    table["number"] = (y + rng.integers(0, 2, 400)).astype(np.int8)
    with pytest.warns(SelectionWarning, match="20 of 42 columns"):
        selector = SelectBestK(2, FEW).fit(table, y)
    assert set(selector.get_feature_names_out()) == {"text", "number"}
    assert selector.scores_.shape == (42,)
    assert np.isfinite(selector.scores_).all()


def test_the_columns_of_a_pair_are_considered_whatever_they_tell_alone():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 80))
    y = (X[:, 71] * X[:, 75] > 0).astype(int)
    tiny = BlockForward(BlockConstants(max_measured=4))
    with pytest.warns(SelectionWarning, match="of 80 columns"):
        found = select(X, y, 2, tiny)
    assert set(found.support) == {71, 75}


def test_included_columns_stay_and_more_than_those_considered_can_be_selected():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 60))
    y = (X[:, :3].sum(axis=1) > 0).astype(int)
    with pytest.warns(SelectionWarning, match="columns were considered together"):
        selector = SelectBestK(5, FEW, include=[50]).fit(X, y)
    assert {0, 1, 2, 50} <= set(selector.get_support(indices=True))
    with pytest.warns(SelectionWarning):
        more = SelectBestK(25, FEW).fit(X, y)
    assert more.get_support().sum() == 25
    with pytest.warns(SelectionWarning):
        everything = SelectBestK(60, FEW).fit(X, y)
    assert everything.get_support().all()


def test_infinite_values_are_refused():
    X = np.random.default_rng(0).normal(size=(50, 60))
    X[3, 7] = np.inf
    with pytest.raises(DataError, match=r"column 'x7' has 1 infinite value"):
        SelectBestK(2, FEW).fit(X, np.arange(50) % 2)
