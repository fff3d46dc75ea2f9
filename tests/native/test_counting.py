"""Kernels that count give what a few lines of numpy give, on every instruction set."""

import itertools
from dataclasses import fields
from pathlib import Path
from threading import Lock

import numpy as np
import pytest

from bestk import native
from bestk.information import Query, measures
from bestk.information.backends import PickRule
from bestk.information.backends._native import NativeCounter
from bestk.information.backends._packed import pack
from bestk.information.backends._reductions import SPLIT, _add_sums
from bestk.information.measures import expected_cells
from bestk.information.scan import pairs_above
from bestk.native import kernels
from bestk.native._library import TABLE_TYPES
from bestk.native.threads import spans, threads
from bestk.tables.codes import Codes
from bestk.tables.target import ClassTarget

pytestmark = pytest.mark.usefixtures("cpu")
LANES = 16
SHAPES = [  # samples, features, levels of the columns, classes
    (40, 3, (2,), 2),
    (7, 2, (2,), 2),
    (300, 40, (2,), 2),
    (900, 35, (2, 3, 1, 5), 3),
    (200, 20, (2, 70, 150), 2),
    (2500, 18, (2, 9), 2),
    (120, 34, (12,), 2),
]
shapes = pytest.mark.parametrize("shape", SHAPES, ids=str)


def make(shape, dtype=np.uint8):
    """A random table in which every level and class occurs."""
    m, n, levels, n_classes = shape
    rng = np.random.default_rng(0)
    values = np.empty((n, m), dtype)
    for i in range(n):
        values[i] = np.unique(rng.integers(0, levels[i % len(levels)], m), return_inverse=True)[1]
    classes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, m - n_classes)])
    target = ClassTarget(classes, np.arange(n_classes), np.bincount(classes))
    return Codes(
        values, values.max(axis=1).astype(np.int64) + 1, [str(i) for i in range(n)]
    ), target


def sum_cells(table, *columns):
    """Sum of a table over the counts of all combinations of some columns."""
    return int(table[np.unique(np.stack(columns), axis=1, return_counts=True)[1]].sum())


@pytest.mark.parametrize("lengths", [(1, 3), (15, 16), (17, 40, 0), (300,), (260, 7)], ids=str)
@pytest.mark.parametrize("n_rows", [1, 4, 6])
def test_planes_share_as_many_bits_as_numpy_counts(lengths, n_rows):
    rng = np.random.default_rng(0)
    words = np.concatenate([[0], np.cumsum(lengths)])
    rows = rng.integers(0, 2**32, (n_rows, words[-1]), np.uint32)
    tile = rng.integers(0, 2**32, (3, words[-1], LANES), np.uint32)
    rows[0], tile[0] = 2**32 - 1, 2**32 - 1  # the largest counts
    counts = np.empty((len(lengths), n_rows, 3, LANES), np.uint32)
    kernels.count_rows(rows.ravel(), n_rows, tile.ravel(), 3, words, len(lengths), counts.ravel())
    both = np.bitwise_count(rows[:, None, :, None] & tile[None]).astype(np.int64)
    for c, (first, last) in enumerate(itertools.pairwise(words)):
        np.testing.assert_array_equal(counts[c], both[:, :, first:last].sum(axis=2))


@shapes
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_planes_hold_the_samples_of_each_level_sorted_by_class(shape, dtype):
    codes, target = make(shape, dtype)
    order = np.argsort(codes.levels, kind="stable")
    packed = pack(codes, target, order, 2**16)
    samples = [np.flatnonzero(target.codes == c) for c in range(target.n_classes)]
    for place, feature in enumerate(order):
        tile, lane = place // LANES, place % LANES
        bits = packed.bits[packed.bits_at[tile] : packed.bits_at[tile + 1]]
        bits = bits.reshape(-1, packed.words[-1], LANES)[:, :, lane]
        at = packed.margins_at[tile : tile + 2]
        margins = packed.margins[slice(*at)].reshape(target.n_classes, -1, LANES)[:, :, lane]
        for plane in range(len(bits)):
            level = plane if plane < codes.levels[feature] - 1 else -1
            for c, some in enumerate(samples):
                own = bits[plane, packed.words[c] : packed.words[c + 1]].copy()
                found = np.unpackbits(own.view(np.uint8), bitorder="little")
                expected = codes.values[feature, some].astype(np.int64) == level
                np.testing.assert_array_equal(found[: len(some)], expected)
                assert not found[len(some) :].any()
                assert margins[c, plane] == expected.sum()


