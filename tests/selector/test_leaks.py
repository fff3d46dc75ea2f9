"""Columns that alone predict the target too well are named, at any balance of the classes."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import roc_auc_score

from bestk import SelectBestK, SelectionWarning, select
from bestk.diagnosis import leaks
from bestk.tables.frames import read_table
from bestk.tables.target import parse_target

ROWS = 2000
BALANCES = [0.5, 0.2, 0.05, 0.02]


def table_of(positives, seed=0):
    """Eight columns, four of which tell about classes of which so many are positive."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(ROWS, 8))).rename(columns="x{}".format)
    signal = X.iloc[:, :4].sum(axis=1) + 2 * rng.normal(size=ROWS)
    return X, (signal > np.quantile(signal, 1 - positives)).to_numpy().astype(int), rng


def named(X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = select(X, y, min(6, X.shape[1]), **options).warnings
    sentences = [text for text in found if "a possible leak" in text]
    return [name for name in X.columns if any(repr(name) in text for text in sentences)]


def score(rng, y):
    return 4.3 * y + rng.normal(size=len(y))  # an AUC of about 0.999


def yes_or_no(rng, y):
    return np.where((y == 1) ^ (rng.random(len(y)) < 0.01), "yes", "no")


def date(rng, y):
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, len(y)), unit="D")
    return pd.Series(days).where((y == 1) & (rng.random(len(y)) < 0.98))


def middle(rng, y):
    ends = rng.choice([-1, 1], len(y)) * rng.uniform(1, 3, len(y))
    return np.where(y == 1, rng.uniform(-1, 1, len(y)), ends)


@pytest.mark.parametrize("leak", [score, yes_or_no, date, middle])
@pytest.mark.parametrize("positives", BALANCES)
def test_a_leak_is_named_at_any_balance(leak, positives):
    X, y, rng = table_of(positives)
    assert named(X, y) == []
    assert named(X.assign(later=leak(rng, y)), y) == ["later"]


def test_gaussian_estimates_that_do_not_see_missing_values_do_not_hide_a_leak():
    X, y, rng = table_of(0.2)
    X = X.assign(later=date(rng, y))
    assert named(X, y, method="mrmr", information="gaussian", include=["later"]) == ["later"]


def test_two_leaks_are_both_named_and_the_warning_says_what_to_do():
    X, y, rng = table_of(0.05)
    X = X.assign(refund=date(rng, y), closed=yes_or_no(rng, y))
    with pytest.warns(SelectionWarning, match="possible leak; exclude them if they are not known"):
        SelectBestK(6).fit(X, y)
    assert named(X, y) == ["refund", "closed"]


def test_a_leak_of_one_class_of_several_is_named_by_its_information():
    rng = np.random.default_rng(1)
    y = rng.choice(4, 1500, p=[0.55, 0.25, 0.1, 0.1])
    reason = np.where(y < 2, y, 2)  # classes 2 and 3 are not told apart
    X = pd.DataFrame(rng.normal(size=(1500, 5))).rename(columns="x{}".format)
    assert named(X.assign(reason=reason.astype(str)), y) == ["reason"]


@pytest.mark.parametrize("shape", [np.exp, np.negative, np.tanh])
def test_a_number_with_little_noise_is_a_leak_of_a_number_whatever_its_scale(shape):
    X, _, rng = table_of(0.5)
    y = X.sum(axis=1).to_numpy()
    later = shape((y + 0.1 * y.std() * rng.normal(size=ROWS)) / y.std())
    assert named(X.assign(later=later), y) == ["later"]
    assert named(X, y) == []


def test_numbers_that_determine_a_number_without_a_trend_are_a_leak():
    X, _, rng = table_of(0.5)
    y = np.exp(X.sum(axis=1).to_numpy() / 4)
    assert named(X.assign(later=rng.choice([-1, 1], ROWS) * y), y) == ["later"]


