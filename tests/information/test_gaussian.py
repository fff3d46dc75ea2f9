"""Gaussian information: the closed form, and the laws it shares with every other kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import rankdata

from bestk.codes import read_target
from bestk.information import _measures as measures
from bestk.information._entropies import Entropies
from bestk.information._gaussian import GaussianSource
from bestk.information._measures import Measure
from bestk.information._normal_scores import normal_scores

NAMED = [m for m in vars(measures).values() if isinstance(m, Measure)]
MISSING = ["impute", "pairwise"]


def gaussian(X, y, signed=True, n_jobs=None, **options):
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    source = GaussianSource(X, read_target(y, len(y)) if y.dtype.kind in "iu" else y, **options)
    return Entropies(*source.singles(), source, signed=signed, n_jobs=n_jobs)


@st.composite
def tables(draw, missing=True):
    """A small table with ties, constant columns and gaps, and classes or numbers beside it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    m, n = draw(st.integers(4, 30)), draw(st.integers(1, 5))
    X = rng.normal(size=(m, n)) @ rng.normal(size=(n, n)) * 10.0 ** rng.integers(-3, 4)
    if draw(st.booleans()):
        X = np.round(X)
    if draw(st.booleans()):
        X[:, rng.integers(n)] = rng.normal()
    if missing:
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


def entropies_of(columns, y, noise, shrinkage):
    """H(columns) and H(columns | y)."""
    m, k = columns.shape
    values = []
    for matrix in covariance(columns, y):
        shrunk = (1 - shrinkage) * matrix + shrinkage * np.diag(np.diag(matrix))
        noisy = shrunk + np.eye(k) * (1 / m if noise == "auto" else noise)
        values.append(0.5 * log_det(2 * np.pi * np.e * noisy))
    return np.array(values)


def twin(X, y, measure, scores="rank", noise="auto", shrinkage=0.0, missing="impute"):
    """Any measure of each pair, from the definition."""
    m, n = X.shape
    z = normal_scores(X, scores, impute=missing == "impute")
    z, known = z.values.T / z.one, np.isfinite(X) | (missing == "impute")
    if y.dtype.kind == "i":
        p = np.bincount(y) / m
        h_y = -(p * np.log(p)).sum()
    else:
        y = normal_scores(y[:, None], scores).values[0]
        y = y / y.std()
        h_y = 0.5 * np.log(2 * np.pi * np.e)

    def over(rows, columns):
        if not rows.any():
            return np.zeros(2)
        return entropies_of(z[np.ix_(rows, columns)], y[rows], noise, shrinkage)

    nothing = 0.5 * np.log(2 * np.pi * np.e * (1.0 if noise == "auto" else noise))
    one = np.array(
        [over(known[:, i], [i]) if known[:, i].any() else [nothing] * 2 for i in range(n)]
    )
    out = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            both = known[:, i] & known[:, j]
            dependence = over(both, [i, j]) - over(both, [i]) - over(both, [j])
            x, x_given_y = one[i] if i == j else one[i] + one[j] + dependence
            out[i, j] = (
                measure.xx * x + measure.xxy * (x_given_y + h_y) + measure.y * h_y
                + measure.xi * one[i, 0] + measure.xiy * (one[i, 1] + h_y)
                + measure.xj * one[j, 0] + measure.xjy * (one[j, 1] + h_y)
            )  # fmt: skip
    return out


# by hand


def test_two_columns_worked_by_hand():
    X = [[-1, -1], [-1, 1], [1, -1], [1, 1], [-1, -1], [1, 1]]
    y = [0, 0, 1, 1, 0, 1]
    # T = [[1, 1/3], [1/3, 1]]; within each class x0 is constant, x1 has mean -+1/3
    h = gaussian(X, y, scores="standard", noise=0.5)
    np.testing.assert_allclose(h.mi(), 0.5 * np.log([1.5 / 0.5, 1.5 / (8 / 9 + 0.5)]), atol=1e-6)
    np.testing.assert_allclose(h.pair_mi()[0, 1], -0.5 * np.log(1 - 1 / 4.5**2), atol=1e-6)
    joint = 0.5 * np.log((1.5**2 - 1 / 9) / (0.5 * (8 / 9 + 0.5)))
    np.testing.assert_allclose(h.joint_mi()[0, 1], joint, atol=1e-6)
    np.testing.assert_allclose(h.y, np.log(2))


