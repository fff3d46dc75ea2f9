"""Every option of the selectors, alone and together."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from bestk import METHODS, Greedy, Quadratic, SelectBestK, SelectBestKCV, error_curves, select
from bestk.discretize import DISCRETIZERS

from .law import REFUSED, attempt, budget
from .oddities import odd_scalars
from .tables import LAYOUTS

SLOW = ("lowrank",)
NAMES = sorted(SelectBestK().get_params())
X = np.random.default_rng(0).normal(size=(12, 5)).round(1)
Y = np.array([0, 1] * 6)
X[0, 0] = np.nan
METHOD = st.sampled_from([name for name in METHODS if name not in SLOW]) | st.sampled_from(
    [
        Quadratic("mrmr", "swap"),
        Quadratic("jmi", "swap"),
        Greedy("cmim"),
        Quadratic("mifs", "sdp"),
    ]
)


@st.composite
def choices(draw, n):
    """Options that make sense one by one; together some contradict each other."""
    features = st.none() | st.lists(st.integers(-n, n - 1), max_size=2)
    return {
        "k": draw(st.integers(1, n + 1) | st.sampled_from([0.1, 0.5, 1.0])),
        "method": draw(METHOD),
        "information": draw(st.sampled_from(["auto", "discrete", "gaussian", "blend"])),
        "discretizer": draw(st.sampled_from(["auto", *DISCRETIZERS])),
        "correction": draw(st.sampled_from([None, "miller-madow", "chance"])),
        "categorical_features": draw(st.sampled_from(["from_dtype", None, [0]])),
        "target": draw(st.sampled_from(["auto", "classes", "continuous"])),
        "include": draw(features),
        "exclude": draw(features),
        "bound": draw(st.sampled_from(["fast", None])),
        "time_limit": draw(st.none() | st.just(0.2)),
        "random_state": draw(st.integers(0, 3)),
        "backend": draw(st.sampled_from(["auto", "native", "numpy"])),
        "n_jobs": draw(st.sampled_from([None, 1, -1])),
    }


@st.composite
def numbers(draw, m=12, n=4):
    """A table of numbers with ties, gaps and constants, and its classes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = rng.normal(size=(m, n)).round(draw(st.sampled_from([0, 1, 8])))
    table *= draw(st.sampled_from([1.0, 1e-300, 1e300, 0.0]))
    table[rng.random((m, n)) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    return np.abs(table), rng.permutation(np.arange(m) % draw(st.integers(2, 3)))


def check(selector, options, n):
    """The law of a fitted selector."""
    solution, support = selector.solution_, selector.solution_.support
    assert len(np.unique(support)) == len(support) == selector.k_ == selector.support_.sum()
    assert set(np.asarray(options["include"] or [], int) % n) <= set(support)
    assert not set(np.asarray(options["exclude"] or [], int) % n) & set(support)
    assert np.isfinite(solution.objective)
    assert solution.upper_bound >= solution.objective
    assert sorted(selector.ranking_[support]) == list(range(1, len(support) + 1))
    allowed = np.delete(np.arange(n), options["exclude"] or [])
    assert np.isfinite(selector.scores_[allowed]).all()


@budget(1)
@given(table=numbers(), options=choices(4))
def test_options_that_make_sense_give_a_selection_or_advice(table, options):
    selector = attempt(SelectBestK(**options).fit, *table)
    if selector is not REFUSED:
        check(selector, options, 4)
        again = attempt(SelectBestK(**options).fit, *table)
        np.testing.assert_array_equal(again.solution_.support, selector.solution_.support)
        assert selector.transform(table[0]).shape == (12, selector.k_)


@budget(0.5)
@given(table=numbers(), options=choices(4), data=st.data())
def test_the_order_of_rows_changes_no_count(table, options, data):
    options |= {"information": "discrete", "k": 1, "include": None, "exclude": None}
    rows = data.draw(st.permutations(range(12)))
    one = attempt(SelectBestK(**options).fit, *table)
    other = attempt(SelectBestK(**options).fit, table[0][rows], table[1][rows])
    assert (one is REFUSED) == (other is REFUSED)
    if one is not REFUSED:
        np.testing.assert_array_equal(one.scores_, other.scores_)


@budget(1.5)
@given(name=st.sampled_from(NAMES), value=odd_scalars(), call=st.sampled_from(["fit", "select"]))
def test_an_odd_value_of_an_option_is_taken_or_refused_with_advice(name, value, call):
    options = {"k": 2, "method": "jmi", name: value}
    if call == "select":
        solution = attempt(select, X, Y, **options)
    else:
        selector = attempt(SelectBestK(**options).fit, X, Y)
        solution = selector if selector is REFUSED else selector.solution_
    if solution is not REFUSED:
        assert 1 <= solution.k <= 5


@budget(0.5)
@given(weights=st.lists(st.integers(0, 3), min_size=12, max_size=12),
       layout=st.sampled_from([name for name in LAYOUTS if name != "matrix"]))  # fmt: skip
def test_information_of_whole_weights_is_that_of_repeated_rows(weights, layout):
    rows = np.repeat(np.arange(12), weights)
    found = attempt(SelectBestK(2, "jmi").fit, X, Y, LAYOUTS[layout](np.array([weights], float))[0])
    wanted = attempt(SelectBestK(2, "jmi").fit, X[rows], Y[rows])
    assert (found is REFUSED) == (wanted is REFUSED)
    if wanted is not REFUSED:
        np.testing.assert_allclose(found.scores_, wanted.scores_, atol=1e-9)


@budget(0.5)
@given(
    name=st.sampled_from(["ks", "cv", "scoring", "rule", "method", "include", "random_state"]),
    value=odd_scalars(),
)
def test_an_odd_option_of_cross_validation_is_taken_or_refused_with_advice(name, value):
    options = {"ks": [1, 2], "method": "jmi", "cv": 2, name: value}
    selector = attempt(SelectBestKCV(LogisticRegression(), **options).fit, np.nan_to_num(X), Y)
    assert selector is REFUSED or 1 <= selector.best_k_ <= 5


@budget(0.5)
@given(
    name=st.sampled_from(["methods", "ks", "cv", "baseline", "random_state", "include"]),
    value=odd_scalars(),
)
def test_an_odd_option_of_error_curves_is_taken_or_refused_with_advice(name, value):
    options = {"methods": ["maxrel"], "ks": [1], "cv": 2, name: value}
    curves = attempt(error_curves, X, Y, **options)
    assert curves is REFUSED or all(0 <= row.error <= 1 for row in curves.rows)
