"""The mean of several estimates: of each pair, of those that know both of its columns."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk.discretize import MDLP, EqualFrequency
from bestk.information import (
    BlendedSource,
    Entropies,
    GaussianSource,
    Query,
    ScoredTable,
    _blend,
    measures,
)
from bestk.information.entropy_reader import EntropyReader
from bestk.methods.quadratic import OBJECTIVES
from bestk.tables.codes import encode
from bestk.tables.frames import read_table
from bestk.tables.target import NumericTarget, parse_target, read_classes

BIT = np.log(2)
NEAR = {"rtol": 1e-10, "atol": 1e-12}
MEASURES = [
    measures.PAIR_MI,
    measures.PAIR_CMI,
    measures.JOINT_MI,
    measures.CMI,
    measures.SYMMETRIC_CMI,
    OBJECTIVES["balanced"].measure,
]
seeds = st.integers(0, 2**32 - 1)


def count(X, y, correction=None):
    return Entropies.count(encode(X), read_classes(y, len(y)), correction=correction).source


def draw(seed, m=60, n=7):
    """Numbers of which some say something, one is constant and one has gaps; and classes."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(m) % 3)
    X = rng.normal(size=(m, n)) + rng.random(n) * y[:, None]
    X[:, 2] = 1.5
    X[rng.random(m) < 0.2, 3] = np.nan
    return X, y


def parts_of(X, y):
    """Two counts and a covariance estimate, made by hand."""
    target = read_classes(y, len(y))
    counts = [
        count(discretizer.fit_transform(X, y), y, "chance")
        for discretizer in (MDLP(), EqualFrequency())
    ]
    return [*counts, GaussianSource(ScoredTable(X, target, "standard"))]


def whole(source, measure):
    out = np.empty((source.n_features, source.n_features))
    source.fill(Query(measure), out)
    return out


def mi(source):
    x, xy, y = source.singles
    return x + y - xy


def blend(X, y, **options):
    return EntropyReader("blend", "auto", **options).measure(read_table(X), y)


def some_blend(seed, known=(0, 2, 3, 6)):
    X, y = draw(seed)
    one, other, _ = parts_of(X, y)
    known = np.array(known, np.int64)
    if not len(known):
        return BlendedSource([one, other])
    partial = GaussianSource(ScoredTable(X[:, known], read_classes(y, len(y)), "standard"))
    return BlendedSource([one, other], partial, known)


def test_a_bit_that_one_estimate_sees_and_the_other_does_not_is_half_a_bit():
    y = [0, 0, 1, 1]
    sees, blind = count([[0, 0], [0, 1], [1, 0], [1, 1]], y), count(np.zeros((4, 2), int), y)
    mean = BlendedSource([sees, blind])
    np.testing.assert_allclose(mi(mean), [BIT / 2, 0], atol=1e-15)
    joint = whole(mean, measures.JOINT_MI)
    np.testing.assert_allclose(joint, [[BIT / 2, BIT / 2], [BIT / 2, 0]], atol=1e-15)
    np.testing.assert_allclose(mean.copies, [BIT / 2, BIT / 2])


def test_a_column_that_is_known_to_two_of_three_is_the_mean_of_two():
    y = [0, 0, 1, 1]
    sees = count([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]], y)
    blind = count(np.zeros((4, 2), int), y)
    mean = BlendedSource([sees, sees], blind, np.array([0, 1]))
    np.testing.assert_allclose(mi(mean), [BIT * 2 / 3, 0, BIT], atol=1e-15)
    joint = whole(mean, measures.JOINT_MI)
    np.testing.assert_allclose(joint[0], [BIT * 2 / 3] * 3, atol=1e-15)  # shared: one bit
    np.testing.assert_allclose(mean.copies, [BIT * 2 / 3, BIT * 2 / 3, BIT])


