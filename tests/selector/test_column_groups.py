"""Columns that are selected together or not at all."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from bestk import (
    METHODS,
    SOLVERS,
    Greedy,
    Quadratic,
    SelectBestK,
    SelectBestKCV,
    error_curves,
    select,
    solve,
    stability_selection,
)
from bestk.methods.foreign import Contracted
from bestk.methods.greedy import CRITERIA, MRMR
from bestk.methods.quadratic import OBJECTIVES
from bestk.tables.dataset import read_groups
from bestk.tables.table import Table

from .conftest import estimates_of

LABELS = np.array([0, 0, 1, 2, 2, 2, 3, 4, 4, 5, 6, 6, 7, 7])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (150, len(LABELS)))
    y = (X[:, 0] + X[:, 3] + X[:, 4] + rng.integers(0, 3, 150)) % 3
    return X, y


def measured(X, y):
    selector = SelectBestK(method="exact", discretizer=None)
    return estimates_of(selector, X, y)


def matrix_of(objective, entropies, k):
    problem, scale = objective.pairs(entropies).problem(k)
    return scale * problem.Q


@pytest.mark.parametrize("objective", sorted(OBJECTIVES))
@pytest.mark.parametrize("k", [1, 3])
def test_the_contracted_matrix_has_the_value_of_the_columns_of_every_choice(table, objective, k):
    entropies = measured(*table)
    base = OBJECTIVES[objective]
    grouped = Contracted(base, LABELS)
    Q = np.array(matrix_of(base, entropies, grouped.columns(k)))
    C = np.array(matrix_of(grouped, entropies, k))
    for groups in combinations(range(8), k):
        columns = np.flatnonzero(np.isin(LABELS, groups))
        assert C[np.ix_(groups, groups)].sum() == pytest.approx(Q[np.ix_(columns, columns)].sum())


@pytest.mark.parametrize("objective", ["cmi", "mrmr", "jmi"])
@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_every_solver_finds_whole_groups_and_never_more_than_the_best_of_them(
    table, objective, solver
):
    X, y = table
    k, entropies = 3, measured(X, y)
    columns = Contracted(OBJECTIVES[objective], LABELS).columns(k)
    assert columns == round(3 * 14 / 8)
    Q = np.array(matrix_of(OBJECTIVES[objective], entropies, columns))

    def value(groups):
        columns = np.flatnonzero(np.isin(LABELS, groups))
        return Q[np.ix_(columns, columns)].sum()

    best = max(combinations(range(8), k), key=value)
    options = {"discretizer": None, "random_state": 0, "column_groups": LABELS}
    found = select(X, y, k, Quadratic(objective, solver), **options)
    chosen = np.unique(LABELS[found.support])
    assert sorted(found.support) == np.flatnonzero(np.isin(LABELS, chosen)).tolist()
    assert len(chosen) == k
    assert found.objective == pytest.approx(value(chosen))
    assert found.details["contribution"].sum() == pytest.approx(found.objective)
    assert found.objective <= value(best) + 1e-9 <= found.upper_bound + 2e-9
    if solver in ("exact", "auto", "search", "swap"):
        assert value(chosen) == pytest.approx(value(best))
    # the same solver, on a matrix made of the values of all single groups and pairs of them
    alone = np.array([value([g]) for g in range(8)])
    both = np.array([[value([g, h]) for h in range(8)] for g in range(8)])
    contracted = (both - alone - alone[:, np.newaxis]) / 2
    np.fill_diagonal(contracted, alone)
    assert {*solve(contracted, k, solver, random_state=0).support} == {*chosen}


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"sdp", "lowrank"}))
def test_every_method_selects_whole_groups(table, name):
    X, y = table
    for k in (1, 4, 8):
        found = select(X, y, k, name, column_groups=LABELS, time_limit=0.5, random_state=0)
        chosen = np.unique(LABELS[found.support])
        assert len(chosen) == k
        assert sorted(found.support) == np.flatnonzero(np.isin(LABELS, chosen)).tolist()


@pytest.mark.parametrize("criterion", [*CRITERIA.values(), MRMR("quotient")], ids=str)
def test_greedy_methods_add_the_group_whose_columns_have_the_largest_sum_of_scores(
    table, criterion
):
    X, y = table
    entropies = measured(X, y)
    columns, groups, sums = [], [], []
    for _ in range(4):
        scores = relevance = entropies.mi()
        if columns and criterion.uses_pairs:
            pairs = [criterion.pair(entropies, j) for j in columns]
            scores = criterion.score(relevance, criterion.gather.reduce(pairs), len(columns))
        totals = {g: scores[g == LABELS].sum() for g in range(8) if g not in groups}
        groups.append(max(totals, key=totals.get))
        sums.append(totals[groups[-1]])
        columns += np.flatnonzero(groups[-1] == LABELS).tolist()
    found = select(X, y, 4, Greedy(criterion), discretizer=None, column_groups=LABELS)
    assert found.support.tolist() == columns
    assert found.objective == pytest.approx(sum(sums))


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
def test_greedy_groups_of_one_column_are_columns(table, criterion):
    X, y = table
    alone = select(X, y, 5, Greedy(criterion))
    grouped = select(X, y, 5, Greedy(criterion), column_groups=range(len(LABELS)))
    assert grouped.support.tolist() == alone.support.tolist()
    np.testing.assert_allclose(grouped.details["contribution"], alone.details["contribution"])


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"sdp", "lowrank"}))
@pytest.mark.parametrize(("k", "k_counts"), [(3, "groups"), (6, "columns")])
def test_blocks_of_rows_have_the_groups_of_the_whole_table(table, name, k, k_counts):
    X, y = table
    options = {"column_groups": LABELS, "k_counts": k_counts, "random_state": 0, "bound": None}
    if name != "auto":
        options["discretizer"] = None
    blocks = [(X[i : i + 40], y[i : i + 40]) for i in range(0, 150, 40)]
    found = SelectBestK(k, name, **options).fit(blocks)
    whole = SelectBestK(k, name, **options).fit(X, y)
    assert found.n_samples_seen_ == 150
    assert found.solution_.support.tolist() == whole.solution_.support.tolist()
    chosen = np.unique(LABELS[found.support_])
    assert found.support_.tolist() == np.isin(LABELS, chosen).tolist()
    assert len(chosen) == k if k_counts == "groups" else found.k_ <= k


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"sdp", "lowrank"}))
def test_a_number_of_columns_is_never_exceeded_and_groups_stay_whole(table, name):
    X, y = table
    options = {"column_groups": LABELS, "k_counts": "columns", "time_limit": 0.5}
    for k in (1, 3, 5, 14):
        found = select(X, y, k, name, random_state=0, **options)
        chosen = np.unique(LABELS[found.support])
        assert sorted(found.support) == np.flatnonzero(np.isin(LABELS, chosen)).tolist()
        assert found.k <= k
    assert found.k == 14


def test_groups_come_from_a_mapping_labels_or_a_separator():
    names = ["age", "job=nurse", "job=cook", "pay=low=er", "pay=low=est", "sex"]
    table = Table(0, names, ())
    assert read_groups("=", table).tolist() == [0, 1, 1, 2, 2, 3]
    assert read_groups({"a": ["age", "sex"], "b": [1]}, table).tolist() == [0, 1, 2, 3, 4, 0]
    assert read_groups(list("xyyzzx"), table).tolist() == [0, 1, 1, 2, 2, 0]
    for groups, says in [
        ({"a": ["age"], "b": ["age"]}, "column 'age' is in the groups 'a' and 'b'"),
        ({"a": ["no"]}, "'no'"),
        ([1, 2], "got 2 labels and 6 columns"),
    ]:
        with pytest.raises(ValueError, match=says):
            read_groups(groups, table)


def test_one_hot_columns_are_selected_as_whole_variables_even_if_one_is_constant_in_a_fold():
    rng = np.random.default_rng(0)
    job = rng.choice(["cook", "nurse", "smith", "clerk"], 240)
    y = np.isin(job, ["cook", "smith"]) ^ (rng.random(240) < 0.1)
    frame = pd.DataFrame({"job": job, "age": rng.normal(size=240), "pay": rng.normal(size=240)})
    hot = pd.get_dummies(frame, prefix_sep="=").assign(**{"job=king": 0})
    selector = SelectBestK(1, column_groups="=").fit(hot, y)
    assert sorted(selector.get_feature_names_out()) == [
        "job=clerk", "job=cook", "job=king", "job=nurse", "job=smith",
    ]  # fmt: skip
    assert selector.transform(hot).shape == (240, 5)
    assert len(selector.solution_.to_frame()) == 5
    two = SelectBestK(6, column_groups="=", k_counts="columns").fit(hot, y)
    assert two.k_ == 6
    assert two.support_[
        [hot.columns.get_loc(name) for name in selector.get_feature_names_out()]
    ].all()
    few = SelectBestK(4, column_groups="=", k_counts="columns").fit(hot, y)
    assert set(few.get_feature_names_out()) == {"age", "pay"}  # the job has five columns


def test_a_part_of_a_group_included_or_excluded_is_all_of_it(table):
    X, y = table
    options = {"column_groups": LABELS, "include": [4], "exclude": [0]}
    found = select(X, y, 3, "mrmr", **options)
    assert {3, 4, 5} <= {*found.support}
    assert not {0, 1} & {*found.support}
    with pytest.raises(ValueError, match="both included and excluded"):
        select(X, y, 3, "mrmr", column_groups=LABELS, include=[4], exclude=[3])
    with pytest.raises(ValueError, match="k=2 is less than the 3 features to include"):
        select(X, y, 2, "mrmr", column_groups=LABELS, include=[4], k_counts="columns")


def test_k_is_chosen_and_errors_are_measured_by_groups():
    X, y = load_breast_cancer(return_X_y=True)
    measurements = np.tile(np.arange(10), 3)  # mean, error and worst of ten
    auto = SelectBestK("auto", "mrmr", column_groups=measurements, cv=3).fit(X, y)
    assert auto.k_ % 3 == 0
    assert list(auto.k_scores_)[-1] == 10
    chosen = SelectBestKCV(GaussianNB(), [1, 2], "mrmr", cv=2, column_groups=measurements)
    assert chosen.fit(X, y).support_.sum() == 3 * chosen.best_k_
    curves = error_curves(X, y, "mrmr", [1, 3], cv=2, random_state=0, column_groups=measurements)
    assert [len(row.support) for row in curves.rows] == [3, 9, 3, 9]
    assert curves.ks == [1, 3]
    found = stability_selection(X, y, 2, "mrmr", n_subsamples=3, column_groups=measurements)
    assert {len(support) for support in found.supports} == {6}
    assert found.false_selections(0.75) == pytest.approx(2**2 / (0.5 * 10))  # 2 of 10 groups
