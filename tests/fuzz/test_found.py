"""What trials with odd inputs have found, one claim each."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from bestk import (
    BQP,
    CAIM,
    EqualWidth,
    SelectBestK,
    SelectBestKCV,
    Sigma,
    cmi_matrix,
    encode,
    error_curves,
    mutual_information,
    select,
    solve,
    solve_path,
    upper_bound,
)
from bestk.evaluation import stability
from bestk.tables.frames import read_table

X = np.array([[0.5, 1.0], [1.5, 0.0], [0.5, 0.0], [1.5, 1.0]])
Y = [0, 1, 0, 1]
Q = np.array([[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]])


def test_truths_and_gaps_of_arrow_in_pandas_are_read_as_elsewhere():
    frame = pd.DataFrame({"a": [True, None, False], "b": [True, False, True], "c": [None] * 3})
    table = read_table(frame.convert_dtypes(dtype_backend="pyarrow"))
    assert table.count_missing().tolist() == [1, 0, 3]
    np.testing.assert_array_equal(encode(table).values, [[1, 2, 0], [1, 0, 1], [0, 0, 0]])


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]"])
def test_large_whole_numbers_are_not_rounded_beside_a_column_with_gaps(dtype):
    frame = pd.DataFrame({"a": [1, None, 2], "b": [2**60, 2**60 + 1, 2**60]}, dtype=dtype)
    with pytest.raises(ValueError, match="column 'b' holds whole numbers of 2"):
        encode(frame)


@pytest.mark.parametrize(
    "fit",
    [SelectBestK(1, "jmi").fit, SelectBestKCV(LogisticRegression()).fit, CAIM().fit, cmi_matrix,
     error_curves],
)  # fmt: skip
def test_masked_values_are_refused_and_a_mask_that_hides_nothing_is_none(fit):
    more = (["jmi"], [1]) if fit is error_curves else ()
    with pytest.raises(ValueError, match=r"masked values; pass X.astype\(float\).filled"):
        fit(np.ma.masked_equal([[0, 3], [1, 4], [9, 3], [1, 5]], 9), Y, *more)
    whole = np.ma.masked_array(X, False)
    np.testing.assert_array_equal(read_table(whole).numeric()[0], X)


def test_a_record_batch_is_a_table_for_a_selector():
    batch = pa.record_batch({"word": ["a", "b", "a", "b"], "n": [1, 2, 3, 4]})
    selector = SelectBestK(1, "jmi").fit(batch, Y)
    assert selector.solution_.names == ["word", "n"]
    assert selector.transform(batch).shape == (4, 1)


@pytest.mark.parametrize("block", [np.array(1.0), np.array([]), np.zeros((0, 2))])
def test_a_block_without_rows_and_columns_is_refused(block):
    with pytest.raises(ValueError, match=r"; (use|give|one block)"):
        SelectBestK(1).fit(lambda: iter([(block, [0, 1])]))


@pytest.mark.parametrize("y", [[0, 1], None, [[0, 1], [1]], "classes"])
def test_weights_beside_a_wrong_target_are_refused_for_the_target(y):
    with pytest.raises(ValueError, match=r"; give|got None"):
        SelectBestK(1).fit(X, y, sample_weight=[1, 2, 1, 1])


@pytest.mark.parametrize("weights", [[1j] * 4, [np.inf] * 4, ["a"] * 4, [[1], [1, 2]]])
def test_weights_that_count_no_rows_are_refused(weights):
    with pytest.raises(ValueError, match=r"sample_weight .*; |different lengths"):
        SelectBestK(1).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("empty", [[], (), sparse.coo_array(np.array([1.0, 0.0]))])
def test_a_selector_says_what_a_table_is_to_one_who_gives_none(empty):
    with pytest.raises(ValueError, match=r"a table has rows and columns; use X\.reshape"):
        SelectBestK(1).fit(empty, Y)


def test_numbers_too_large_for_float64_are_infinite():
    long = np.array([["1e4000"], ["1"], ["2"], ["3"]]).astype(np.longdouble)
    for call in (CAIM().fit, SelectBestK(1, "jmi").fit):
        with pytest.raises(ValueError, match="infinit"):
            call(long, Y)
    with pytest.raises(ValueError, match="y has 1 infinite value; replace"):
        mutual_information(X, long, information="gaussian", target="continuous")
    assert encode(long).levels.tolist() == [4]


@pytest.mark.parametrize(
    "table",
    [
        [[1, 2], [3]],
        [[10**400], [1]],
        np.zeros((2, 2), "V4"),
        sparse.coo_array([1.0, 0.0]),
        pa.table({"word": pa.array([None, None], pa.string()).dictionary_encode()}),
    ],
)
def test_discretisers_say_that_they_cut_numbers(table):
    with pytest.raises(ValueError, match="; EqualWidth needs a table of numbers"):
        EqualWidth().fit(table)


def test_infinities_of_both_signs_are_refused_without_a_warning():
    with pytest.raises(ValueError, match="contains infinity"):
        EqualWidth().fit([[np.inf], [-np.inf]])


def test_three_states_of_enormous_width_have_no_infinite_cuts():
    assert [len(cuts) for cuts in Sigma(a=9999).fit([[1e300], [-1e308]]).cut_points_] == [0]
    assert [len(cuts) for cuts in Sigma(a=np.float16(0.5)).fit([[0], [1]]).cut_points_] == [2]
    for a in (np.inf, 1e308, 10**400):
        with pytest.raises(ValueError, match="'a' parameter of Sigma"):
            Sigma(a=a).fit(X)


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e300])
@pytest.mark.parametrize("solver", ["tpower", "exact", "sdp"])
def test_a_matrix_of_extreme_size_is_refused_with_a_way_out(solver, scale):
    with pytest.raises(ValueError, match="divide Q by it, which changes no choice"):
        solve(Q * scale, 2, solver)


def test_a_sparse_matrix_is_solved_as_a_dense_one():
    assert solve(sparse.csr_array(Q), 2, "exact").objective == 10.0


def test_a_lazy_frame_is_no_lazy_matrix():
    with pytest.raises(ValueError, match="Q must be a square matrix"):
        solve(pl.LazyFrame({"a": [1.0]}), 1)


def test_a_masked_matrix_is_refused():
    with pytest.raises(ValueError, match="Q has masked entries; fill them in"):
        BQP(np.ma.masked_equal(Q, 4), 2)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: BQP([[1, 2], [3]], 1), "Q must be a square matrix; its rows have different"),
        (lambda: BQP(Q, np.inf), "k must be a whole number, not inf"),
        (lambda: BQP(Q, "two"), "k must be a whole number, not 'two'"),
        (lambda: BQP(Q, [2]), r"k must be a whole number, not \[2\]"),
        (lambda: solve(Q, 2, None), "solver must be a name from SOLVERS or a solver"),
        (lambda: solve(Q, 2, random_state="x"), "random_state must be a whole number .* not 'x'"),
        (lambda: solve(Q, 2, time_limit="1"), "time_limit must be a positive number .* not '1'"),
        (lambda: solve(Q, 2, time_limit=10**400), "time_limit must be a positive number"),
        (lambda: solve(Q, 2, bound=1), "unknown bound 1; choose one of None, 'fast', 'tight'"),
        (lambda: solve_path(Q, 2), "ks must be a list of whole numbers, not 2"),
        (lambda: solve_path(Q, "12"), "each of ks must be a whole number, not '1'"),
        (lambda: upper_bound(BQP(Q, 2), []), r"unknown bound \[\]; choose one of"),
        (lambda: upper_bound(BQP(Q, 2), "dnn", "1"), "time_limit must be a number of seconds"),
        (lambda: upper_bound(BQP(Q, 2), "dnn", 1, 1j), "best_known must be the value of a choice"),
        (lambda: cmi_matrix([[0], [1]], [0, 1], backend=2), "unknown backend 2; choose one of"),
        (lambda: cmi_matrix([[0], [1]], [0, 1], dtype="i8"), "dtype must be float32 or float64"),
        (lambda: cmi_matrix([[0], [1]], [0, 1], n_jobs="2"), "n_jobs must be a positive number"),
        (lambda: stability(3, 4), "selections must be lists of indices, not 3"),
        (lambda: stability([[0.5], [1]], 4), r"lists of indices, not \[\[0.5\], \[1\]\]"),
        (lambda: stability([[0], [1]], "4"), "n_features must be a whole number from 1 up, not"),
        (
            lambda: error_curves(X, Y, 3, [1]),
            "must be names of methods, or a dict .* got 3",
        ),
        (lambda: error_curves(X, Y, "jmi", [1], cv=[]), "cv yields no folds; pass a number"),
        (lambda: error_curves(X, Y, "jmi", [1], estimator={}), "must have the methods fit and"),
        (lambda: error_curves(X, Y, "jmi", [1], progress=1), "progress must be a function"),
        (
            lambda: error_curves(X, Y, "jmi", [1], n_jobs=0),
            "n_jobs == 0 in Parallel has",
        ),
        (lambda: SelectBestKCV(LogisticRegression(), cv=[]).fit(X, Y), "cv yields no folds"),
    ],
)
def test_an_odd_option_is_refused_with_what_came_and_what_to_do(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_a_bound_is_that_of_a_problem():
    with pytest.raises(TypeError, match=r"needs a BQP, not ndarray; pass BQP\(Q, k\)"):
        upper_bound(Q)


@pytest.mark.parametrize("include", [np.array(1), {1}, (1,), "x1", np.int8(1), [False, True]])
def test_a_feature_may_be_given_in_any_way_that_names_it(include):
    assert select(X, Y, 1, "jmi", include=include).support.tolist() == [1]


def test_stability_over_any_number_of_features_needs_memory_for_those_selected_only():
    assert stability([[0, 10**12], [10**12, 0]], n_features=10**15) == 1.0


def test_numbers_larger_than_any_integer_are_refused_as_classes_without_a_warning():
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        CAIM().fit([[0.0], [1.0]], [1e308, -1e308])
