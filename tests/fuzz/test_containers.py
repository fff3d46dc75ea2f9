"""What a table comes in changes nothing."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bestk import SelectBestK, encode, mutual_information, select
from bestk.tables.frames import read_table

from .law import REFUSED, attempt, budget
from .tables import DISCRETE, FRAMES, LAYOUTS, SPARSE, classes, plains


def same_codes(one, other):
    assert (one is REFUSED) == (other is REFUSED)
    if one is not REFUSED:
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.levels, other.levels)


def same_selection(one, other):
    assert (one is REFUSED) == (other is REFUSED)
    if one is not REFUSED:
        np.testing.assert_array_equal(one.support, other.support)
        assert one.objective == other.objective
        np.testing.assert_array_equal(one.details["relevance"], other.details["relevance"])


@budget(0.5)
@given(form=st.sampled_from(sorted(FRAMES)), plain=plains(kinds=DISCRETE))
def test_a_discrete_table_has_the_same_codes_in_every_frame(form, plain):
    same_codes(attempt(encode, FRAMES[form](plain)), attempt(encode, plain.objects))


@budget(0.5)
@given(form=st.sampled_from(sorted(FRAMES)), plain=plains(min_rows=2), data=st.data())
def test_the_same_features_are_selected_from_every_frame(form, plain, data):
    y = data.draw(classes(plain.m))
    method = data.draw(st.sampled_from(["auto", "jmi", "linear"]))
    k = data.draw(st.integers(1, plain.n))
    found = attempt(select, FRAMES[form](plain), y, k, method)
    same_selection(found, attempt(select, plain.objects, y, k, method))


@budget(0.5)
@given(plain=plains(), form=st.sampled_from(sorted(FRAMES)))
def test_every_frame_has_the_same_kinds_and_gaps(plain, form):
    found, wanted = read_table(FRAMES[form](plain)), read_table(plain.objects)
    np.testing.assert_array_equal(found.count_missing(), wanted.count_missing())
    kinds = np.where(found.kinds == "categorical", "string", found.kinds)
    for kind, known, column in zip(kinds, wanted.kinds, plain.columns, strict=True):
        assert kind == known or all(value is None for value in column)


@budget(0.5)
@given(
    layout=st.sampled_from(sorted(LAYOUTS)),
    plain=plains(kinds=("codes",)),
    dtype=st.sampled_from("fdg"),
)
def test_codes_are_the_same_in_every_layout_of_an_array(layout, plain, dtype):
    X = plain.numbers(dtype)
    same_codes(attempt(encode, LAYOUTS[layout](X)), attempt(encode, X))


@budget(0.5)
@given(
    layout=st.sampled_from(sorted(LAYOUTS)),
    plain=plains(kinds=("codes", "numbers"), min_rows=2),
    data=st.data(),
)
def test_the_same_features_are_selected_from_every_layout_of_an_array(layout, plain, data):
    X, y = plain.numbers(), data.draw(classes(plain.m))
    method = data.draw(st.sampled_from(["auto", "jmi", "linear"]))
    same_selection(
        attempt(select, LAYOUTS[layout](X), y, 1, method), attempt(select, X, y, 1, method)
    )


@budget(0.5)
@given(
    layout=st.sampled_from(sorted(LAYOUTS)),
    plain=plains(kinds=("codes", "numbers"), min_rows=2),
    data=st.data(),
)
def test_a_selector_reads_every_layout_of_an_array_alike(layout, plain, data):
    X, y = plain.numbers(), data.draw(classes(plain.m))
    selector = SelectBestK(1, "jmi")
    found = attempt(selector.fit, LAYOUTS[layout](X), y)
    if found is REFUSED and layout == "matrix":  # as scikit-learn does everywhere
        return
    wanted = attempt(SelectBestK(1, "jmi").fit, X, y)
    assert (found is REFUSED) == (wanted is REFUSED)
    if wanted is not REFUSED:
        np.testing.assert_array_equal(found.scores_, wanted.scores_)


@budget(0.5)
@given(
    kind=st.sampled_from(sorted(SPARSE)),
    plain=plains(kinds=("codes", "numbers"), min_rows=2),
    data=st.data(),
)
def test_a_sparse_table_is_read_as_a_dense_one(kind, plain, data):
    X, y = plain.numbers(), data.draw(classes(plain.m))
    S = SPARSE[kind](X)
    same_codes(attempt(encode, S), attempt(encode, X))
    same_selection(attempt(select, S, y, 1, "jmi"), attempt(select, X, y, 1, "jmi"))


@budget(0.5)
@given(
    plain=plains(kinds=("codes",), min_rows=2),
    dtype=st.sampled_from(["?", "b", "h", "i", "q", "B", "H", "I", "Q", "e", "f", "d", "g"]),
    order=st.sampled_from("<>"),
    data=st.data(),
)
def test_the_same_information_is_in_every_dtype(plain, dtype, order, data):
    X = np.nan_to_num(plain.numbers(), nan=0.0) % (2 if dtype == "?" else 100)
    y = data.draw(classes(plain.m))
    typed = X.astype(np.dtype(dtype).newbyteorder(order))
    found, wanted = attempt(mutual_information, typed, y), attempt(mutual_information, X, y)
    assert (found is REFUSED) == (wanted is REFUSED)
    if wanted is not REFUSED:
        np.testing.assert_array_equal(found, wanted)


@budget(0.5)
@given(plain=plains(min_rows=2, kinds=("numbers", "words", "codes")), data=st.data())
def test_rows_in_lists_are_read_as_rows_in_an_array(plain, data):
    y = data.draw(classes(plain.m))
    rows = plain.rows if data.draw(st.booleans()) else tuple(map(tuple, plain.rows))
    same_selection(attempt(select, rows, y.tolist(), 1, "jmi"),
                   attempt(select, plain.objects, y, 1, "jmi"))  # fmt: skip


@budget(0.4)
@given(plain=plains(kinds=DISCRETE, min_rows=2), data=st.data())
def test_the_order_of_rows_and_columns_changes_no_bit_of_the_information(plain, data):
    y = data.draw(classes(plain.m))
    wanted = attempt(mutual_information, plain.objects, y)
    rows = data.draw(st.permutations(range(plain.m)))
    columns = data.draw(st.permutations(range(plain.n)))
    found = attempt(mutual_information, plain.objects[rows][:, columns], y[rows])
    assert (found is REFUSED) == (wanted is REFUSED)
    if wanted is not REFUSED:
        np.testing.assert_array_equal(found, wanted[columns])