def test_a_number_for_y_gives_minus_half_log_of_one_minus_r_squared():
    X = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]], dtype=float)
    y = X @ [2, 1] + np.array([1, -1, -1, 1])  # r^2 = 4/6 with x0, 1/6 with x1
    h = gaussian(X, y, scores="standard", noise=0)
    np.testing.assert_allclose(h.mi(), -0.5 * np.log([1 / 3, 5 / 6]), atol=1e-6)
    np.testing.assert_allclose(h.joint_mi()[0, 1], -0.5 * np.log(1 / 6), atol=1e-6)
    np.testing.assert_allclose(h.y, 0.5 * np.log(2 * np.pi * np.e), atol=1e-6)


@pytest.mark.parametrize("kind", ["rank", "standard"])
@given(table=tables())
def test_scores_equal_their_definition(kind, table):
    X = table[0]
    z = normal_scores(X, kind)
    for column, scores in zip(X.T, z.values / z.one, strict=True):
        known = np.isfinite(column)
        assert not scores[~known].any()
        if known.sum() == 0 or np.ptp(column[known]) == 0:
            assert not scores.any()
            continue
        expected = column[known]
        if kind == "rank":
            expected = ndtri((rankdata(expected) - 0.5) / len(expected))
        expected = (expected - expected.mean()) / expected.std()
        np.testing.assert_allclose(scores[known], expected, atol=1e-6)


def test_products_of_scores_are_whole_numbers_that_floats_hold():
    X = np.random.default_rng(0).standard_cauchy(size=(1000, 5))
    z = normal_scores(X, "standard").values
    assert (z == np.rint(z)).all()
    assert np.abs(z).T.max() ** 2 <= (z * z).sum(axis=1).max() < 2**53


@pytest.mark.parametrize("scores", ["rank", "standard"])
def test_the_values_given_are_left_alone(scores):
    X, y = np.array([[1.0], [7.0], [9.0]]), np.array([3.0, 2.0, 8.0])
    gaussian(X, y, scores=scores)
    np.testing.assert_array_equal(X, [[1.0], [7.0], [9.0]])
    np.testing.assert_array_equal(y, [3.0, 2.0, 8.0])


# the twin


@pytest.mark.parametrize("missing", MISSING)
@given(
    table=tables(),
    scores=st.sampled_from(["rank", "standard"]),
    noise=st.sampled_from(["auto", 0.01]),
    shrinkage=st.sampled_from([0.0, 0.05]),
)
def test_every_measure_equals_the_determinants_of_explicit_blocks(
    missing, table, scores, noise, shrinkage
):
    options = {"scores": scores, "noise": noise, "shrinkage": shrinkage, "missing": missing}
    h = gaussian(*table, **options)
    odd = Measure(xx=0.3, xxy=1.7, xi=-2.0, xj=0.1, xiy=0.9, xjy=-0.4, y=3.0)
    for measure in [*NAMED, odd]:
        expected = twin(*table, measure, **options)
        np.testing.assert_allclose(h.measure(measure), expected, rtol=1e-9, atol=1e-9)


# the truth


SIZES = [500, 5000, 50000]


def slope(estimate, truth, repeats=12):
    """Exponent with which the mean error shrinks; every error at 50000 rows is small."""
    rng = np.random.default_rng(0)
    errors = [np.mean([np.abs(estimate(rng, m) - truth) for _ in range(repeats)]) for m in SIZES]
    assert errors[-1] < 0.005
    return np.polyfit(np.log(SIZES), np.log(errors), 1)[0]


def mixing(n):
    return np.random.default_rng(1).normal(size=(n, n)) / np.sqrt(n) + np.eye(n)


@pytest.mark.parametrize("scores", ["rank", "standard"])
def test_for_a_number_the_error_against_the_closed_form_shrinks_as_one_over_root_m(scores):
    n = 8
    A = mixing(n + 1)
    C = A.T @ A
    pairs = np.triu_indices(n, 1)
    blocks = [
        (np.ix_([i, j], [i, j]), np.ix_([i, j, n], [i, j, n])) for i, j in np.transpose(pairs)
    ]
    truth = [0.5 * (np.log(C[n, n]) + log_det(C[two]) - log_det(C[three])) for two, three in blocks]

    def estimate(rng, m):
        data = rng.normal(size=(m, n + 1)) @ A
        return gaussian(data[:, :n], data[:, n], scores=scores).joint_mi()[pairs]

    assert slope(estimate, truth) == pytest.approx(-0.5, abs=0.06)


def test_for_classes_the_error_against_the_closed_form_shrinks_as_one_over_root_m():
    n, p = 8, np.array([0.5, 0.3, 0.2])
    A, means = mixing(n), np.random.default_rng(2).normal(size=(3, n))
    W = A.T @ A
    T = W + (means - p @ means).T @ np.diag(p) @ (means - p @ means)
    pairs = np.triu_indices(n, 1)
    blocks = [np.ix_(pair, pair) for pair in np.transpose(pairs)]
    truth = [0.5 * (log_det(T[block]) - log_det(W[block])) for block in blocks]

    def estimate(rng, m):
        y = rng.choice(3, size=m, p=p)
        X = means[y] + rng.normal(size=(m, n)) @ A
        return gaussian(X, y, scores="standard").joint_mi()[pairs]

    assert slope(estimate, truth) == pytest.approx(-0.5, abs=0.06)


