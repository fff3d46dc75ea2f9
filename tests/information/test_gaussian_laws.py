"""Gaussian information against a slow twin, and the laws it shares with every other kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk.information import GaussianSource, ScoredTable, measures
from bestk.information._scores import normal_scores, unit_score
from bestk.information.entropies import Entropies
from bestk.information.measures import Measure
from bestk.tables.target import NumericTarget, read_classes

NAMED = [m for m in vars(measures).values() if isinstance(m, Measure)]


def gaussian(X, y, signed=True, n_jobs=None, scores="rank", **options):
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    target = read_classes(y, len(y)) if y.dtype.kind in "iu" else NumericTarget(y)
    source = GaussianSource(ScoredTable(X, target, scores), **options)
    return Entropies(*source.singles, source, signed=signed, n_jobs=n_jobs)


@st.composite
def tables(draw):
    """A small table with ties, constant columns and gaps, and classes or numbers beside it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    m, n = draw(st.integers(4, 30)), draw(st.integers(1, 5))
    X = rng.normal(size=(m, n)) @ rng.normal(size=(n, n)) * 10.0 ** rng.integers(-3, 4)
    if draw(st.booleans()):
        X = np.round(X)
    if draw(st.booleans()):
        X[:, rng.integers(n)] = rng.normal()
    X[rng.random((m, n)) < draw(st.sampled_from([0.0, 0.1, 0.6]))] = np.nan
    if draw(st.booleans()):
        return X, rng.normal(size=m)
    classes = rng.permutation(np.arange(m) % draw(st.integers(2, min(m, 6))))
    return X, classes


# the slow twin: determinants of explicit blocks


def covariance(columns, y):
    """Total and within-y covariance of some columns, and the parameters that y takes."""
    m, k = columns.shape
    total, within = np.zeros((k, k)), np.zeros((k, k))
    if y.dtype.kind == "i":
        means = np.array([columns[y == label].mean(axis=0) for label in y])
    else:
        line = np.column_stack([np.ones(m), y])
        means = line @ np.linalg.lstsq(line, columns, rcond=None)[0]
    for row, mean in zip(columns, means, strict=True):
        total += np.outer(row - columns.mean(axis=0), row - columns.mean(axis=0)) / m
        within += np.outer(row - mean, row - mean) / m
    return total, within


def log_det(matrix):
    sign, value = np.linalg.slogdet(matrix)
    assert sign == 1
    return value


def entropies_of(columns, y, noise):
    """H(columns) and H(columns | y)."""
    m, k = columns.shape
    values = []
    for matrix in covariance(columns, y):
        noisy = matrix + np.eye(k) * (1 / m if noise is None else noise)
        values.append(0.5 * log_det(2 * np.pi * np.e * noisy))
    return np.array(values)


def twin(X, y, measure, scores="rank", noise=None):
    """Any measure of each pair, from the definition."""
    m, n = X.shape
    z = normal_scores(X, scores).T / unit_score(m)
    if y.dtype.kind == "i":
        p = np.bincount(y) / m
        h_y = -(p * np.log(p)).sum()
    else:
        y = normal_scores(y[:, None], scores)[0]
        y = y / y.std()
        h_y = 0.5 * np.log(2 * np.pi * np.e)

    one = np.array([entropies_of(z[:, [i]], y, noise) for i in range(n)])
    out = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            x, x_given_y = one[i] if i == j else entropies_of(z[:, [i, j]], y, noise)
            out[i, j] = (
                measure.xx * x + measure.xxy * (x_given_y + h_y) + measure.y * h_y
                + measure.xi * one[i, 0] + measure.xiy * (one[i, 1] + h_y)
                + measure.xj * one[j, 0] + measure.xjy * (one[j, 1] + h_y)
            )  # fmt: skip
    return out


@given(
    table=tables(),
    scores=st.sampled_from(["rank", "standard"]),
    noise=st.sampled_from([None, 0.01]),
)
def test_every_measure_equals_the_determinants_of_explicit_blocks(table, scores, noise):
    options = {"scores": scores, "noise": noise}
    h = gaussian(*table, **options)
    odd = Measure(xx=0.3, xxy=1.7, xi=-2.0, xj=0.1, xiy=0.9, xjy=-0.4, y=3.0)
    alone = Measure(xi=1.0, xjy=-0.5, y=2.0)  # of which no pair is a part
    double = Measure(xx=2.0, xxy=2.0, xi=-1.0)
    for measure in [*NAMED, odd, alone, double]:
        expected = twin(*table, measure, **options)
        np.testing.assert_allclose(h.measure(measure), expected, rtol=1e-9, atol=1e-9)


