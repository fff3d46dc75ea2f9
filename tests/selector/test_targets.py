"""Several targets: the sum of their objectives, the smallest of them, or a selection for each."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB

from bestk import (
    METHODS,
    Greedy,
    Quadratic,
    SelectBestK,
    SelectBestKCV,
    SelectionWarning,
    SelectRelevant,
    select,
    stability_selection,
)
from bestk.methods.foreign import Contracted
from bestk.methods.greedy import get_criterion
from bestk.methods.quadratic import OBJECTIVES

from .conftest import estimates_of

N = 9


def made(seed, rows=150):
    """A discrete table, and three targets that need different columns of it."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (rows, N))
    noise = rng.integers(0, 3, (rows, 3))
    Y = (X[:, [0, 2, 4]] + X[:, [1, 3, 4]] * (noise > 1) + (noise == 0)) % 3
    return X, Y


def parts_of(X, Y, method="exact"):
    """The entropies with each target."""
    options = SelectBestK(method=method, discretizer=None)
    return [estimates_of(options, X, y) for y in Y.T]


def matrices(objective, parts, k):
    """Q of each target."""
    found = []
    for part in parts:
        problem, scale = objective.pairs(part).problem(k)
        found.append(scale * np.array(problem.Q))
    return np.array(found)


def values_of(Q, items):
    return Q[:, items][:, :, items].sum(axis=(1, 2))


@pytest.mark.parametrize("objective", sorted(OBJECTIVES))
@pytest.mark.parametrize("k", [1, 3])
def test_the_sum_and_the_smallest_are_those_of_brute_force(objective, k):
    X, Y = made(0)
    parts = parts_of(X, Y, Quadratic(objective, "exact"))
    Q, entropy = matrices(OBJECTIVES[objective], parts, k), np.array([part.y for part in parts])
    choices = [list(items) for items in combinations(range(N), k)]
    values = np.array([values_of(Q, items) for items in choices])
    method, options = Quadratic(objective, "exact"), {"discretizer": None, "bound": None}
    total = select(X, Y, k, method, **options)
    assert total.objective == pytest.approx(values.sum(axis=1).max())
    assert total.details["contribution"].sum() == pytest.approx(total.objective)
    assert total.upper_bound == pytest.approx(total.objective)
    worst = select(X, Y, k, method, multioutput="min", **options)
    best = (values / entropy).min(axis=1).max()
    assert worst.objective == pytest.approx(best)
    assert worst.upper_bound >= best - 1e-9
    found = values_of(Q, worst.support.tolist()) / entropy
    assert worst.objective == pytest.approx(found.min())
    np.testing.assert_allclose(worst.details["target_objectives"], found)
    assert worst.details["contribution"].sum() == pytest.approx(worst.objective)


@pytest.mark.parametrize("solver", ["swap", "search", "exact"])
def test_no_choice_exceeds_the_bound_of_the_smallest_objective(solver):
    optimal = 0
    for seed in range(8):
        X, Y = made(seed)
        parts = parts_of(X, Y)
        Q, entropy = matrices(OBJECTIVES["cmi"], parts, 4), np.array([part.y for part in parts])
        best = max(
            (values_of(Q, list(items)) / entropy).min() for items in combinations(range(N), 4)
        )
        options = {"discretizer": None, "random_state": 0}
        found = select(X, Y, 4, Quadratic("cmi", solver), multioutput="min", **options)
        assert found.objective <= best + 1e-9 <= found.upper_bound + 2e-9
        optimal += found.objective >= best - 1e-9
    assert optimal == 8


@pytest.mark.parametrize("multioutput", ["sum", "min"])
@pytest.mark.parametrize("criterion", ["maxrel", "mrmr", "jmi", "cmim"])
def test_greedy_criteria_add_the_best_feature_for_all_targets(criterion, multioutput):
    X, Y = made(1)
    parts, rule = parts_of(X, Y), get_criterion(criterion)
    picked, totals, objective = [], np.zeros(3), 0.0
    for _ in range(4):
        scores = []
        for part in parts:
            gathered = None
            for j in picked if rule.uses_pairs else ():
                column = rule.pair(part, j)
                gathered = column if gathered is None else rule.gather(gathered, column)
            first = not picked or not rule.uses_pairs
            scores.append(part.mi() if first else rule.score(part.mi(), gathered, len(picked)))
        scores, entropy = np.array(scores), np.array([part.y for part in parts])
        after = totals[:, None] + scores
        joined = scores.sum(axis=0)
        if multioutput == "min":
            now, H = np.maximum(totals, 0)[:, None], entropy[:, None]
            joined = (
                np.log1p(100 * (now + np.maximum(scores, 0)) / H) - np.log1p(100 * now / H)
                + np.minimum(scores, 0) / H
            ).sum(axis=0)  # fmt: skip
        joined[picked] = -np.inf
        picked.append(int(np.argmax(joined)))
        totals = after[:, picked[-1]]
        objective += joined[picked[-1]]
    options = {"discretizer": None, "multioutput": multioutput}
    found = select(X, Y, 4, Greedy(criterion), **options)
    assert found.support.tolist() == picked
    assert found.objective == pytest.approx(objective)