@settings(max_examples=15)
@given(seed=seeds)
def test_numbers_are_the_mean_of_two_counts_and_a_covariance(seed):
    X, y = draw(seed)
    parts, found = parts_of(X, y), blend(X, y).entropies
    np.testing.assert_allclose(found.mi(), np.mean([mi(part) for part in parts], axis=0), **NEAR)
    copies = np.mean([part.copies for part in parts], axis=0)
    np.testing.assert_allclose(found.copy_mi(), copies, **NEAR)
    for measure in MEASURES:
        by_hand = np.mean([whole(part, measure) for part in parts], axis=0)
        np.testing.assert_allclose(found.measure(measure, signed=True), by_hand, **NEAR)


@settings(max_examples=15)
@given(seed=seeds)
def test_what_a_number_shares_with_a_category_is_counted_and_the_chain_rule_holds(seed):
    X, y = draw(seed)
    words = np.random.default_rng(seed).integers(0, 3, len(y))
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    frame.insert(2, "word", np.array(["x", "y", "z"])[words])
    counts = [
        count(np.insert(discretizer.fit_transform(X, y), 2, words, axis=1), y, "chance")
        for discretizer in (MDLP(), EqualFrequency())
    ]
    normal, numbers = parts_of(X, y)[2], np.array([0, 1, 3, 4, 5, 6, 7])
    found = blend(frame, y).entropies
    parts = []
    for measure in (measures.PAIR_MI, measures.PAIR_CMI):
        by_hand = np.mean([whole(part, measure) for part in counts], axis=0)
        three = (2 * by_hand[np.ix_(numbers, numbers)] + whole(normal, measure)) / 3
        by_hand[np.ix_(numbers, numbers)] = three
        np.testing.assert_allclose(found.measure(measure, signed=True), by_hand, **NEAR)
        parts.append(by_hand)
    alone = np.mean([mi(part) for part in counts], axis=0)
    alone[numbers] = (2 * alone[numbers] + mi(normal)) / 3
    np.testing.assert_allclose(found.mi(), alone, **NEAR)
    apart = ~np.eye(8, dtype=bool)
    joint = alone[:, None] + alone + parts[1] - parts[0]
    np.testing.assert_allclose(found.joint_mi()[apart], joint[apart], **NEAR)
    np.testing.assert_allclose(found.cmi()[apart], (joint - alone[:, None])[apart], **NEAR)


@pytest.mark.parametrize("known", [(0, 2, 3, 6), (6, 0, 3), range(7), ()], ids=str)
@settings(max_examples=10)
@given(seed=seeds)
def test_chosen_rows_and_columns_are_those_of_the_whole(known, seed):
    source, rng = some_blend(seed, known), np.random.default_rng(seed)
    for measure in MEASURES:
        everything = whole(source, measure)
        for rows, columns in [
            (rng.permutation(7)[:3], rng.permutation(7)[:4]),
            (rng.integers(0, 7, 5), None),
            (None, rng.permutation(7)[:5]),
            (np.array([1]), np.array([4])),
        ]:
            left, right = (np.arange(7) if some is None else some for some in (rows, columns))
            out = np.empty((len(left), len(right)))
            source.fill(Query(measure, rows, columns), out)
            np.testing.assert_allclose(out, everything[np.ix_(left, right)], **NEAR)


@pytest.mark.parametrize("strip", [1, 8 * 7, 3 * 8 * 7])
def test_strips_give_the_numbers_of_the_whole(monkeypatch, strip):
    source = some_blend(0)
    for measure in MEASURES:
        at_once = whole(source, measure)
        with monkeypatch.context() as patched:
            patched.setattr(_blend, "MAX_WHOLE_BYTES", 0)
            patched.setattr(_blend, "BLEND_STRIP_BYTES", strip)
            np.testing.assert_allclose(whole(source, measure), at_once, **NEAR)


@pytest.mark.parametrize("known", [(0, 2, 3, 6), range(7), ()], ids=str)
def test_single_precision_is_double_rounded(known):
    source = some_blend(0, known)
    for measure in MEASURES:
        out = np.empty((7, 7), np.float32)
        source.fill(Query(measure), out)
        np.testing.assert_array_equal(out, whole(source, measure).astype(np.float32))


def test_values_below_the_lowest_are_raised_after_the_mean_is_taken():
    source = some_blend(1)
    signed, out = whole(source, measures.PAIR_MI), np.empty((7, 7))
    assert (signed < 0).any()
    source.fill(Query(measures.PAIR_MI, lowest=0.0), out)
    np.testing.assert_array_equal(out, np.maximum(signed, 0))


