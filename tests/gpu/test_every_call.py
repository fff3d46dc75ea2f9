"""Every public call that takes a backend gives on a GPU what it gives on the CPU: make test-gpu.

Without a GPU the same calls are made by PyTorch on the CPU.
"""

import inspect

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import bestk
from bestk import (
    BQP,
    METHODS,
    Entropies,
    SelectBestK,
    SelectBestKCV,
    SelectRelevant,
    cmi_matrix,
    encode,
    error_curves,
    joint_mi_matrix,
    mutual_information,
    pair_scan,
    select,
    solve,
    stability_selection,
    upper_bound,
)
from bestk.errors import ParameterError
from bestk.information import Query
from bestk.information.measures import INTERACTION, SYMMETRIC_CMI
from bestk.information.scan import scan_pairs
from bestk.tables.target import read_classes

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch")

HAS_GPU = torch.cuda.is_available()
BACKEND = "torch:cuda" if HAS_GPU else "torch:cpu"
CLOSE = {"rtol": 1e-9, "atol": 1e-12}  # logarithms of covariances may differ in the last bit
CODED = ("bits", "levels", "many levels")
KINDS = (*CODED, "numbers", "gaps")
# Columns of wide tables: on the CPU PyTorch is slow, and these are no more than a rehearsal.
WIDE = 20_000 if HAS_GPU else 300
WIDEST = 131_072 if HAS_GPU else 400
TAKING_BACKENDS = {"SelectBestK", "SelectBestKCV", "SelectRelevant"}
# These hand their options on to one of those, or to ``Entropies.count``.
PASSING_BACKENDS = {
    "cmi_matrix",
    "error_curves",
    "joint_mi_matrix",
    "mutual_information",
    "pair_scan",
    "select",
    "stability_selection",
}