@pytest.mark.parametrize("curve", [lambda x: np.sin(5 * x), np.square])
def test_a_curve_that_determines_a_number_is_a_leak_in_few_rows(curve):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(500, 8))).rename(columns="x{}".format)
    y = curve(X["x0"].to_numpy())
    noise = y.std() * rng.normal(size=500)
    assert named(X, y + 0.1 * noise) == ["x0"]
    assert named(X, y + 0.35 * noise) == []


def test_values_of_the_same_person_are_no_leak():
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(60), 8)
    X = pd.DataFrame({"weight": rng.normal(size=60)[person], "dose": rng.normal(size=480)})
    assert named(X, rng.normal(size=60)[person]) == []


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris, load_wine])
def test_honest_columns_that_predict_well_are_no_leaks(load):
    X, y = load(return_X_y=True, as_frame=True)
    assert named(X, y) == []


def test_categories_of_few_rows_predict_no_others():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = pd.DataFrame({"city": [f"city {i}" for i in rng.integers(0, 250, 600)]})
    X = X.assign(x=y + 2 * rng.normal(size=600))
    for options in ({}, {"method": "jmi"}):
        assert named(X, y, **options) == []


@pytest.mark.parametrize(("rows_of_class", "expected"), [(2, []), (4, ["later"])])
def test_a_class_of_two_rows_tells_nothing(rows_of_class, expected):
    y = np.array([1] * rows_of_class + [0] * 396)
    X = pd.DataFrame({"later": y * 1.0, "z": np.arange(len(y)) % 7})
    assert named(X, y) == expected


def test_a_perfect_column_among_few_rows_needs_to_stand_out():
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    genes = pd.DataFrame(1.8 * y[:, np.newaxis] + rng.normal(size=(24, 300)))
    genes = genes.rename(columns="g{}".format)
    assert named(genes, y) == []
    noise = pd.DataFrame(rng.normal(size=(24, 5))).rename(columns="x{}".format)
    assert named(noise.assign(later=y), y) == ["later"]


def test_errors_of_ranks_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    values = np.round(y + rng.normal(size=300), 1)
    target = parse_target(y, 300)
    ranked = leaks.predict_alone(read_table(values[:, np.newaxis]), np.array([], int), target)
    assert ranked.errors[0] == pytest.approx(1 - roc_auc_score(y, values), abs=0.02)
    assert ranked.errors[0] <= 1 - roc_auc_score(y, values) + 1e-12


def test_noise_predicts_nothing_in_rows_that_were_not_fitted():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=2000), rng.integers(0, 500, 2000)])
    target = parse_target(rng.integers(0, 2, 2000), 2000)
    guessed = leaks.predict_alone(read_table(X), np.array([1]), target)
    assert (guessed.errors > 0.45).all()
    assert (guessed.information < 0.01).all()
    numbers = parse_target(rng.normal(size=2000), 2000)
    assert (leaks.predict_alone(read_table(X), np.array([1]), numbers).errors > 0.98).all()


def test_very_many_rows_are_drawn_from_and_rare_classes_are_kept():
    rng = np.random.default_rng(0)
    y = (rng.random(60_000) < 0.002).astype(int)
    X = pd.DataFrame({"x": rng.normal(size=60_000) + y, "later": np.where(y, "a", "b")})
    assert named(X, y) == ["later"]


def test_many_levels_and_classes_take_no_more_memory_than_their_rows():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(2000), 4))
    table = read_table(
        pd.DataFrame({"copy": y.astype(str), "noise": rng.permutation(y).astype(str)})
    )
    target = parse_target(y, len(y), "classes")
    tracemalloc.start()
    try:
        found = leaks.predict_alone(table, np.empty(0, np.int64), target)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**28  # a table of folds, levels and classes has 160 MB, and several were made
    assert (found.errors < leaks.MAX_ERROR).tolist() == [True, False]
    assert found.information[0] > 0.8 > found.information[1]
