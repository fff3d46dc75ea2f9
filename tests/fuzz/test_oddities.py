"""Whatever is passed for a table or a target is read, or refused with advice."""

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bestk import (
    CAIM,
    MDLP,
    EqualFrequency,
    EqualWidth,
    SelectBestK,
    Sigma,
    cmi_matrix,
    encode,
    joint_mi_matrix,
    mutual_information,
    select,
)

from .law import REFUSED, attempt, budget
from .oddities import TABLES, TARGETS, odd_tables, odd_targets

GOOD = np.array([[0, 1.5, 2], [1, 2.5, 0], [0, 0.5, 1], [1, 3.5, 1]])
CODES = np.array([[0, 2], [1, 0], [0, 1], [1, 1]])
MEASURES = (mutual_information, joint_mi_matrix, cmi_matrix)
DISCRETIZERS = (CAIM, MDLP, EqualFrequency, EqualWidth, Sigma)
WAYS = {
    "auto": {},
    "jmi": {"method": "jmi"},
    "gaussian": {"method": "jmi", "information": "gaussian"},
    "codes": {"method": "linear", "discretizer": None},
}


def check_solution(solution, n):
    support = solution.support
    assert len(np.unique(support)) == len(support) == solution.k
    assert ((support >= 0) & (support < n)).all()
    assert np.isfinite(solution.objective)
    assert solution.upper_bound >= solution.objective


@budget(1.5)
@given(X=odd_tables(), y=odd_targets(), way=st.sampled_from(sorted(WAYS)))
def test_select_answers_or_advises(X, y, way):
    for table, target in ((TABLES[X](), [0, 1, 0, 1]), (GOOD, TARGETS[y]())):
        solution = attempt(select, table, target, k=1, **WAYS[way])
        if solution is not REFUSED:
            check_solution(solution, 10)
            assert str(solution)


@budget(1.5)
@given(X=odd_tables(), y=odd_targets(), way=st.sampled_from(sorted(WAYS)))
def test_a_selector_fits_or_advises(X, y, way):
    for make, target in ((TABLES[X], lambda: [0, 1, 0, 1]), (lambda: GOOD, TARGETS[y])):
        selector = attempt(SelectBestK(1, **WAYS[way]).fit, make(), target())
        if selector is not REFUSED:
            check_solution(selector.solution_, selector.n_features_in_)
            assert attempt(selector.transform, make()).shape[1] == 1
            again = pickle.loads(pickle.dumps(selector))
            np.testing.assert_array_equal(again.support_, selector.support_)


@budget(1)
@given(X=odd_tables(), y=odd_targets(), measure=st.sampled_from(MEASURES),
       information=st.sampled_from(["discrete", "gaussian"]))  # fmt: skip
def test_measures_answer_or_advise(X, y, measure, information):
    for table, target in ((TABLES[X](), [0, 1, 0, 1]), (CODES, TARGETS[y]())):
        found = attempt(measure, table, target, information=information)
        if found is not REFUSED:
            assert np.isfinite(found).all()
            assert (found >= 0).all()


@budget(1)
@given(X=odd_tables(), y=odd_targets(), kind=st.sampled_from(DISCRETIZERS))
def test_discretisers_answer_or_advise(X, y, kind):
    for make, target in ((TABLES[X], [0, 1, 0, 1]), (lambda: GOOD, TARGETS[y]())):
        fitted = attempt(kind().fit, make(), target)
        if fitted is not REFUSED:
            codes = attempt(fitted.transform, make())
            check_codes(codes, fitted)


def check_codes(codes, fitted):
    assert codes.dtype == np.int16
    for column, cuts in zip(codes.T, fitted.cut_points_, strict=True):
        assert np.isfinite(cuts).all()
        assert (cuts[1:] > cuts[:-1]).all()
        assert ((column >= 0) & (column <= len(cuts) + 1)).all()


@budget(0.5)
@given(X=odd_tables(), y=odd_targets(), discretizer=st.sampled_from(["auto", None]))
def test_blocks_of_rows_answer_or_advise(X, y, discretizer):
    for make, target in ((TABLES[X], lambda: [0, 1, 0, 1]), (lambda: CODES, TARGETS[y])):
        options = {"discretizer": discretizer}
        selector = SelectBestK(1, "jmi", **options)
        if attempt(selector.partial_fit, make(), target()) is not REFUSED:
            attempt(selector.get_support)
        block = (make(), target())
        attempt(SelectBestK(1, "jmi", **options).fit, lambda block=block: iter([block]))


@budget(0.5)
@given(X=odd_tables())
def test_encoding_answers_or_advises(X):
    codes = attempt(encode, TABLES[X]())
    if codes is not REFUSED:
        assert (codes.values < codes.levels[:, None]).all()
        assert [len(np.unique(row)) for row in codes.values] == codes.levels.tolist()
