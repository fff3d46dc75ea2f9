"""Tests of errors and of stability: right against scipy and the definition, or refused."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bestk.evaluation import paired_t_test, stability, win_tie_loss

from .law import REFUSED, attempt, budget
from .oddities import TABLES, odd_scalars, odd_tables

ERRORS = st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0, 1e-300, 1e300, -1e308])


@budget(1)
@given(pairs=st.lists(st.tuples(ERRORS, ERRORS), min_size=2, max_size=8),
       alternative=st.sampled_from(["less", "greater", "two-sided"]))  # fmt: skip
def test_the_paired_test_agrees_with_scipy(pairs, alternative):
    a, b = np.array(pairs).T
    found = attempt(paired_t_test, a, b, alternative)
    assert 0 <= found.pvalue <= 1
    assert found.df == len(a) - 1
    with np.errstate(all="ignore"):
        spread = np.ptp(a - b)
        if not spread / max(np.abs(a).max(), np.abs(b).max()) > 1e-6 or not 1e-100 < spread < 1e150:
            return
        wanted = stats.ttest_rel(a, b, alternative=alternative)
    np.testing.assert_allclose(found.statistic, wanted.statistic, rtol=1e-6)
    np.testing.assert_allclose(found.pvalue, wanted.pvalue, rtol=1e-6)


@budget(1)
@given(name=st.sampled_from(["a", "b", "alternative", "overlap"]), value=odd_scalars())
def test_an_odd_option_of_the_test_is_taken_or_refused_with_advice(name, value):
    found = attempt(paired_t_test, **({"a": [0.1, 0.2], "b": [0.2, 0.1]} | {name: value}))
    assert found is REFUSED or 0 <= found.pvalue <= 1


@budget(0.5)
@given(X=odd_tables())
def test_odd_errors_are_compared_or_refused_with_advice(X):
    attempt(paired_t_test, TABLES[X](), TABLES[X]())
    attempt(win_tie_loss, TABLES[X](), TABLES[X]())


@budget(0.5)
@given(masks=st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=2, max_size=6))
def test_stability_is_what_its_definition_says_of_masks_and_of_indices(masks):
    M = np.array(masks)
    share, p = M.mean(), M.mean(axis=0)
    found = attempt(stability, M)
    chance = share * (1 - share)
    wanted = 1 - (len(M) / (len(M) - 1) * p * (1 - p)).mean() / chance if chance else 1.0
    assert abs(found.index - wanted) < 1e-12
    assert found.lower <= found.index <= found.upper
    assert attempt(stability, [np.flatnonzero(row) for row in M], 4) == found


@budget(1)
@given(name=st.sampled_from(["selections", "n_features", "confidence"]), value=odd_scalars())
def test_an_odd_option_of_stability_is_taken_or_refused_with_advice(name, value):
    options = {"selections": [[0, 1], [0, 2]], "n_features": 4, name: value}
    found = attempt(stability, **options)
    assert found is REFUSED or found.lower <= found.index <= found.upper


@budget(0.5)
@given(X=odd_tables())
def test_odd_selections_are_read_or_refused_with_advice(X):
    attempt(stability, TABLES[X](), 4)
