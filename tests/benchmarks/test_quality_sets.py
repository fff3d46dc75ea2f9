import numpy as np
import pytest
from scipy.stats import spearmanr

from benchmarks.quality.generated import MAKERS
from benchmarks.quality.sets import JUDGE, NAMES, TUNE, Problem, _fewer_rows, load, recall


def test_a_set_is_in_one_half_and_the_made_up_ones_are_dealt_in_turn():
    assert not set(TUNE) & set(JUDGE)
    assert [name in TUNE for name in MAKERS] == [True, False] * 3


def test_the_majority_of_the_exclusive_ors_of_planted_pairs_is_the_class():
    made = load("xor")
    pairs = np.reshape([group[0] for group in made.groups], (3, 2))
    votes = sum(made.X[:, a] ^ made.X[:, b] for a, b in pairs)
    np.testing.assert_array_equal(votes >= 2, made.y == 1)


def test_planted_columns_of_the_hypercube_have_five_dimensions_and_no_other_column_is_in_them():
    made = load("hypercube")
    planted = made.X[:, list(made.planted)]
    assert (len(made.planted), np.linalg.matrix_rank(planted)) == (20, 5)
    assert np.linalg.matrix_rank(made.X[:300]) == made.n_features - 15


@pytest.mark.parametrize("name", ["copies", "chains"])
def test_columns_of_a_group_rise_together_and_those_of_others_do_not(name):
    made = load(name)
    related = np.abs(spearmanr(made.X).statistic)
    np.fill_diagonal(related, 0)
    for group in made.groups:
        inside = related[np.ix_(group, group)]
        assert inside[~np.eye(len(group), dtype=bool)].min() > 0.8
        assert np.delete(related[list(group)], group, axis=1).max() < 0.4


def test_planted_columns_have_few_levels_and_noise_has_many():
    made = load("levels")
    counts = np.array([len(np.unique(column)) for column in made.X.T])
    assert made.nominal
    assert set(np.flatnonzero(counts <= 4)) == set(made.planted)
    assert np.delete(counts, made.planted).min() >= 25


def test_means_of_planted_columns_differ_between_the_classes_by_four_fifths():
    made = load("wide")
    shift = made.X[made.y == 1].mean(axis=0) - made.X[made.y == 0].mean(axis=0)
    assert shift[list(made.planted)].mean() == pytest.approx(0.8, abs=0.15)
    assert np.delete(shift, made.planted).mean() == pytest.approx(0, abs=0.03)


@pytest.mark.parametrize("name", MAKERS)
def test_the_same_seed_makes_the_same_set_and_another_makes_another(name):
    one, again, other = (MAKERS[name](seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.X, again.X)
    assert one.groups == again.groups != other.groups
    assert all(0 <= i < one.X.shape[1] for group in one.groups for i in group)


def test_one_column_of_a_group_is_enough():
    assert recall(((0, 1), (2,), (3, 4)), np.array([1, 4, 9])) == pytest.approx(2 / 3)


def test_fewer_rows_keep_the_shares_of_the_classes_and_their_order():
    y = np.repeat([0, 1], [300, 100])
    few = _fewer_rows(Problem("", np.arange(400)[:, None], y), 40)
    assert np.bincount(few.y).tolist() == [30, 10]
    assert (np.diff(few.X[:, 0]) > 0).all()


def test_an_unknown_set_is_told_with_the_known_ones():
    with pytest.raises(ValueError, match=f"unknown data set 'iris'; choose one of {NAMES[0]}"):
        load("iris")
