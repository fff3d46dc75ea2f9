"""Cuts of any numbers: few, rising, finite, and the same whatever they come in."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bestk import CAIM, MDLP, EqualFrequency, EqualWidth, Sigma

from .law import REFUSED, attempt, budget
from .oddities import odd_scalars
from .tables import FRAMES, LAYOUTS, SPARSE, classes, plains
from .test_oddities import check_codes

KINDS = (CAIM, MDLP, EqualFrequency, EqualWidth, Sigma)
NUMBERS = ("codes", "numbers")
FORMS = LAYOUTS | SPARSE


@st.composite
def numbers(draw):
    plain = draw(plains(kinds=NUMBERS, min_rows=2))
    return plain.numbers(), draw(classes(plain.m))


@budget(1)
@given(table=numbers(), kind=st.sampled_from(KINDS), form=st.sampled_from(sorted(FORMS)))
def test_cuts_are_the_same_in_every_form(table, kind, form):
    X, y = table
    wanted = attempt(kind().fit, X, y)
    found = attempt(kind().fit, FORMS[form](X), y)
    if form == "matrix":  # refused by scikit-learn, everywhere
        assert found is REFUSED
        return
    check_codes(wanted.transform(X), wanted)
    for cuts, known in zip(found.cut_points_, wanted.cut_points_, strict=True):
        np.testing.assert_array_equal(cuts, known)
    codes = attempt(found.transform, FORMS[form](X))
    np.testing.assert_array_equal(codes, wanted.transform(X))


@budget(0.5)
@given(table=numbers(), kind=st.sampled_from(KINDS), dtype=st.sampled_from("efdg"))
def test_codes_rise_with_the_numbers_and_gaps_come_last(table, kind, dtype):
    X, y = table
    with np.errstate(over="ignore"):
        X = X.astype(dtype)
    fitted = attempt(kind().fit, X, y)
    assert (fitted is REFUSED) == np.isinf(X).any()
    if fitted is REFUSED:
        return
    codes = fitted.transform(X)
    for values, column, cuts in zip(X.T, codes.T, fitted.cut_points_, strict=True):
        gone = np.isnan(values)
        assert (column[gone] == len(cuts) + 1).all()
        assert (np.diff(column[~gone][np.argsort(values[~gone])]) >= 0).all()
        np.testing.assert_array_equal(column[~gone], np.searchsorted(cuts, values[~gone]))


@budget(0.5)
@given(kind=st.sampled_from(KINDS), form=st.sampled_from(sorted(FRAMES)),
       plain=plains(min_rows=2), data=st.data())  # fmt: skip
def test_frames_are_cut_or_refused_with_advice(kind, form, plain, data):
    y = data.draw(classes(plain.m))
    fitted = attempt(kind().fit, FRAMES[form](plain), y)
    if fitted is not REFUSED:
        check_codes(attempt(fitted.transform, FRAMES[form](plain)), fitted)


@budget(0.5)
@given(table=numbers(), kind=st.sampled_from(KINDS), value=odd_scalars(), which=st.integers(0, 1))
def test_an_odd_setting_is_taken_or_refused_with_advice(table, kind, value, which):
    names = sorted(kind().get_params())
    fitted = attempt(kind(**{names[which % len(names)]: value}).fit, *table)
    if fitted is not REFUSED:
        check_codes(attempt(fitted.transform, table[0]), fitted)


@budget(0.5)
@given(table=numbers(), kind=st.sampled_from(KINDS), data=st.data())
def test_the_order_of_rows_changes_no_cut(table, kind, data):
    X, y = table
    rows = data.draw(st.permutations(range(len(X))))
    one, other = attempt(kind().fit, X, y), attempt(kind().fit, X[rows], y[rows])
    for cuts, known in zip(one.cut_points_, other.cut_points_, strict=True):
        np.testing.assert_array_equal(cuts, known)
