"""The planted tables: what they hold, in every form, and that a selection finds it."""

import numpy as np
import pytest

from benchmarks.scale.planted import SUFFIXES, Planted, read_table, write_table
from bestk import SelectBestK, cmi_matrix, select
from bestk.tables.table import Table


@pytest.fixture(scope="module")
def planted():
    return Planted(n=400, m=1000, levels=2, pairs=5)


def whole(planted):
    return np.concatenate([strip for _, strip in planted.strips()], axis=1)


def test_a_partner_says_little_alone_and_much_beside_its_anchor(planted):
    pairs = planted.places
    Q = cmi_matrix(whole(planted), planted.y)
    np.testing.assert_allclose(Q[pairs[:, 0], pairs[:, 0]], 0.0244, atol=0.001)
    np.testing.assert_allclose(Q[pairs[:, 1], pairs[:, 1]], 0.006, atol=0.001)
    together = Q[pairs[:, 0], pairs[:, 1]] + Q[pairs[:, 0], pairs[:, 0]]
    np.testing.assert_allclose(together, 0.30, atol=0.01)


@pytest.mark.parametrize("levels", [2, 3])
def test_columns_have_as_many_levels_as_asked_for(levels):
    table = whole(Planted(n=50, m=200, levels=levels, pairs=3))
    assert (table.max(axis=0) == levels - 1).all()
    assert table.shape == (200, 50)


def test_columns_that_are_not_planted_have_the_density_asked_for():
    planted = Planted(n=200, m=1000, levels=2, pairs=2, density=0.05)
    others = np.delete(whole(planted), planted.places.ravel(), axis=1)
    assert others.mean() == pytest.approx(0.05, abs=0.005)


@pytest.mark.parametrize("form", SUFFIXES)
def test_every_form_holds_the_same_table(form, planted, tmp_path, monkeypatch):
    monkeypatch.setattr("bestk.tables.files.MAX_COLUMNS", 100)
    X, y = read_table(form, write_table(planted, form, tmp_path))
    goal = planted.y if y is None else y
    wanted = SelectBestK(10, "jmi", discretizer=None).fit(whole(planted), planted.y).solution_
    if isinstance(X, Table):
        found = select(X, goal, 10, "jmi", discretizer=None)
    else:
        found = SelectBestK(10, "jmi", discretizer=None).fit(X, goal).solution_
    np.testing.assert_array_equal(found.support, wanted.support)
    assert set(found.support) == set(planted.places.ravel())