@pytest.mark.parametrize("multioutput", ["sum", "min", "union"])
@pytest.mark.parametrize("method", ["auto", "mrmr", "tpower", "qpfs"])
def test_copies_of_a_target_change_nothing(method, multioutput):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = (X[:, 1] + X[:, 3] + X[:, 5] * X[:, 6] + 0.5 * rng.normal(size=300) > 0).astype(int)
    one = select(X, y, 4, method)
    two = select(X, np.column_stack([y, y]), 4, method, multioutput=multioutput)
    assert sorted(two.support) == sorted(one.support)


def test_the_union_is_that_of_a_selection_for_each_target():
    X, Y = made(2)
    each = [select(X, y, 2, "mrmr") for y in Y.T]
    found = select(X, Y, 2, "mrmr", multioutput="union")
    assert set(found.support) == {i for one in each for i in one.support}
    assert found.details["supports"] == [one.support.tolist() for one in each]
    assert found.support[0] == each[0].support[0]
    assert found.objective == pytest.approx(sum(one.objective for one in each))
    assert found.details["contribution"].sum() == pytest.approx(found.objective)
    selector = SelectBestK(2, "mrmr", multioutput="union").fit(X, Y)
    assert selector.transform(X).shape == (150, found.k)
    assert selector.k_ == found.k > 2
    np.testing.assert_allclose(
        selector.scores_, sum(SelectBestK(2, "mrmr").fit(X, y).scores_ for y in Y.T)
    )


@pytest.mark.parametrize("multioutput", ["sum", "min", "union"])
@pytest.mark.parametrize("name", sorted(set(METHODS) - {"sdp", "lowrank"}))
def test_every_method_takes_several_targets(name, multioutput):
    X, Y = made(3)
    options = {"multioutput": multioutput, "time_limit": 0.5, "random_state": 0, "include": [8]}
    if name != "auto":
        options["discretizer"] = None
    found = select(X, Y, 3, name, **options)
    assert 8 in found.support
    assert found.k == 3 or multioutput == "union"
    groups = [0, 0, 1, 1, 2, 2, 3, 3, 4]
    options = {"multioutput": multioutput, "time_limit": 0.5, "random_state": 0}
    grouped = select(X, Y, 2, name, column_groups=groups, **options)
    assert all((i ^ 1) in grouped.support for i in grouped.support if i < 8)


def test_groups_of_columns_are_those_of_brute_force_too():
    X, Y = made(4)
    labels = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4])
    parts = parts_of(X, Y)
    Q = matrices(Contracted(OBJECTIVES["cmi"], labels), parts, 2)
    entropy = np.array([part.y for part in parts])
    values = np.array([values_of(Q, list(items)) for items in combinations(range(5), 2)])
    options = {"discretizer": None, "column_groups": labels}
    assert select(X, Y, 2, "exact", **options).objective == pytest.approx(values.sum(axis=1).max())
    worst = select(X, Y, 2, "exact", multioutput="min", **options)
    assert worst.objective == pytest.approx((values / entropy).min(axis=1).max())


def test_lazy_matrices_are_added_up_like_whole_ones(monkeypatch):
    X, Y = made(5)
    expected = [select(X, Y, 3, Quadratic("cmi", "swap"), multioutput=how, bound=None)
                for how in ("sum", "min")]  # fmt: skip
    monkeypatch.setattr("bestk.methods.registry.MAX_DENSE_FEATURES", 2)
    for how, one in zip(("sum", "min"), expected, strict=True):
        found = select(X, Y, 3, Quadratic("cmi", "swap"), multioutput=how, bound=None)
        assert found.support.tolist() == one.support.tolist()
        assert found.objective == pytest.approx(one.objective)


