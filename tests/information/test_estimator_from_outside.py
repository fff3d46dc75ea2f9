"""An estimator written from the page in CONTRIBUTING alone works wherever one can be named."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from bestk import (
    Entropies,
    SelectBestK,
    SelectBestKCV,
    encode,
    error_curves,
    stability_selection,
)
from bestk.errors import UnknownNameError
from bestk.information.estimators import ESTIMATORS, EstimatorSettings
from bestk.information.information import Information
from bestk.report import make_report


@dataclass(frozen=True)
class Halves:
    """Counts of columns of numbers that are cut at their medians."""

    settings: EstimatorSettings

    name = "halves"
    needs_all_rows = True

    def fit(self, dataset):
        features = dataset.find_varying()
        numbers = dataset.table.keep(features).numeric()[0]
        codes = encode((numbers > np.median(numbers, axis=0)).astype(np.int64))
        estimates = Entropies.count(
            codes, dataset.targets[0].classes, self.settings.backend, n_jobs=self.settings.n_jobs
        )
        return Information(
            dataset=dataset,
            features=features,
            estimates=estimates,
            levels=codes.levels,
            numeric=np.arange(len(features)),
        )

    def with_threads(self, n_jobs):
        return replace(self, settings=replace(self.settings, n_jobs=n_jobs))


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setitem(ESTIMATORS, "halves", Halves)


def table(n_rows=200, n_columns=8):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        rng.normal(size=(n_rows, n_columns)), columns=[f"c{j}" for j in range(n_columns)]
    )
    y = (X.to_numpy() @ np.linspace(1.0, 0.1, n_columns) > 0).astype(int)
    return X, y


def halved(X):
    """The table that the estimator counts."""
    return (X.median() < X).astype(int)


@pytest.mark.parametrize("method", ["jmi", "mrmr", "tpower", "exact", "mrmr-global"])
def test_a_fit_is_that_of_counts_of_the_halved_table(method):
    X, y = table()
    solution = SelectBestK(3, method, information="halves").fit(X, y).solution_
    by_counts = SelectBestK(3, method, discretizer=None).fit(halved(X), y).solution_
    assert solution.support.tolist() == by_counts.support.tolist()
    np.testing.assert_allclose(solution.details["pairs"], by_counts.details["pairs"])


def test_the_number_of_features_is_chosen_with_the_estimator():
    X, y = table()
    assert SelectBestK("auto", "jmi", information="halves").fit(X, y).k_ >= 1
    chosen = SelectBestKCV(GaussianNB(), ks=[2, 3], method="jmi", information="halves", cv=3)
    assert chosen.fit(X, y).best_k_ in (2, 3)


def test_subsamples_and_curves_of_errors_use_the_estimator():
    X, y = table()
    frequencies = stability_selection(
        X, y, 3, "jmi", n_subsamples=4, information="halves", n_jobs=2
    ).frequencies
    assert frequencies.sum() == pytest.approx(3.0)
    curves = error_curves(X, y, ["jmi"], [3], cv=2, random_state=0, information="halves")
    assert {len(row.support) for row in curves.rows} == {3}


def test_a_report_and_rows_in_blocks_use_the_estimator():
    X, y = table()
    selector = SelectBestK(3, "jmi", information="halves").fit(X, y)
    report = make_report(selector, X, y, errors=False, stability=2)
    assert report.facts.information == "halves"
    in_blocks = SelectBestK(3, "jmi", information="halves")
    for start in range(0, len(y), 50):
        in_blocks.partial_fit(X[start : start + 50], y[start : start + 50])
    np.testing.assert_array_equal(in_blocks.finalize().support_, selector.support_)


def test_groups_of_columns_use_the_estimator():
    X, y = table()
    groups = [0, 0, 1, 1, 2, 2, 3, 3]
    selector = SelectBestK(2, "jmi", information="halves", column_groups=groups).fit(X, y)
    by_counts = SelectBestK(2, "jmi", discretizer=None, column_groups=groups).fit(halved(X), y)
    np.testing.assert_array_equal(selector.support_, by_counts.support_)


def test_an_unknown_estimate_is_refused_with_those_that_there_are():
    X, y = table()
    with pytest.raises(UnknownNameError, match="'halfs'; did you mean 'halves'"):
        SelectBestK(2, "jmi", information="halfs").fit(X, y)
