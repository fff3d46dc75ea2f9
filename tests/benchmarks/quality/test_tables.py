"""Made-up tables: what is called relevant is, and what is called noise is not."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.quality.tables import FAMILIES, MAKERS, half_of, make, names

ROWS = 4000


def relation(values: pd.Series, y: np.ndarray) -> float:
    """Correlation of the target with the ranks of a column, or with its means by level."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        shift = np.random.default_rng(0).permutation(len(y)) % 2 == 0  # means from half the rows
        means = pd.Series(y[shift]).groupby(np.asarray(values.astype(str))[shift]).mean()
        other = values.astype(str)[~shift].map(means).fillna(y.mean()).astype(float)
        return abs(np.corrcoef(other, y[~shift])[0, 1])
    numbers = values.rank().fillna(-1.0).to_numpy(float)
    return abs(np.corrcoef(numbers, y)[0, 1])


@pytest.fixture(scope="module", params=sorted(MAKERS))
def table(request):
    return make(request.param, seed=0, rows=ROWS)


def test_the_same_seed_makes_the_same_table_and_another_makes_another(table):
    name = table.family
    again, other = make(name, 0, ROWS), make(name, 1, ROWS)
    assert table.X.equals(again.X)
    assert (table.y == again.y).all()
    assert not np.array_equal(table.y, other.y)


def test_no_noise_column_is_related_to_the_target(table):
    noise = max(relation(table.X[name], table.y) for name in table.noise)
    assert noise < 4.5 / np.sqrt(ROWS / 2)


def test_enough_columns_are_relevant_for_ten_to_be_selected_without_noise(table):
    assert len(table.relevant) >= 10
    assert table.noise_share(sorted(table.relevant)) == 0.0
    assert table.recall(sorted(table.relevant)) == 1.0


def test_noise_has_correlated_columns(table):
    numbers = table.X[sorted(table.noise)].select_dtypes("number")
    related = np.abs(numbers.corr(method="spearman").to_numpy())
    np.fill_diagonal(related, 0)
    assert (related.max(axis=0) > 0.3).mean() > 0.5


@pytest.mark.parametrize("name", ["credit", "derived", "imbalance", "labels_00", "sensors",
                                  "weak_regression"])  # fmt: skip
def test_every_group_has_a_column_that_is_related_to_the_target(name):
    made = make(name, seed=0, rows=ROWS)
    for group in made.groups:
        assert max(relation(made.X[column], made.y) for column in group) > 2 / np.sqrt(ROWS)


def test_imbalance_has_three_and_a_half_percent_positives_in_40_columns_10_of_them_relevant():
    made = make("imbalance", 0)
    assert made.y.mean() == pytest.approx(0.035, abs=1e-3)
    assert (len(made.relevant), made.X.shape[1]) == (10, 40)


def test_a_share_of_the_labels_is_flipped():
    clean, flipped = make("labels_00", 0, ROWS), make("labels_40", 0, ROWS)
    related = [np.mean([relation(made.X[c], made.y) for c in made.relevant])
               for made in (clean, flipped)]  # fmt: skip
    assert related[1] < 0.4 * related[0]


def test_signs_and_products_of_a_pair_matter_and_single_columns_of_it_do_not():
    made = make("interactions", 0, ROWS)
    pairs = sorted(name for name in made.relevant if name.startswith("paired"))
    a, b = (made.X[name] for name in pairs[:2])
    assert relation(a, made.y) < 0.06 > relation(b, made.y)
    assert relation(a * b, made.y) > 0.2


def test_missing_cells_are_a_signal_in_the_columns_that_are_called_so():
    made = make("missing", 0, ROWS)
    absent = [name for name in made.relevant if name.startswith("absent")]
    assert min(relation(made.X[name].isna().astype(float), made.y) for name in absent) > 0.1
    assert max(relation(made.X[name].isna().astype(float), made.y)
               for name in made.noise if made.X[name].isna().any()) < 0.07  # fmt: skip


def test_two_families_are_for_judging_only_and_the_others_have_seeds_in_each_half():
    assert [sorted(FAMILIES)[i] for i in (2, 5)] == ["derived", "labels"]
    assert half_of("derived", 0) == half_of("labels_20", 0) == half_of("credit", 100) == "judge"
    halves = [(name, half_of(name, seed)) for name, seed in names()]
    assert halves.count(("credit", "tune")) == 5
    assert halves.count(("credit", "judge")) == 8
    assert halves.count(("derived", "judge")) == 8
    assert ("derived", "tune") not in halves