def test_classes_and_numbers_stand_side_by_side_in_any_container():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 6)), columns=list("abcdef"))
    Y = pd.DataFrame(
        {"kind": np.where(X.b > 0, "x", "y"), "size": X.d + 0.1 * rng.normal(size=200)}
    )
    found = SelectBestK(2).fit(X, Y)
    assert set(found.get_feature_names_out()) == {"b", "d"}
    for other in (pl.from_pandas(Y), Y.to_numpy().tolist(), Y.to_numpy()):
        assert select(X, other, 2).support.tolist() == found.solution_.support.tolist()
    labels = np.column_stack([X.b > 0, X.d > 0]).astype(int)
    dense = SelectBestK(2, "jmi").fit(X, labels)
    sparse = SelectBestK(2, "jmi").fit(X, csr_array(labels))
    np.testing.assert_array_equal(dense.scores_, sparse.scores_)
    one = SelectBestK(2).fit(X, Y[["size"]])
    np.testing.assert_array_equal(one.scores_, SelectBestK(2).fit(X, Y["size"]).scores_)


def test_the_worst_target_gains_at_the_cost_of_the_sum():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10))
    easy = [X[:, i] + X[:, i + 1] > 0 for i in (0, 2, 4)]
    hard = X[:, 8] + 1.5 * rng.normal(size=400) > 0
    Y = np.column_stack([*easy, hard]).astype(int)
    total, worst = (SelectBestK(4, multioutput=how).fit(X, Y) for how in ("sum", "min"))
    assert not total.support_[8]
    assert worst.support_[8]


def test_whole_weights_select_as_repeated_rows_do_for_several_targets():
    X, Y = made(6)
    weights = np.arange(150) % 3
    rows = np.repeat(np.arange(150), weights)
    for how in ("sum", "min", "union"):
        weighted = select(X, Y, 3, "mrmr", sample_weight=weights, multioutput=how)
        expected = select(X[rows], Y[rows], 3, "mrmr", multioutput=how)
        assert weighted.support.tolist() == expected.support.tolist()
        assert weighted.objective == pytest.approx(expected.objective)


def test_k_is_chosen_and_subsamples_are_drawn_with_several_targets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    Y = np.column_stack([X[:, 0] > 0, X[:, 3] > 0]).astype(int)
    auto = SelectBestK("auto", "mrmr", cv=3).fit(X, Y)
    assert set(np.flatnonzero(auto.support_)) >= {0, 3}
    found = stability_selection(X, Y, 2, "mrmr", n_subsamples=4)
    assert found.selected(0.9).tolist() == [0, 3]
    model = MultiOutputClassifier(GaussianNB())
    chosen = SelectBestKCV(model, [1, 2, 4], "mrmr", cv=3, scoring="accuracy").fit(X, Y)
    assert chosen.best_k_ >= 2
    assert chosen.predict(X).shape == Y.shape
    numbers = X[:, [0, 3]] + 0.1 * rng.normal(size=(120, 2))
    forest = RandomForestRegressor(10, random_state=0)
    chosen = SelectBestKCV(forest, [1, 2], "mrmr", cv=3).fit(X, numbers)
    assert chosen.support_.tolist() == [True, False, False, True, False, False]


def test_warnings_are_those_of_any_target_but_chance_is_for_all():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] + rng.normal(size=300) > 0]).astype(int)
    with pytest.warns(SelectionWarning) as caught:
        SelectBestK(4, "maxrel").fit(X, Y)
    text = str(caught[0].message)
    assert "'x0': nearly determines the target" in text
    assert "'x1'" not in text
    assert "chance" in text


def test_selectors_of_other_libraries_get_all_targets_at_once():
    X, Y = made(7)
    forest = RandomForestClassifier(10, random_state=0)
    for selector in (SelectFromModel(forest), RFE(forest), lambda X, y, k: range(y.shape[1])):
        assert select(X, Y, 3, selector).k == 3
    assert select(X, Y, 1, RFE(forest), multioutput="union").k >= 1
    with pytest.raises(ValueError, match="multioutput='min' needs a method of bestk"):
        select(X, Y, 3, RFE(forest), multioutput="min")


def test_errors_say_what_takes_one_target_only(tmp_path):
    X, Y = made(8)
    with pytest.raises(ValueError, match=r"y should be a 1d array.*\(150, 3\)"):
        SelectRelevant().fit(X, Y)
    with pytest.raises(ValueError, match="150"):
        SelectBestK(2).fit(X, Y[:100])
    with pytest.raises(ValueError, match="one class only"):
        SelectBestK(2).fit(X, np.column_stack([Y[:, 0], np.zeros(150)]))
    with pytest.raises(ValueError, match="multioutput"):
        SelectBestK(2, multioutput="mean").fit(X, Y)