@shapes
@pytest.mark.parametrize("correction", [None, "miller-madow", "chance"])
def test_sums_over_cells_are_exact(shape, correction):
    codes, target = make(shape)
    counter = NativeCounter(codes, target, correction)
    y, n = target.codes, codes.n_features
    rows = [row.astype(np.int64) for row in codes.values]
    place, exact, tables = counter.place, counter.exact, counter.exact.tables
    for i, x in enumerate(rows):
        assert exact.x[place[i]] == tables.total - sum_cells(tables.plain, x)
        xy = sum_cells(tables.plain, x, y) + sum_cells(tables.chance, x)
        assert exact.xy[place[i]] == tables.total - tables.offset - xy
    formula = exact.formula(measures.CMI, -np.inf, in_nats=False)
    out = np.empty((n, n))
    counter.fill(Query(measures.CMI), out)
    for i in range(n):
        for j in range(0, n, 3):
            cells = sum_cells(formula.pair_table, rows[i], rows[j])
            cells += sum_cells(formula.class_table, rows[i], rows[j], y)
            total = cells + formula.row_term[place[i]] + formula.column_term[place[j]]
            assert out[i, j] == float(total) * tables.scale


@shapes
def test_parts_of_a_matrix_are_those_of_the_whole_for_any_number_of_threads(shape):
    codes, target = make(shape)
    n = codes.n_features
    whole = np.empty((n, n))
    NativeCounter(codes, target).fill(Query(measures.CMI, lowest=0.01), whole)
    assert whole.min() >= 0.01
    rows, columns = np.array([n - 1, 0, n // 2]), np.arange(n)[::-2].copy()
    for n_threads in (1, 2, 3, 8):
        with threads(n_threads):
            counter = NativeCounter(codes, target)
            some, single = np.empty((3, len(columns))), np.empty((n, n), np.float32)
            counter.fill(Query(measures.CMI, rows, columns, 0.01), some)
            counter.fill(Query(measures.CMI, lowest=0.01), single)
        np.testing.assert_array_equal(some, whole[np.ix_(rows, columns)])
        np.testing.assert_array_equal(single, whole.astype(np.float32))


def test_rows_may_go_to_an_output_with_gaps_between_its_rows():
    codes, target = make(SHAPES[2])
    n = codes.n_features
    wide, whole = np.zeros((n, n + 5)), np.empty((n, n))
    counter = NativeCounter(codes, target)
    counter.fill(Query(measures.JOINT_MI), whole)
    counter.fill(Query(measures.JOINT_MI), wide[:, 2 : n + 2])
    np.testing.assert_array_equal(wide[:, 2 : n + 2], whole)
    assert not wide[:, :2].any()
    assert not wide[:, n + 2 :].any()


@pytest.mark.parametrize("shape", [(1, 1), (5, 23), (300, 9), (2, 600)])
def test_sums_in_two_parts_lose_no_bit(shape):
    values = np.random.default_rng(0).integers(-(2**52), 2**52, shape)
    n_rows, n_columns = shape
    places, parts = np.arange(n_rows + n_columns), np.zeros((2, n_rows + n_columns))
    for span in spans(n_rows, 16):
        args = values.astype(np.float64), places[:n_rows], places[n_rows:], span
        _add_sums(parts, Lock(), *args)
    high, low = parts.astype(np.int64)
    wanted = np.append(values.sum(axis=1), values.sum(axis=0))
    np.testing.assert_array_equal(high * int(SPLIT) + low, wanted)


def write_codes(table, places, codes):
    levels, odd = np.empty(len(places), np.int64), np.zeros(len(places), np.uint8)
    by_width = (None, codes) if codes.dtype == np.uint16 else (codes, None)
    for first in range(0, len(places), 7):
        last = min(first + 7, len(places))
        kernels.write_codes(table, None, len(table), places, *by_width, levels, odd, first, last)
    return levels, odd.astype(bool)


@pytest.mark.parametrize("dtype", sorted(TABLE_TYPES, key=str))
@pytest.mark.parametrize("largest", [1, 30, 120, 3000])
@pytest.mark.parametrize("order", ["C", "F"])
def test_codes_are_dense_and_in_order(dtype, largest, order):
    largest = min(
        largest, {"b": 1, "i": 120, "u": 120}[dtype.kind] if dtype.itemsize == 1 else 3000
    )
    X = np.random.default_rng(0).integers(0, largest + 1, (150, 40))
    X[:, 3] = 1
    values = np.array(X, dtype, order=order)
    places, codes = np.arange(40)[::-1].copy(), np.zeros((40, 150), np.uint16)
    levels, odd = write_codes(values, places, codes)
    assert not odd.any()
    for j in range(40):
        seen, ranks = np.unique(X[:, j], return_inverse=True)
        np.testing.assert_array_equal(codes[places[j]], ranks)
        assert levels[j] == len(seen)


@pytest.mark.parametrize("dtype", sorted(TABLE_TYPES, key=str))
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_rows", [1, 16, 150])
def test_many_columns_of_small_numbers_have_the_codes_that_numpy_gives(dtype, order, n_rows):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2 if dtype.kind == "b" else rng.integers(2, 120, 600), (n_rows, 600))
    if dtype.itemsize > 1 and dtype.kind != "b":
        X[0, 560] = 300  # among columns that are small
    values = np.array(X, dtype, order=order)
    codes, levels = np.zeros((600, n_rows), np.uint8), np.empty(600, np.int64)
    odd = np.zeros(600, np.uint8)
    rows = rng.permutation(n_rows)
    kernels.write_codes(values, rows, n_rows, np.arange(600), codes, None, levels, odd, 0, 600)
    ranks = [np.unique(column, return_inverse=True) for column in X[rows].T]
    np.testing.assert_array_equal(codes, [inverse for _, inverse in ranks])
    assert levels.tolist() == [len(seen) for seen, _ in ranks]
    assert not odd.any()
    if dtype.kind in "if":
        values[-1, 280] = -1
        kernels.write_codes(values, None, n_rows, np.arange(600), codes, None, levels, odd, 0, 600)
        assert np.flatnonzero(odd).tolist() == [280]


def test_columns_without_a_place_in_the_table_are_odd_and_missing_is_the_last_level():
    X = np.array([[0, 0.5, -1, np.nan, 65534], [3, 1, 2, 4, 65535]], np.float64)
    codes = np.zeros((5, 2), np.uint8)
    levels, odd = write_codes(X, np.arange(5), codes)
    assert odd.tolist() == [False, True, True, False, True]
    assert codes[[0, 3]].tolist() == [[0, 1], [1, 0]]
    assert levels[[0, 3]].tolist() == [2, 2]


@pytest.mark.parametrize("sizes", [(3, 4), (1, 1, 9), (60, 200)])
def test_chance_in_every_cell_is_that_of_the_hypergeometric_law(sizes):
    from scipy.stats import hypergeom

    m, sizes = sum(sizes), np.array(sizes)
    n = np.arange(m + 1.0)
    plain = n * np.log(np.maximum(n, 1.0))
    expected = [sum(hypergeom.pmf(np.arange(m + 1), m, s, t) @ plain for s in sizes)
                for t in range(m + 1)]  # fmt: skip
    found = expected_cells(np.arange(m + 1), sizes, plain)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_arguments_of_another_kind_are_refused():
    counts, words = np.empty(16, np.uint32), np.array([0, 1])
    rows, tile = np.ones(1, np.uint32), np.ones(16, np.uint32)
    with pytest.raises(TypeError, match="count_rows takes 7 arguments, not 1"):
        kernels.count_rows(rows)
    with pytest.raises(TypeError, match=r"takes u32\[:\], not 1-d int64"):
        kernels.count_rows(rows.astype(np.int64), 1, tile, 1, words, 1, counts)
    with pytest.raises(TypeError, match="C-contiguous"):
        kernels.count_rows(rows, 1, np.ones(32, np.uint32)[::2], 1, words, 1, counts)
    counts.setflags(write=False)
    with pytest.raises(TypeError, match="read-only"):
        kernels.count_rows(rows, 1, tile, 1, words, 1, counts)


@pytest.mark.parametrize("rank", [3, 40, 300])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_two_level_pairs_above_a_limit_are_those_of_the_whole_matrix(rank, n_classes):
    rng, m, n = np.random.default_rng(rank), 260, 70
    y = rng.integers(0, n_classes, m)
    common = rng.normal(size=(1, m))
    values = rng.normal(size=(n, m)) + rng.uniform(0, 2, (n, 1)) * common  # some nearly copies
    values = values > np.quantile(values, rng.uniform(0.02, 0.98, n), axis=1).diagonal()[:, None]
    values[5] = values[9] ^ (y == 0)  # and a pair that tells y only together
    codes = Codes(values.astype(np.uint8), np.full(n, 2), [""] * n)
    counter = NativeCounter(codes, ClassTarget(y, np.arange(n_classes), np.bincount(y)))
    whole = np.empty((n, n), np.float32)
    counter.fill(Query(measures.INTERACTION), whole)
    i, j = np.triu_indices(n, 1)
    best = np.lexsort((j, i, -whole[i, j]))[:rank]
    least = float(whole[i, j][best[-1]])
    pairs, found = pairs_above(counter, least, 200)
    best = best[:200]
    np.testing.assert_array_equal(pairs, np.stack([i, j], axis=1)[best])
    np.testing.assert_array_equal(found, whole[i, j][best])


def test_a_rule_of_picks_has_the_fields_of_the_struct_that_c_reads():
    source = Path(native.__file__).with_name("picks.c").read_text(encoding="utf-8")
    struct = source[source.index("typedef struct") : source.index("} PickRule")]
    declared = [line.split()[1].rstrip(";") for line in struct.splitlines()[1:] if line.strip()]
    assert declared == [field.name for field in fields(PickRule)]