@pytest.mark.parametrize("y", [np.arange(2000) % 4, np.sin(np.arange(2000.0))])
def test_independent_columns_have_no_information_beyond_noise(y):
    h = gaussian(np.random.default_rng(0).normal(size=(2000, 30)), y)
    assert h.mi().max() < 10 / 2000
    assert h.joint_mi().max() < 15 / 2000
    off = ~np.eye(30, dtype=bool)
    assert h.pair_mi()[off].max() < 10 / 2000


@pytest.mark.parametrize("y", [np.arange(24) % 4, np.sin(np.arange(24.0))])
@pytest.mark.parametrize("scores", ["rank", "standard"])
def test_corrected_for_chance_independent_columns_have_none_on_average(y, scores):
    X = np.random.default_rng(3).normal(size=(24, 4000))
    options = {"scores": scores, "noise": 0, "correction": "chance"}
    h, plain = gaussian(X, y, **options), gaussian(X, y, scores=scores, noise=0)
    singles = h.mi(), plain.mi()
    even, odd = np.arange(0, 4000, 2), np.arange(1, 4000, 2)
    pairs = [np.concatenate([e.joint_mi([i], [j])[0] for i, j in zip(even, odd, strict=True)])
             for e in (h, plain)]  # fmt: skip
    for corrected, raw in (singles, pairs):
        error = corrected.std() / np.sqrt(len(corrected))
        assert abs(corrected.mean()) < 4 * error < raw.mean() / 2
    np.testing.assert_allclose(np.diag(h.joint_mi(range(9), range(9))), h.mi()[:9])


def test_correction_leaves_what_does_not_concern_y():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 4)), np.arange(20) % 3
    corrected, plain = gaussian(X, y, correction="chance"), gaussian(X, y)
    np.testing.assert_array_equal(corrected.pair_mi(), plain.pair_mi())


@pytest.mark.parametrize("missing", MISSING)
def test_gaps_by_chance_leave_pairwise_estimates_right_and_weaken_imputed_ones(missing):
    rng = np.random.default_rng(5)
    y = np.arange(20000) % 2
    X = rng.normal(size=(20000, 2)) @ [[1, 0.8], [0, 0.6]] + 1.5 * y[:, None]
    whole = gaussian(X, y, scores="standard")
    X[rng.random(X.shape) < 0.3] = np.nan
    h = gaussian(X, y, scores="standard", missing=missing)
    if missing == "pairwise":
        np.testing.assert_allclose(h.mi(), whole.mi(), rtol=0.05)
        np.testing.assert_allclose(h.joint_mi(), whole.joint_mi(), rtol=0.05)
        np.testing.assert_allclose(h.pair_mi()[0, 1], whole.pair_mi()[0, 1], rtol=0.05)
    else:
        assert (h.mi() < 0.8 * whole.mi()).all()
        assert h.pair_mi()[0, 1] < 0.7 * whole.pair_mi()[0, 1]


# the laws


@pytest.mark.parametrize("missing", MISSING)
@given(table=tables(), correction=st.sampled_from([None, "chance"]))
def test_the_chain_rule_holds(missing, table, correction):
    X, y = table
    if correction and y.dtype.kind == "i" and len(y) < y.max() + 3:
        correction = None
    h = gaussian(X, y, correction=correction, missing=missing)
    np.testing.assert_allclose(h.joint_mi(), h.mi()[:, None] + h.cmi(), atol=1e-12)
    np.testing.assert_array_equal(np.diag(h.joint_mi()), h.mi())
    assert np.isfinite(h.joint_mi()).all()


@given(table=tables(), noise=st.sampled_from(["auto", 0.0, 0.3]))
def test_more_columns_never_tell_less_and_no_information_is_negative(table, noise):
    h = gaussian(*table, noise=noise)
    slack = 1e-4 if noise == 0.0 else 1e-12
    assert (h.mi() >= -slack).all()
    assert (h.cmi() >= -slack).all()
    off = ~np.eye(h.n_features, dtype=bool)
    assert (h.pair_mi()[off] >= -slack).all()
    assert (h.pair_cmi()[off] >= -slack).all()