@pytest.mark.parametrize("known", [(0, 2, 3, 6), range(7), ()], ids=str)
@settings(max_examples=15)
@given(seed=seeds)
def test_what_is_symmetric_is_symmetric_to_the_last_bit(known, seed):
    source = some_blend(seed, known)
    for measure in MEASURES:
        if measure != measures.CMI:
            matrix = whole(source, measure)
            np.testing.assert_array_equal(matrix, matrix.T)


@settings(max_examples=15)
@given(seed=seeds)
def test_the_order_of_rows_and_columns_changes_nothing_but_places(seed):
    X, y = draw(seed)
    frame = pd.DataFrame(X, columns=list("abcdefg")).assign(word=np.array(["p", "q"])[y % 2])
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(y)), rng.permutation(8)
    before = blend(frame, y).entropies
    after = blend(frame.iloc[rows, columns].reset_index(drop=True), y[rows]).entropies
    np.testing.assert_allclose(after.mi(), before.mi()[columns], **NEAR)
    for measure in MEASURES:
        moved = before.measure(measure, signed=True)[np.ix_(columns, columns)]
        np.testing.assert_allclose(after.measure(measure, signed=True), moved, **NEAR)


def test_a_constant_column_says_nothing_alone_and_nothing_of_any_other():
    found = blend(*draw(0)).entropies
    np.testing.assert_allclose(found.mi()[2], 0, atol=1e-12)
    others = [0, 1, 3, 4, 5, 6]
    np.testing.assert_allclose(found.pair_mi([2], others), 0, atol=1e-12)
    np.testing.assert_allclose(found.pair_cmi(others, [2]), 0, atol=1e-12)


def test_gaps_are_a_level_where_they_are_counted_and_the_mean_where_not():
    X, y = draw(0)
    X[:, 0] = np.where(y == 0, np.nan, 1.0)
    found, plain = blend(X, y).entropies.mi()[0], count(np.isnan(X[:, :1]) * 1, y)
    counted = mi(count(np.isnan(X[:, :1]) * 1, y, "chance"))[0]
    assert mi(plain)[0] > counted > 0
    np.testing.assert_allclose(found, counted * 2 / 3, **NEAR)


def test_categories_alone_are_counted():
    X, y = np.random.default_rng(0).integers(0, 3, (60, 4)), np.arange(60) % 2
    frame = pd.DataFrame(X, columns=list("abcd")).astype(str)
    counted = EntropyReader("discrete", correction="chance").measure(read_table(frame), y).entropies
    found = blend(frame, y).entropies
    named = blend(X, y, categorical_features=[0, 1, 2, 3]).entropies
    for entropies in (found, named):
        assert entropies.is_discrete
        np.testing.assert_array_equal(entropies.mi(), counted.mi())
        np.testing.assert_array_equal(entropies.cmi(), counted.cmi())


def test_a_number_to_predict_is_cut_for_the_counts_and_taken_as_it_is_by_the_covariance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(size=80)
    classes = parse_target(y, 80).classes.codes
    parts = [
        *parts_of(X, classes)[:2],
        GaussianSource(ScoredTable(X, NumericTarget(y), "standard")),
    ]
    expected = np.mean([mi(part) for part in parts], axis=0)
    np.testing.assert_allclose(blend(X, y).entropies.mi(), expected, **NEAR)


def test_levels_and_correction_of_ones_own_are_those_of_the_only_count():
    X, y = draw(0)
    codes, target = EqualFrequency(n_bins=3).fit_transform(X, y), read_classes(y, len(y))
    normal = GaussianSource(ScoredTable(X, target, "standard"))
    reading = EntropyReader("blend", EqualFrequency(n_bins=3), "miller-madow")
    found = reading.measure(read_table(X), y)
    expected = (mi(count(codes, y, "miller-madow")) + mi(normal)) / 2
    np.testing.assert_allclose(found.entropies.mi(), expected, **NEAR)
    assert found.discretizer.n_bins == 3
