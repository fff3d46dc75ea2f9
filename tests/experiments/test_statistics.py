import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from experiments.statistics import holm, rank_treatments


def test_ranks_of_a_case_worked_by_hand():
    found = rank_treatments(["a", "b", "c"], [[1, 2, 3], [1, 3, 2], [1, 2, 2]])
    np.testing.assert_allclose(found.mean, [1, 7.5 / 3, 7.5 / 3])
    assert found.order == ["a", "b", "c"]


def test_the_example_of_demsar():
    """C4.5 with and without parameters on 14 sets: JMLR 7 (2006), Tables 2 and 6, section 3.2.2."""
    auc = np.array([
        [.763, .768, .771, .798], [.599, .591, .590, .569], [.954, .971, .968, .967],
        [.628, .661, .654, .657], [.882, .888, .886, .898], [.936, .931, .916, .931],
        [.661, .668, .609, .685], [.583, .583, .563, .625], [.775, .838, .866, .875],
        [1.000, 1.000, 1.000, 1.000], [.940, .962, .965, .962], [.619, .666, .614, .669],
        [.972, .981, .9751, .975], [.957, .978, .946, .970],
    ])  # fmt: skip
    found = rank_treatments(["C4.5", "+m", "+cf", "+m+cf"], -auc)
    np.testing.assert_allclose(found.mean, [3.143, 2.000, 2.893, 1.964], atol=1e-3)
    assert found.critical_difference == pytest.approx(1.25, abs=0.01)
    assert found.pvalue < 0.05


@pytest.mark.parametrize("seed", range(5))
def test_friedman_is_that_of_scipy_with_ties(seed):
    errors = np.random.default_rng(seed).integers(0, 5, (9, 4)).astype(float)
    found, theirs = rank_treatments(list("abcd"), errors), friedmanchisquare(*errors.T)
    assert found.chi_square == pytest.approx(theirs.statistic)
    assert found.pvalue == pytest.approx(theirs.pvalue)


def test_holm_by_hand():
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_equal_treatments_are_not_told_apart_and_clear_ones_are():
    rng = np.random.default_rng(0)
    errors = np.column_stack([rng.random(12), rng.random(12), 5 + rng.random(12)])
    found = rank_treatments(["a", "b", "worse"], errors)
    assert len(found.groups()) == 1
    assert set(found.groups()[0]) == {"a", "b"}
    assert found.wilcoxon[("a", "worse")] < 0.01 < found.wilcoxon[("a", "b")]


def test_the_same_errors_everywhere_prove_nothing():
    found = rank_treatments(["a", "b"], np.ones((4, 2)))
    assert found.pvalue == 1.0
    assert found.wilcoxon == {("a", "b"): 1.0}


def test_one_set_is_too_few():
    with pytest.raises(ValueError, match="two sets"):
        rank_treatments(["a", "b"], [[1, 2]])