@pytest.mark.parametrize("missing", MISSING)
@given(table=tables(), random=st.randoms())
def test_rows_and_columns_may_come_in_any_order(missing, table, random):
    X, y = table
    m, n = X.shape
    rows, columns = random.sample(range(m), m), random.sample(range(n), n)
    for scores in ("rank", "standard"):
        h = gaussian(X, y, missing=missing, scores=scores).joint_mi()
        turned = gaussian(X[rows][:, columns], y[rows], missing=missing, scores=scores)
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


@pytest.mark.parametrize("y", [np.arange(500) % 2, np.arange(500.0)])
def test_a_copy_adds_almost_nothing_but_shrinkage_takes_it_for_news(y):
    x = np.random.default_rng(0).normal(size=500) + y / y.std()
    X = np.column_stack([x, x])
    h = gaussian(X, y)
    assert 0 < h.cmi()[0, 1] < 0.01 * h.mi()[0]
    shrunk = gaussian(X, y, noise=0, shrinkage=0.05)
    assert shrunk.cmi()[0, 1] > 0.9 * shrunk.mi()[0]


@pytest.mark.parametrize("correction", [None, "chance"])
@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("y", [np.arange(12) % 3, np.arange(12.0)])
def test_columns_that_are_constant_or_unknown_tell_nothing(correction, missing, y):
    X = np.random.default_rng(0).normal(size=(12, 5))
    X[:, 1], X[:, 2] = 7.1, np.nan
    X[1:, 3] = np.nan
    X[5:, 4] = np.nan
    for noise in ("auto", 0):
        h = gaussian(X, y, correction=correction, missing=missing, noise=noise)
        np.testing.assert_allclose(h.mi()[1:4], 0, atol=1e-12)
        np.testing.assert_allclose(h.joint_mi()[0, 1:4], h.mi()[0], atol=1e-12)
        np.testing.assert_allclose(h.pair_mi()[0, 1:4], 0, atol=1e-12)
        assert np.isfinite(h.xxy()).all()


def test_classes_of_one_sample_are_taken_as_they_come():
    X = np.array([[0.0], [1.0], [5.0], [6.0]])
    np.testing.assert_allclose(gaussian(X, np.arange(4)).mi(), 0.5 * np.log(1.25 / 0.25), rtol=1e-6)
    assert np.isfinite(gaussian(X, [0, 0, 0, 1]).joint_mi()).all()
    assert np.isfinite(gaussian(X[:2], [0, 1]).joint_mi()).all()


# blocks, threads and memory


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("measure", NAMED)
def test_blocks_equal_the_whole_matrix(measure, missing):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 700)), np.arange(15) % 3
    X[:, 300:][rng.random((15, 400)) < 0.1] = np.nan
    h = gaussian(X, y, missing=missing, signed=False, correction=None)
    whole = h.measure(measure)
    rows, columns = rng.permutation(700)[:300], rng.integers(0, 700, 5)
    np.testing.assert_array_equal(h.measure(measure, rows), whole[rows])
    np.testing.assert_array_equal(h.measure(measure, None, columns), whole[:, columns])
    np.testing.assert_array_equal(h.measure(measure, rows, columns), whole[np.ix_(rows, columns)])
    assert h.measure(measure, [], columns).shape == (0, 5)
    np.testing.assert_allclose(h.measure(measure, dtype=np.float32), whole, rtol=1e-5, atol=1e-5)
    one = gaussian(X, y, missing=missing, signed=False, n_jobs=1)
    np.testing.assert_array_equal(one.measure(measure), whole)


@pytest.mark.parametrize("y", [np.arange(15) % 3, np.arange(15.0)])
def test_gaps_in_one_column_change_no_pair_of_others(y):
    X = np.random.default_rng(0).normal(size=(15, 6))
    whole = gaussian(X, y, correction="chance").joint_mi()
    X[::4, 2] = np.nan
    gaps = gaussian(X, y, correction="chance", missing="pairwise").joint_mi()
    others = np.ix_([0, 1, 3, 4, 5], [0, 1, 3, 4, 5])
    np.testing.assert_array_equal(gaps[others], whole[others])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"correction": "miller-madow"}, "meant for counts"),
        ({"correction": "luck"}, "unknown correction"),
        ({"scores": "sign"}, "unknown scores"),
        ({"missing": "drop"}, "unknown missing"),
        ({"noise": -1.0}, "noise must be"),
        ({"noise": "loud"}, "noise must be"),
        ({"shrinkage": 2.0}, "shrinkage must lie"),
        ({"y": np.arange(4)}, "one each"),
        ({"y": np.ones(5)}, "y is constant"),
        ({"y": np.arange(5) % 4, "correction": "chance"}, "two samples more than classes"),
    ],
)
def test_bad_input_is_refused_with_advice(options, message):
    with pytest.raises(ValueError, match=message):
        gaussian(np.eye(5), **{"y": np.array([0, 0, 1, 1, 1]), **options})
