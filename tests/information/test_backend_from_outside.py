"""A backend written from the page in CONTRIBUTING alone works wherever a backend can be named."""

from typing import ClassVar

import numpy as np
import pytest

from bestk import (
    SelectBestK,
    SelectBestKCV,
    SelectRelevant,
    cmi_matrix,
    error_curves,
    mutual_information,
    pair_scan,
    stability_selection,
)
from bestk.information import PairSource
from bestk.information.backends import BACKENDS
from bestk.report import make_report


class PlainCounter(PairSource):
    """Entropies from tables of counts, as CONTRIBUTING asks for them: nothing else is given."""

    made: ClassVar[int] = 0
    is_discrete = True

    def __init__(self, codes, target, correction=None):
        assert correction in (None, "chance")
        type(self).made += 1
        self.codes = codes.values.astype(np.int64)
        self.classes = target.codes
        x = np.array([self.entropy(column) for column in self.codes])
        xy = np.array([self.entropy(column, self.classes) for column in self.codes])
        self.singles = x, xy, self.entropy(self.classes)
        self.copies = x

    def entropy(self, *columns):
        cells = np.unique(np.stack(columns), axis=1, return_counts=True)[1]
        share = cells / cells.sum()
        return float(-(share * np.log(share)).sum())

    def fill(self, query, out):
        measure = query.measure
        x, xy, y = self.singles
        rows, columns = query.features(len(x))
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                both = self.codes[[row, column]]
                value = measure.xx * self.entropy(*both)
                value += measure.xxy * self.entropy(*both, self.classes)
                value += measure.xi * x[row] + measure.xiy * xy[row]
                value += measure.xj * x[column] + measure.xjy * xy[column]
                out[i, j] = max(value + measure.y * y, query.lowest)


@pytest.fixture
def plain(monkeypatch):
    """The name of the backend, which must have been used by the end of the test."""
    monkeypatch.setitem(BACKENDS, "plain", PlainCounter)
    PlainCounter.made = 0
    yield "plain"
    assert PlainCounter.made


def table(n_rows=120, n_columns=8):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (n_rows, n_columns))
    y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, n_rows) > 2).astype(int)
    return X, y


OPTIONS = {"information": "discrete", "discretizer": None}


@pytest.mark.parametrize("method", ["jmi", "mrmr", "tpower", "cmim", "exact"])
@pytest.mark.parametrize("k", [3, "auto"])
def test_a_selection_is_that_of_the_default(plain, method, k):
    X, y = table()
    supports = [
        SelectBestK(k, method=method, backend=backend, random_state=0, **OPTIONS)
        .fit(X, y)
        .solution_.support.tolist()
        for backend in (plain, "native")
    ]
    assert supports[0] == supports[1]


def test_a_selection_for_an_estimator_is_that_of_the_default(plain):
    from sklearn.naive_bayes import GaussianNB

    X, y = table()
    supports = [
        SelectBestKCV(GaussianNB(), [2, 3], method="jmi", cv=3, backend=backend, **OPTIONS)
        .fit(X, y)
        .get_support()
        .tolist()
        for backend in (plain, "native")
    ]
    assert supports[0] == supports[1]


def test_stability_is_that_of_the_default(plain):
    X, y = table()
    frequencies = [
        stability_selection(X, y, 3, "jmi", n_subsamples=4, backend=backend, **OPTIONS).frequencies
        for backend in (plain, "native")
    ]
    np.testing.assert_array_equal(*frequencies)


def test_errors_are_those_of_the_default(plain):
    X, y = table()
    errors = [
        error_curves(
            X, y, ["jmi"], [2, 3], cv=2, backend=backend, random_state=0, **OPTIONS
        ).errors("jmi")
        for backend in (plain, "native")
    ]
    np.testing.assert_array_equal(*errors)


def test_relevant_features_and_partners_are_those_of_the_default(plain):
    X, y = table(n_columns=6)
    by_plain, by_native = (
        SelectRelevant(permutations=1, backend=backend, random_state=0).fit(X, y)
        for backend in (plain, "native")
    )
    np.testing.assert_allclose(by_plain.pvalues_, by_native.pvalues_)
    np.testing.assert_array_equal(by_plain.partners_, by_native.partners_)


def test_the_best_pairs_are_those_of_the_default(plain):
    X, y = table()
    by_plain, by_native = (pair_scan(X, y, top=4, backend=backend) for backend in (plain, "native"))
    np.testing.assert_array_equal(by_plain.pairs, by_native.pairs)
    np.testing.assert_allclose(by_plain.information, by_native.information, atol=1e-9)


def test_matrices_are_those_of_the_default(plain):
    X, y = table()
    matrices = [cmi_matrix(X, y, backend=backend) for backend in (plain, "native")]
    np.testing.assert_allclose(*matrices, atol=1e-9)
    relevance = [mutual_information(X, y, backend=backend) for backend in (plain, "native")]
    np.testing.assert_allclose(*relevance, atol=1e-9)


def test_a_report_is_made(plain):
    X, y = table()
    selector = SelectBestK(3, method="jmi", backend=plain, **OPTIONS).fit(X, y)
    assert "jmi" in make_report(selector, X, y, errors=False).html