def table(kind, rows=300, columns=40, seed=0):
    """Columns of one kind, and three classes that depend on the first ones, alone and in a pair."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(rows, columns))
    y = (scores[:, 0] + 0.5 * rng.normal(size=rows) > 0).astype(int)
    y += (scores[:, 1] * scores[:, 2] > 0).astype(int)
    if kind == "bits":
        return (scores > 0).astype(np.int8), y
    if kind == "levels":
        return np.clip(np.round(1.5 * scores), -2, 2).astype(int) + 2, y
    if kind == "many levels":
        return np.round(40 * scores).astype(int) % 90, y
    if kind == "gaps":
        scores[rng.random(scores.shape) < 0.1] = np.nan
    return scores, y


def same(found, expected):
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


def on_both(call):
    """What a call returns with the default backend, and with the other one."""
    return call(backend="native"), call(backend=BACKEND)


def test_every_public_call_with_a_backend_is_tried_here():
    taking, passing = set(), set()
    for name in bestk.__all__:
        value = getattr(bestk, name)
        if not callable(value):
            continue
        try:
            parameters = inspect.signature(value).parameters
        except ValueError:
            continue
        if "backend" in parameters:
            taking.add(name)
        elif "options" in parameters:
            passing.add(name)
    assert taking == TAKING_BACKENDS
    assert passing == PASSING_BACKENDS


@pytest.mark.parametrize("kind", CODED)
@pytest.mark.parametrize("correction", [None, "chance", "miller-madow"])
@pytest.mark.parametrize("function", [cmi_matrix, joint_mi_matrix, mutual_information])
def test_matrices_are_the_same_to_the_last_bit(function, correction, kind):
    X, y = table(kind)
    own, found = on_both(lambda backend: function(X, y, correction=correction, backend=backend))
    same(found, own)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", sorted(set(METHODS) - {"exact", "lowrank", "sdp"}))
def test_every_method_selects_the_same(method, kind):
    X, y = table(kind)
    own, found = on_both(
        lambda backend: SelectBestK(6, method=method, backend=backend, random_state=0).fit(X, y)
    )
    same(found.solution_.support, own.solution_.support)
    np.testing.assert_allclose(found.scores_, own.scores_, **CLOSE)
    np.testing.assert_allclose(found.solution_.objective, own.solution_.objective, **CLOSE)
    np.testing.assert_allclose(found.solution_.upper_bound, own.solution_.upper_bound, rtol=1e-6)


@pytest.mark.parametrize("information", ["discrete", "gaussian", "blend"])
@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_every_kind_of_information_and_target_selects_the_same(information, target):
    X, y = table("numbers")
    if target == "numbers":
        y = y + np.random.default_rng(1).normal(size=len(y))
    own, found = on_both(
        lambda backend: select(
            X, y, 5, "mrmr-global", information=information, backend=backend, random_state=0
        )
    )
    same(found.support, own.support)


OPTIONS = {
    "include and exclude": ({"include": [7], "exclude": [0]}, {}),
    "column groups": ({"column_groups": np.repeat(np.arange(20), 2)}, {}),
    "automatic k": ({"k": "auto"}, {}),
    "categories": ({"categorical_features": [3, 4]}, {}),
}


@pytest.mark.parametrize("method", ["auto", "jmi", "tpower"])
def test_weights_are_refused_on_a_gpu(method):
    X, y = table("levels")
    selector = SelectBestK(6, method=method, backend=BACKEND, random_state=0)
    with pytest.raises(ParameterError, match="sample_weight gives them different weights"):
        selector.fit(X, y, sample_weight=np.arange(len(y)) % 3 + 1)


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("method", ["auto", "jmi", "tpower"])
@pytest.mark.parametrize("kind", ["levels", "numbers"])
def test_options_of_a_selection_work_the_same(option, method, kind):
    X, y = table(kind)
    if option == "categories":
        X = np.abs(np.round(X))
    settings, of_fit = OPTIONS[option]
    settings = {"k": 4, **settings}
    own, found = on_both(
        lambda backend: SelectBestK(**settings, method=method, backend=backend, random_state=0).fit(
            X, y, **of_fit
        )
    )
    same(found.solution_.support, own.solution_.support)


def test_blocks_of_rows_and_several_targets_select_the_same():
    X, y = table("numbers")

    def in_blocks(backend):
        selector = SelectBestK(4, backend=backend, random_state=0)
        for rows in np.array_split(np.arange(len(y)), 3):
            selector.partial_fit(X[rows], y[rows])
        return selector.transform(X)

    own, found = on_both(in_blocks)
    same(found, own)
    targets = np.column_stack([y, X[:, 5] > 0])
    for multioutput in ("sum", "min", "union"):
        own, found = on_both(
            lambda backend, how=multioutput: select(
                X, targets, 4, multioutput=how, backend=backend, random_state=0
            )
        )
        same(found.support, own.support)


def test_estimates_by_resampling_are_the_same():
    X, y = table("numbers", columns=15)
    estimator = GaussianNB()
    own, found = on_both(
        lambda backend: SelectBestKCV(estimator, [2, 4], cv=3, backend=backend, random_state=0).fit(
            X, y
        )
    )
    same(found.get_support(), own.get_support())
    own, found = on_both(
        lambda backend: stability_selection(X, y, 4, n_subsamples=6, backend=backend)
    )
    same(found.frequencies, own.frequencies)
    own, found = on_both(
        lambda backend: error_curves(X, y, ["auto", "jmi"], [2, 4], cv=3, backend=backend,
                                     random_state=0)
    )  # fmt: skip
    same(found.errors("jmi"), own.errors("jmi"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pairs", [False, True])
def test_relevant_features_are_the_same(kind, pairs):
    X, y = table(kind, columns=60)
    own, found = on_both(
        lambda backend: SelectRelevant(pairs=pairs, permutations=2, backend=backend).fit(X, y)
    )
    np.testing.assert_allclose(found.pvalues_, own.pvalues_, **CLOSE)
    same(found.support_, own.support_)
    same(found.partners_, own.partners_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("top", [1, 50, 10_000])
def test_the_best_pairs_are_the_same(kind, top):
    X, y = table(kind, columns=60)
    own, found = on_both(lambda backend: pair_scan(X, y, top=top, backend=backend))
    same(found.pairs, own.pairs)
    same(found.information, own.information)
    same(found.synergy, own.synergy)
    same(found.pvalues, own.pvalues)


@pytest.mark.parametrize("columns", [2, 3, 130, 700, 3000])
@pytest.mark.parametrize("top", [1, 200])
def test_the_best_pairs_of_bits_are_the_same_in_tables_of_every_width(columns, top):
    X, y = table("bits", columns=max(columns, 3))
    X = X[:, :columns]
    X[:, columns // 2 :] = X[:, : -(-columns // 2)]  # pairs that are equal: the lowest index wins
    own, found = on_both(lambda backend: pair_scan(X, y, top=top, backend=backend))
    same(found.pairs, own.pairs)
    same(found.information, own.information)


@pytest.mark.parametrize("columns", [1, 2, 130, 700])
@pytest.mark.parametrize("top", [0, 1, 20])
def test_a_scan_with_and_without_pairs_is_the_same_in_every_group(columns, top):
    X, y = table("bits", columns=max(columns, 3))
    X = X[:, :columns]
    target = read_classes(y, len(y))
    for groups in (np.zeros(columns, np.int64), np.arange(columns) % min(3, columns)):
        own, found = on_both(
            lambda backend, groups=groups: scan_pairs(
                Entropies.count(encode(X), target, backend), groups, top
            )
        )
        for mine, theirs in zip(own, found, strict=True):
            same(theirs, mine)


@pytest.mark.parametrize("kind", CODED)
def test_summaries_and_matrices_that_stay_on_the_device_are_the_same(kind):
    X, y = table(kind, columns=150)
    codes, target = encode(X), read_classes(y, len(y))
    own, found = on_both(lambda backend: Entropies.count(codes, target, backend))
    for measure in (SYMMETRIC_CMI, INTERACTION):
        same(found.row_sums(measure), own.row_sums(measure))
        expected = own.measure(measure, signed=True)
        query = Query(measure, lowest=-np.inf)
        same(found.source.matrix(query).cpu().numpy(), expected)


def test_a_wide_table_of_bits_selects_the_same_and_scans_all_pairs():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, WIDE), dtype=np.int8)
    y = X[:, 11] ^ X[:, 12]
    y = np.where(rng.random(400) < 0.05, 1 - y, y)
    for backend in ("native", BACKEND):
        found = pair_scan(X, y, top=3, backend=backend)
        assert found.pairs[0].tolist() == [11, 12]
    own, found = on_both(
        lambda backend: SelectBestK(5, method="jmi", backend=backend).fit(X, y).solution_
    )
    same(found.support, own.support)
    own, found = on_both(lambda backend: SelectRelevant(permutations=0, backend=backend).fit(X, y))
    np.testing.assert_allclose(found.pvalues_, own.pvalues_, **CLOSE)
    same(found.partners_, own.partners_)
    assert {11, 12} <= set(np.flatnonzero(found.support_))


@pytest.mark.parametrize("kind", ["bits", "numbers"])
def test_relevant_pairs_are_found_among_very_many_columns(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((833, WIDEST), dtype=np.float32)
    y = (X[:, 3] > 0) ^ (X[:, WIDEST - 5] > 0)
    if kind == "bits":
        X = (X > 0).astype(np.int8)
    found = SelectRelevant(permutations=0, backend=BACKEND).fit(X, y)
    assert {3, WIDEST - 5} <= set(np.flatnonzero(found.support_))
    assert found.partners_[3] == WIDEST - 5


def test_an_interaction_in_a_wide_table_is_found_by_the_default():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(833, WIDE // 4))
    y = X[:, 30] * X[:, 40] > 0
    X = np.asfortranarray(X)
    own, found = on_both(lambda backend: SelectBestK(2, backend=backend).fit(X, y).solution_)
    same(found.support, own.support)


def test_a_tight_bound_on_a_gpu_is_a_bound():
    n = 2_100 if HAS_GPU else 60
    factor = np.abs(np.random.default_rng(0).normal(size=(n, 3)))
    problem = BQP(factor @ factor.T, 10)
    best = solve(problem, solver="search", random_state=0, bound=None).objective
    bound = upper_bound(problem, "dnn", time_limit=15, best_known=best)
    assert best * (1 - 1e-9) <= bound <= 1.05 * best
