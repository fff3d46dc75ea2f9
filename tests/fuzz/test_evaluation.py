"""Tests of errors and of stability: right against scipy and the definition, or refused."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bestk.evaluation import stability

from .law import REFUSED, attempt, budget
from .oddities import TABLES, odd_scalars, odd_tables


@budget(0.5)
@given(masks=st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=2, max_size=6))
def test_stability_is_what_its_definition_says(masks):
    M = np.array(masks)
    share, p = M.mean(), M.mean(axis=0)
    found = attempt(stability, [np.flatnonzero(row) for row in M], 4)
    chance = share * (1 - share)
    wanted = 1 - (len(M) / (len(M) - 1) * p * (1 - p)).mean() / chance if chance else 1.0
    assert abs(found - wanted) < 1e-12


@budget(1)
@given(name=st.sampled_from(["selections", "n_features"]), value=odd_scalars())
def test_an_odd_option_of_stability_is_taken_or_refused_with_advice(name, value):
    options = {"selections": [[0, 1], [0, 2]], "n_features": 4, name: value}
    found = attempt(stability, **options)
    assert found is REFUSED or -1 <= found <= 1


@budget(0.5)
@given(X=odd_tables())
def test_odd_selections_are_read_or_refused_with_advice(X):
    attempt(stability, TABLES[X](), 4)
