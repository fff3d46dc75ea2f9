"""The default method: relevance minus redundancy with all selected features, plus synergy."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import f_classif, f_regression

from bestk import Quadratic, SelectBestK, select
from bestk.data.frames import read_table
from bestk.information import reading
from bestk.information.reading import Reading
from bestk.selection import joint
from bestk.selection.joint import Forward, add_features

seeds = st.integers(0, 10**6)


def shared_and_synergy(forward, j):
    """What each column shares with column j about y, and tells only together with it."""
    return forward.effects(j)


def measure(X, y, **options):
    read = Reading("blend", "auto", **options).measure(read_table(X), y)
    return Forward(read.entropies, read.entropies.covariances)


def make_table(seed, m=200, regression=False):
    """Two groups of correlated columns, one category, noise."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(m, 2))
    X = np.hstack([latent[:, [0]] + 0.5 * rng.normal(size=(m, 2)),
                   latent[:, [1]] + 0.5 * rng.normal(size=(m, 2)),
                   rng.normal(size=(m, 2))])  # fmt: skip
    y = latent @ [1.0, 0.8] + rng.normal(size=m)
    return X, y if regression else np.digitize(y, [-0.5, 0.7])


def covariances(X, y, regression):
    """T and W by their definition."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    total = Z.T @ Z / len(Z)
    if regression:
        t = (y - y.mean()) / y.std()
        return total, total - np.outer(Z.T @ t, Z.T @ t) / len(Z) ** 2
    within = sum((y == c).sum() * np.cov(Z[y == c].T, bias=True) for c in np.unique(y))
    return total, within / len(Z)


def shared_curve(forward, T, i, S):
    """The most that the square of column i shares with that of a selected one."""
    most = 0.0
    for j in S:
        q = T[i, j] ** 2 / (T[i, i] * T[j, j])
        e, d = np.sqrt(2 * forward.curved[[i, j]])
        left = max(e - q * d, 0.0) / np.sqrt(1 - q**2)
        most = max(most, forward.curved[i] - left**2 / 2) if d > 0 else most
    return most


def gain(forward, X, y, regression, i, S):
    """What column i gains given the selected columns S, by the formula."""
    T, W = covariances(X, y, regression)

    def gaussian(columns):
        noise = forward.noise * np.eye(len(columns))
        logs = [np.linalg.slogdet(C[np.ix_(columns, columns)] + noise)[1] for C in (T, W)]
        return 0.5 * (logs[0] - logs[1])

    change = gaussian([*S, i]) - gaussian(S) - gaussian([i]) if S else 0.0
    bent = shared_curve(forward, T, i, S)
    c, clearer = forward.chance[i], forward.relevance[i] - bent + max(change, 0.0)
    raised = clearer - 1.5 * c * np.exp(-max(clearer, 0.0) / c)  # with its doubt
    pairs = {j: shared_and_synergy(forward, j) for j in [*S, i]}
    shared = max((pairs[j][0][i] for j in S), default=0.0)
    synergies = [
        sum(max((pairs[a][1][b] for b in items), default=0.0) for a in items)
        for items in (S, [*S, i])
    ]
    certain = forward.certain[i]
    alone = raised if change > 0 or certain <= 0 else certain - bent + change
    if certain > 0:
        alone = min(alone, certain - shared) if shared > 0 else alone
        alone = max(alone, 1e-3 * certain)
    return alone + 0.5 * (synergies[1] - synergies[0])


@pytest.mark.parametrize("regression", [False, True])
@settings(max_examples=15, deadline=None)
@given(seed=seeds)
def test_each_step_adds_the_feature_that_gains_most(regression, seed):
    X, y = make_table(seed, regression=regression)
    forward = measure(X, y, target="continuous" if regression else "classes")
    if forward.starting_pairs():
        return  # pairs may come first
    (steps,) = add_features([forward], 4, ())
    for place, step in enumerate(steps):
        before = [s.added for s in steps[:place]]
        gains = {i: gain(forward, X, y, regression, i, before) for i in range(6) if i not in before}
        assert gains[step.added] >= max(gains.values()) - 1e-9
        np.testing.assert_allclose(step.gain, gains[step.added], atol=1e-6)


@pytest.mark.parametrize("regression", [False, True])
def test_many_moderate_columns_become_clear_as_others_explain_their_noise(regression):
    found = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 100))
        y = X[:, :20].sum(axis=1) + 2 * rng.normal(size=300)
        found.append(select(X, y if regression else y > 0, k=20).support < 20)
    assert np.mean(found) > (0.9 if regression else 0.75)


def test_tables_whose_features_are_added_together_have_the_steps_of_each_by_itself():
    rng = np.random.default_rng(4)
    tables = []
    for pair in ([7, 11], [3, 5], []):  # only some have a pair to add
        X = rng.normal(size=(400, 20))
        y = X[:, 0] + (2 * np.sign(X[:, pair].prod(axis=1)) if pair else X[:, 1])
        tables.append((X, (y > np.median(y)).astype(int)))
    forwards = [measure(*table) for table in tables]
    found = add_features(forwards, 5, [2])
    alone = [measure(*table) for table in tables]
    assert found == [add_features([each], 5, [2])[0] for each in alone]


def test_two_features_that_are_added_together_share_their_gain():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 20))
    y = (X[:, 7] * X[:, 11] > 0).astype(int)
    forward = measure(X, y)
    ((first, second),) = add_features([forward], 2, ())
    assert {first.added, second.added} == {7, 11}
    together = gain(forward, X, y, False, 7, []) + gain(forward, X, y, False, 11, [7])
    np.testing.assert_allclose([first.gain, second.gain], together / 2, atol=1e-6)


def test_redundancy_that_is_not_gaussian_counts():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(2000, 2))
    X = np.column_stack([Z[:, 0], Z[:, 0] ** 3 * 0.1 + np.sign(Z[:, 0]), Z[:, 1]])
    y = (1.5 * Z[:, 0] + Z[:, 1] + rng.logistic(size=2000) > 0).astype(int)
    assert set(SelectBestK(2, bound=None).fit(X, y).solution_.support) in ({0, 2}, {1, 2})
    forward = measure(X, y)
    shared, _ = shared_and_synergy(forward, 0)
    assert shared[1] > 0.5 * forward.certain[1]
    assert shared[2] < 0.05 * forward.certain[2]


def test_redundant_columns_come_before_noise():
    rng = np.random.default_rng(3)
    latent = rng.normal(size=(1000, 2))
    relevant = np.repeat(latent, 5, axis=1) + 0.1 * rng.normal(size=(1000, 10))
    y = latent.sum(axis=1) + 2 * rng.normal(size=1000)
    X = np.hstack([relevant, rng.normal(size=(1000, 60))])
    assert set(SelectBestK(10, bound=None).fit(X, y).solution_.support) == set(range(10))


def test_a_column_that_removes_the_noise_of_another_gains():
    rng = np.random.default_rng(1)
    signal, noise = rng.normal(size=(2, 2000))
    X = np.column_stack([signal + noise, 0.3 * signal + noise, rng.normal(size=(2000, 3))])
    y = signal + 0.5 * rng.normal(size=2000)
    forward = measure(X, y, target="continuous")
    ((first, second),) = add_features([forward], 2, ())
    assert {first.added, second.added} == {0, 1}
    assert second.gain > forward.certain[second.added]


def test_a_column_without_information_of_its_own_gains_if_it_removes_noise():
    rng = np.random.default_rng(2)
    signal, noise = rng.normal(size=(2, 1000))
    X = np.column_stack([signal + noise, noise, rng.normal(size=(1000, 20))])
    y = (signal + rng.normal(size=1000) > 0).astype(int)
    forward = measure(X, y)
    assert forward.certain[1] < 0
    (steps,) = add_features([forward], 2, ())
    assert [step.added for step in steps] == [0, 1]


def test_few_rows_of_numbers_are_measured_by_covariances():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 80)), np.arange(60) % 3
    X[:, :4] += y[:, None]
    found = SelectBestK(4, bound=None).fit(X, y).solution_
    gaussian = SelectBestK(4, Quadratic("shared", "swap"), information="gaussian", bound=None)
    assert found.objective == gaussian.fit(X, y).solution_.objective
    X[0, 0] = np.nan  # a missing value is a level, which counts see
    assert SelectBestK(4, bound=None).fit(X, y).solution_.objective != found.objective


def test_columns_without_information_are_not_preferred_to_correlated_relevant_ones():
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(1500, 5))
    relevant = np.repeat(latent, 3, axis=1) * 0.8 + 0.6 * rng.normal(size=(1500, 15))
    noise = np.repeat(rng.normal(size=(1500, 6)), 5, axis=1) * 0.9 + 0.4 * rng.normal(
        size=(1500, 30)
    )
    y = rng.random(1500) < 1 / (1 + np.exp(1 - 0.5 * latent.sum(axis=1)))
    support = SelectBestK(10, bound=None).fit(np.hstack([relevant, noise]), y).solution_.support
    assert (support < 15).all()
    assert len(set(support // 3)) == 5  # each group is there


def test_doubt_exceeds_the_largest_relevance_by_chance_and_vanishes_with_relevance():
    X, y = make_table(0, m=2000)
    entropies = Reading("blend", "auto").measure(read_table(X), y).entropies
    doubt = entropies.settled_mi() - entropies.certain_mi()
    assert (doubt[4:] > entropies.chance[4:]).all()
    assert (doubt[:4] < 1e-6).all()
    rng = np.random.default_rng(0)
    largest = [
        Reading("blend", "auto").measure(read_table(X), rng.permutation(y)).entropies.mi().max()
        for _ in range(20)
    ]
    assert 0.2 < np.mean(largest) / entropies.chance.mean() < 1.5


def test_copies_come_after_columns_that_add_something():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(800, 3))
    y = Z @ [1.0, 0.7, 0.5] + rng.normal(size=800)
    X = np.column_stack([Z[:, 0], Z[:, 0] * 3 + 1, Z[:, 0], Z[:, 1], Z[:, 2]])
    assert set(SelectBestK(3, bound=None).fit(X, y).solution_.support) == {0, 3, 4}


def test_a_copy_of_a_curved_column_comes_after_a_weak_one():
    # what copies share is not in covariances, and chance takes a part of what counts show
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 30))
    y = 0.4 * X[:, 0] ** 2 + 0.11 * X[:, 1] + rng.normal(size=2000)
    X[:, 2] = 3 - 2 * X[:, 0]
    assert SelectBestK(2).fit(X, y).solution_.support.tolist() == [0, 1]


@pytest.mark.parametrize("seed", [0, 2, 8])
def test_many_classes_give_no_negative_information_of_squares(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(800, 40))
    score = X[:, :6] @ [0.5, 0.4, 0.35, 0.3, 0.25, 0.2] + rng.normal(0, 1, 800)
    y = np.clip(np.round(15 + 5 * score), 0, 30).astype(int)
    selector = SelectBestK(6, target="classes").fit(X, y)  # a warning of numpy is an error here
    assert np.isfinite(selector.scores_).all()
    assert set(selector.solution_.support) == set(range(6))


@pytest.mark.parametrize("n", [50, 600])
def test_a_pair_that_tells_something_only_together_is_found(n):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, n))
    y = (X[:, 7] * X[:, 31] > 0).astype(int)
    found = SelectBestK(2, bound=None).fit(X, y).solution_.support
    assert set(found) == {7, 31}


def test_a_pair_of_columns_that_are_not_among_the_most_relevant_is_found(monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 300))
    y = (X[:, 7] * X[:, 31] > 0).astype(int)
    monkeypatch.setattr(joint, "MAX_SCANNED_PAIRS", 300 * 5)
    found = SelectBestK(2, bound=None).fit(X, y).solution_.support
    assert set(found) == {7, 31}
    found = SelectBestK(2, bound=None, time_limit=1e-6).fit(X, y).solution_.support
    assert set(found) != {7, 31}


def test_pairs_are_the_same_whether_codes_are_kept_or_made_for_the_scan(monkeypatch):
    rng = np.random.default_rng(6)
    X = pd.DataFrame(rng.normal(size=(500, 60))).add_prefix("x")
    y = (X["x7"] * X["x31"] > 0).astype(int)
    X = X.mask(rng.random(X.shape) < 0.02)
    X["x5"], X["town"] = X["x5"].round(), rng.choice(list("abcde"), 500)
    found = measure(X, y).entropies.find_synergy(20)
    monkeypatch.setattr(reading, "MAX_SCANNED_PAIRS", 300)  # codes are kept above
    own = measure(X, y).entropies.find_synergy(20)
    assert found.pairs[0].tolist() == [7, 31]
    np.testing.assert_array_equal(own.pairs, found.pairs)
    np.testing.assert_array_equal(own.synergy, found.synergy)


def test_one_feature_of_a_pair_gives_way_to_the_best_single_one():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(800, 20))
    y = (np.sign(X[:, 1] * X[:, 2]) + 0.8 * X[:, 5] > 0).astype(int)
    assert SelectBestK(1, bound=None).fit(X, y).solution_.support.tolist() == [5]
    assert set(SelectBestK(3, bound=None).fit(X, y).solution_.support) == {1, 2, 5}


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_the_order_of_rows_and_columns_changes_nothing(seed):
    X, y = make_table(seed)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    one = SelectBestK(3, bound=None).fit(X, y).solution_
    other = SelectBestK(3, bound=None).fit(X[rows][:, columns], y[rows]).solution_
    assert set(columns[other.support]) == set(one.support)
    np.testing.assert_allclose(one.objective, other.objective, rtol=1e-9)


def test_a_category_of_many_levels_that_matters_is_selected():
    rng = np.random.default_rng(4)
    city = np.minimum(rng.zipf(1.3, 3000), 500) - 1
    effect = rng.normal(size=500)
    z = 0.9 * effect[city] + 0.3 * rng.normal(size=3000)
    X = [[f"c{c}", *row] for c, row in zip(city, rng.normal(size=(3000, 15)), strict=True)]
    y = (z + rng.logistic(size=3000) > 0).astype(int)
    assert SelectBestK(1, bound=None).fit(X, y).solution_.support.tolist() == [0]


@given(seed=seeds, regression=st.booleans())
def test_effects_of_one_column_are_those_of_all_at_once(seed, regression):
    forward = measure(*make_table(seed, regression=regression))
    whole = [np.array(found) for found in zip(*map(forward.effects, range(6)), strict=True)]
    forward._are_small = False
    alone = [np.array(found) for found in zip(*map(forward.effects, range(6)), strict=True)]
    np.testing.assert_array_equal(whole, alone)


@given(st.integers(0, 1000), st.booleans())
@settings(max_examples=20, deadline=None)
def test_settled_relevance_lies_between_the_normal_estimate_and_the_mean_of_all(seed, regression):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(250, 6))
    y = X[:, 0] + np.abs(X[:, 1]) + 0.3 * X[:, 2] + rng.normal(size=250)
    y = y if regression else (y > 0).astype(int)
    mean = Reading("blend", "auto").measure(read_table(X), y).entropies
    means = [np.polyval(np.polyfit(y, x, 1), y) for x in X.T]  # of two classes a line is enough
    within = [np.var(x - mean) / np.var(x) for x, mean in zip(X.T, means, strict=True)]
    normal = -0.5 * np.log(within) - 0.5 / 250
    settled, away = mean.settled_mi(), mean.mi() - normal
    n_classes = 5 if regression else 2
    limit = 1.25 / 3 * np.sqrt((mean.levels - 1) * (n_classes - 1) / 2) / 250
    by_chance = (np.sqrt(np.log(6)) + np.log(6)) / 250
    slow = []
    for n, d, e, bend in zip(normal, away, limit, curvature_by_hand(X, y, regression), strict=True):
        curved = max(bend, 0.0) * max(0.0, 1 - (0.5 * by_chance / bend) ** 2)
        if not regression:
            curved = min(curved, max(1.5 * d, 0.0) + e)  # counts do not contradict it
        d = d - curved * 2 / 3  # the normal one of three estimates has it
        slow.append(n + curved + d * max(0.0, 1 - (e / d) ** 2))
    np.testing.assert_allclose(settled, slow, atol=1e-6)


def curvature_by_hand(X, y, regression):
    """What squares of scores, at most 2.5, explain beside the scores, above its expectation."""
    found = []
    for x in X.T:
        z = (x - x.mean()) / x.std()
        q = np.minimum(np.abs(z), 2.5) ** 2
        given = np.column_stack([np.ones(len(y)), y if regression else np.eye(y.max() + 1)[y]])
        left = []
        for model in (given[:, :1], given):
            rest = [v - model @ np.linalg.lstsq(model, v, rcond=None)[0] for v in (z, q)]
            slope = rest[0] @ rest[1] / (rest[0] @ rest[0])
            left.append(np.var(rest[1] - slope * rest[0]))
        parameters = 1 if regression else y.max()
        found.append(0.5 * np.log(left[0] / left[1]) - 0.5 * parameters / len(y))
    return found


@pytest.mark.parametrize("regression", [False, True])
@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_curvature_is_the_information_of_squares_beside_that_of_scores(regression, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(120, 4))
    y = np.abs(X[:, 0]) + X[:, 1] + rng.normal(size=120)
    y = y if regression else np.digitize(y, np.quantile(y, [0.3, 0.6]))
    target = "continuous" if regression else "classes"
    entropies = Reading("blend", "auto", target=target).measure(read_table(X), y).entropies
    slow = curvature_by_hand(X, y, regression)
    np.testing.assert_allclose(entropies.curvature, slow, atol=1e-6)


def test_columns_of_one_or_two_values_have_no_curvature():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = np.column_stack([np.ones(300), y, rng.integers(0, 2, 300), rng.normal(size=300)])
    curvature = Reading("blend", "auto").measure(read_table(X), y).entropies.curvature
    assert (curvature[:3] == 0).all()
    assert curvature[3] != 0


@pytest.mark.parametrize("regression", [False, True])
def test_columns_that_matter_at_both_ends_are_found(regression):
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(800, 40))
        score = (X[:, :8] ** 2 @ rng.choice([-1.0, -0.7, 0.7, 1.0], 8)) / 3
        y = score + 1.2 * rng.normal(size=800)
        found.append(select(X, y if regression else y > np.median(y), k=8).support < 8)
    assert np.mean(found) > 0.9


@pytest.mark.parametrize("regression", [False, True])
def test_columns_that_share_a_curved_relation_come_after_others(regression):
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        latent = rng.normal(size=(2000, 4))
        X = np.repeat(latent, 3, axis=1) + 0.25 * rng.normal(size=(2000, 12))
        score = (latent**2).sum(axis=1) / 3
        y = score + rng.normal(size=2000)
        y = y if regression else y > np.median(y)
        found.append(len(set(select(X, y, k=4).support // 3)) / 4)
    assert np.mean(found) > 0.9


@pytest.mark.parametrize("regression", [False, True])
def test_weak_straight_relations_are_found_about_as_often_as_by_f_tests(regression):
    ours, theirs = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1000, 50))
        y = X[:, :10].sum(axis=1) + 9 * rng.normal(size=1000)
        y = y if regression else y > 0
        scores = (f_regression if regression else f_classif)(X, y)[0]
        ours.append(select(X, y, k=10).support < 10)
        theirs.append(np.argsort(-scores)[:10] < 10)
    assert np.mean(ours) > np.mean(theirs) - 0.05
