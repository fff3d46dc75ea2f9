"""The record of errors: what it says of itself."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_rel

from bestk.evaluation import Curves, Row, stability, t_statistics

ERRORS = {  # by method and k, over three folds
    ("a", 1): [0.1, 0.2, 0.3],
    ("a", 2): [0.0, 0.2, 0.1],
    ("b", 1): [0.4, 0.4, 0.7],
    ("b", 2): [0.2, 0.3, 0.1],
    ("all", 3): [0.1, 0.1, 0.4],
}
SUPPORTS = {1: [(0,), (0,), (2,)], 2: [(0, 1), (1, 0), (0, 1)], 3: [(0, 1, 2)] * 3}


@pytest.fixture
def curves():
    rows = [
        Row(method, k, fold, errors[fold], 10, 0.5, SUPPORTS[k][fold])
        for fold in (2, 0, 1)
        for (method, k), errors in ERRORS.items()
    ]
    return Curves(tuple(rows), ["x0", "x1", "x2"])


def test_errors_stand_by_k_and_fold_whatever_the_order_of_rows(curves):
    assert curves.methods == ["a", "b"]
    assert curves.ks == [1, 2]
    np.testing.assert_array_equal(curves.errors("a"), [[0.1, 0.2, 0.3], [0.0, 0.2, 0.1]])
    np.testing.assert_array_equal(curves.errors("all"), [[0.1, 0.1, 0.4]])


def test_columns_are_as_wide_as_their_widest_number_or_name():
    errors = {
        ("ours", 1): 1234.5,
        ("ours", 2): 0.25,
        ("a long name", 1): 2.0,
        ("a long name", 2): 1,
    }
    rows = [Row(m, k, 0, e, 10, 0.5, SUPPORTS[k][0]) for (m, k), e in errors.items()]
    curves = Curves(tuple(rows), ["x0", "x1", "x2"])
    assert str(curves).splitlines()[1:] == [
        "     k         ours  a long name",
        "     1    1234.5000       2.0000",
        "     2       0.2500       1.0000",
    ]
    ours = Curves(tuple(rows[:2]), ["x0", "x1", "x2"])
    assert str(ours).splitlines()[1:] == [
        "     k       ours",
        "     1  1234.5000",
        "     2     0.2500",
    ]


def test_mean_errors_are_over_folds(curves):
    means = curves.mean_error()
    assert list(means) == ["a", "b", "all"]
    np.testing.assert_allclose(means["b"], [0.5, 0.2])
    np.testing.assert_allclose(means["all"], [0.2])


def test_it_prints_itself_as_a_table(curves):
    assert str(curves).splitlines() == [
        "mean error over 3 folds",
        "     k       a       b",
        "     1  0.2000  0.5000",
        "     2  0.1000  0.2000",
        "   all  0.2000",
    ]


def test_p_values_are_those_of_scipy_also_against_all_features(curves):
    a, b, everything = (curves.errors(name) for name in ("a", "b", "all"))
    for found, other in (("b", b), ("all", everything)):
        expected = ttest_rel(a, np.broadcast_to(other, a.shape), axis=1, alternative="less").pvalue
        np.testing.assert_allclose(curves.p_values("a", found), expected)


def test_a_t_test_worked_by_hand():
    # d = -1, 0, -2, -1: mean -1, variance 2/3, so t = -1 / sqrt(2/3 / 4) = -sqrt(6)
    d = np.array([[-1.0, 0, -2, -1]])
    assert t_statistics(d)[0] == pytest.approx(-math.sqrt(6))
    widened = t_statistics(d, overlap=1 / 3)[0]  # (1/4 + 1/3) in place of 1/4
    assert widened == pytest.approx(-1 / math.sqrt(2 / 3 * (1 / 4 + 1 / 3)))


def test_equal_differences_are_certain_and_no_differences_say_nothing():
    d = np.array([[0.0, 0, 0], [-0.1, 0.2 - 0.3, 0.3 - 0.4], [1, 1, 1]])
    assert t_statistics(d).tolist() == [0.0, -np.inf, np.inf]
    with pytest.raises(ValueError, match="two folds or more"):
        t_statistics(d[:, :1])


def test_stability_is_that_of_the_folds_for_each_k(curves):
    found = curves.stability()
    assert list(found) == ["a", "b"]
    assert found["a"] == [stability(SUPPORTS[k], 3) for k in (1, 2)]
    assert found["a"][1] == 1.0


def test_an_unknown_method_is_named_with_the_known(curves):
    with pytest.raises(ValueError, match="no method 'c' in these curves; they have a, b, all"):
        curves.errors("c")


def test_the_frame_is_tidy(curves):
    frame = curves.to_frame()
    columns = ["method", "k", "fold", "error", "n_test", "seconds", "support"]
    assert list(frame.columns) == columns
    assert len(frame) == 15
    assert frame.groupby("method").error.mean()["b"] == pytest.approx(0.35)