@given(table=tables())
def test_the_chain_rule_holds(table):
    h = gaussian(*table)
    np.testing.assert_allclose(h.joint_mi(), h.mi()[:, None] + h.cmi(), atol=1e-12)
    np.testing.assert_array_equal(np.diag(h.joint_mi()), h.mi())
    assert np.isfinite(h.joint_mi()).all()


@given(table=tables(), noise=st.sampled_from([None, 0.0, 0.3]))
def test_more_columns_never_tell_less_and_no_information_is_negative(table, noise):
    h = gaussian(*table, noise=noise)
    slack = 1e-4 if noise == 0.0 else 1e-12
    assert (h.mi() >= -slack).all()
    assert (h.cmi() >= -slack).all()
    off = ~np.eye(h.n_features, dtype=bool)
    assert (h.pair_mi()[off] >= -slack).all()
    assert (h.pair_cmi()[off] >= -slack).all()


@given(table=tables(), random=st.randoms())
def test_rows_and_columns_may_come_in_any_order(table, random):
    X, y = table
    m, n = X.shape
    rows, columns = random.sample(range(m), m), random.sample(range(n), n)
    for scores in ("rank", "standard"):
        h = gaussian(X, y, scores=scores).joint_mi()
        turned = gaussian(X[rows][:, columns], y[rows], scores=scores)
        np.testing.assert_array_equal(turned.joint_mi(), h[np.ix_(columns, columns)])


@given(table=tables())
def test_rank_scores_see_the_order_of_values_only(table):
    X, y = table
    scale = np.nanmax(np.abs(X), initial=1e-3)
    changed = gaussian(np.arctan(X / scale), y)
    np.testing.assert_array_equal(changed.joint_mi(), gaussian(X, y).joint_mi())


@given(table=tables(), shift=st.floats(-5, 5), factor=st.sampled_from([-3.0, 1e-200, 1e200]))
def test_standard_scores_see_neither_location_nor_scale(table, shift, factor):
    X, y = table
    scale = np.nanmax(np.abs(X), initial=1e-3)
    changed = gaussian((X / scale + np.round(shift)) * factor, y, scores="standard")
    same = gaussian(X / scale, y, scores="standard")
    np.testing.assert_allclose(changed.joint_mi(), same.joint_mi(), atol=1e-4)


@pytest.mark.parametrize("measure", NAMED)
def test_blocks_equal_the_whole_matrix(measure):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 700)), np.arange(15) % 3
    X[:, 300:][rng.random((15, 400)) < 0.1] = np.nan
    h = gaussian(X, y, signed=False)
    whole = h.measure(measure)
    rows, columns = rng.permutation(700)[:300], rng.integers(0, 700, 5)
    np.testing.assert_array_equal(h.measure(measure, rows), whole[rows])
    np.testing.assert_array_equal(h.measure(measure, None, columns), whole[:, columns])
    np.testing.assert_array_equal(h.measure(measure, rows, columns), whole[np.ix_(rows, columns)])
    assert h.measure(measure, [], columns).shape == (0, 5)
    np.testing.assert_allclose(h.measure(measure, dtype=np.float32), whole, rtol=1e-5, atol=1e-5)
    one = gaussian(X, y, signed=False, n_jobs=1)
    np.testing.assert_array_equal(one.measure(measure), whole)


@pytest.mark.parametrize("y", [np.arange(15) % 3, np.arange(15.0)])
def test_gaps_in_one_column_change_no_pair_of_others(y):
    X = np.random.default_rng(0).normal(size=(15, 6))
    whole = gaussian(X, y).joint_mi()
    X[::4, 2] = np.nan
    gaps = gaussian(X, y).joint_mi()
    others = np.ix_([0, 1, 3, 4, 5], [0, 1, 3, 4, 5])
    np.testing.assert_array_equal(gaps[others], whole[others])
