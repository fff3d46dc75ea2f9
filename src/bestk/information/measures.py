"""The formulas: every measure of a pair is a weighted sum of entropies, in 64-bit fixed point.

With n the counts of a table of m samples, ``m H = total - sum of table[n]``: one look-up per
cell and no logarithm. A correction for bias only changes the tables. Integer sums do not depend on
their order, so all backends give the same bits.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from bestk._checks import choice
from bestk._typing import Floats, Indices
from bestk.native import kernels
from bestk.native.threads import run_tiles, spans

Correction = Literal["miller-madow", "chance"]
CORRECTIONS = (None, "miller-madow", "chance")

# From so many rows on, moments replace sums over all counts of a class in a cell.
MIN_MOMENT_ROWS = 2**16

# The samples of a class that a cell is expected to have, from which moments are accurate enough.
MIN_MOMENT_SAMPLES = 4096.0

# Cells whose expectation a thread computes in one call.
CELLS_AT_ONCE = 512

# Tables of up to so many rows are kept for the next estimate of the same classes.
MAX_KEPT_ROWS = 2**18

# Bits of an entropy in fixed point: sums of a few of them fit in 63.
ENTROPY_BITS = 57

# The sum of the weights of a measure stays below it, so that its sums fit in 63 bits.
MAX_WEIGHT = 32.0


@dataclass(frozen=True)
class Measure:
    """Weights of H(xi,xj), H(xi,xj,y), H(xi), H(xj), H(xi,y), H(xj,y) and H(y)."""

    xx: float = 0.0
    xxy: float = 0.0
    xi: float = 0.0
    xj: float = 0.0
    xiy: float = 0.0
    xjy: float = 0.0
    y: float = 0.0

    @property
    def is_symmetric(self) -> bool:
        """Whether the measure of ``[i, j]`` is that of ``[j, i]``."""
        return self.xi == self.xj and self.xiy == self.xjy

    def single_terms(self, x: Floats, xy: Floats) -> tuple[Floats, Floats]:
        """What features add as xi and as xj, by H(x) and H(x, y), apart from how pairs depend."""
        row_term = (self.xi + self.xx) * x + (self.xiy + self.xxy) * xy
        column_term = (self.xj + self.xx) * x + (self.xjy + self.xxy) * xy
        return row_term, column_term


class Query(NamedTuple):
    """A measure of the pairs of some features with others."""

    measure: Measure

    rows: Indices | None = None
    """The features xi, which may repeat; None: all of them."""

    columns: Indices | None = None
    """The features xj, each at most once; None: all of them."""

    lowest: float = -np.inf
    """Smaller values are rounding noise and raised to it."""

    @property
    def is_whole(self) -> bool:
        """Whether all pairs are wanted: each is then computed once and written twice."""
        return self.rows is None and self.columns is None

    def features(self, n: int) -> tuple[Indices, Indices]:
        """The features of rows and of columns, among n."""
        rows = np.arange(n) if self.rows is None else self.rows
        columns = np.arange(n) if self.columns is None else self.columns
        return rows, columns


PAIR_ENTROPY = Measure(xx=1)  # H(xi, xj)
TRIPLE_ENTROPY = Measure(xxy=1)  # H(xi, xj, y)
JOINT_MI = Measure(xx=1, xxy=-1, y=1)  # I(xi, xj; y)
CMI = Measure(xx=1, xxy=-1, xi=-1, xiy=1)  # I(xj; y | xi) at [i, j]
SYMMETRIC_CMI = Measure(xx=1, xxy=-1, xi=-0.5, xiy=0.5, xj=-0.5, xjy=0.5)  # (CMI + CMI') / 2
PAIR_MI = Measure(xx=-1, xi=1, xj=1)  # I(xi; xj)
PAIR_CMI = Measure(xxy=-1, xiy=1, xjy=1, y=-1)  # I(xi; xj | y)
NO_REDUNDANCY = Measure(xx=1, xi=-1, xj=-1)  # -I(xi; xj)
# I(xi; xj | y) - I(xi; xj), which is also I(xi, xj; y) - I(xi; y) - I(xj; y)
INTERACTION = Measure(xx=1, xxy=-1, xi=-1, xj=-1, xiy=1, xjy=1, y=-1)


class Formula(NamedTuple):
    """``scale * (sum of tables over cells + row_term + column_term)``, at least ``lowest``."""

    pair_table: Indices
    """What a cell (xi, xj) of 0, 1, ... samples adds."""

    class_table: Indices
    """What a cell (xi, xj, y) of 0, 1, ... samples adds."""

    row_term: Indices
    """What each feature adds as xi."""

    column_term: Indices
    """What each feature adds as xj."""

    scale: float
    """Nats of a unit."""

    lowest: float
    """Smaller values are raised to it."""


@dataclass(frozen=True)
class Tables:
    """What each count adds to an entropy, in units of ``scale`` nats."""

    scale: float
    """Nats of a unit of an entropy H of m samples."""

    total: int
    """``H = total - sum of plain[n]`` over the cells, in units."""

    plain: Indices
    """``n log n`` of counts n = 0, 1, ..., in units, with what a correction adds."""

    chance: Indices
    """What a cell of x, or of (xi, xj), adds to H(x, y), or H(xi, xj, y), for chance."""

    offset: int
    """What is added once for chance."""

    y: int
    """H(y) in units."""

    @classmethod
    def of(cls, sizes: Indices, correction: Correction | None) -> "Tables":
        """Tables for classes of the given sizes; :func:`bestk.cmi_matrix` has the corrections."""
        choice(correction, "correction", CORRECTIONS)
        counts = tuple(sizes.tolist())
        if sum(counts) <= MAX_KEPT_ROWS:
            return _keep_tables(counts, correction)
        return make_tables(counts, correction)


def make_tables(counts: tuple[int, ...], correction: Correction | None) -> Tables:
    """Tables for classes of so many samples, in fixed point."""
    sizes = np.array(counts)
    m = sum(counts)
    n = np.arange(m + 1.0)
    plain = n * np.log(np.maximum(n, 1.0))
    chance = np.zeros(len(n))
    offset = 0.0
    if correction == "miller-madow":
        plain -= 0.5 * (n > 0)
    elif correction == "chance":
        chance = chance_by_count(sizes)
        offset = float(plain[sizes].sum() - plain[-1])
    largest = m * np.log(m) + m + 1.0
    unit = 2.0 ** (ENTROPY_BITS - int(np.ceil(np.log2(largest))))  # no sum overflows
    total = round(float(plain[-1]) * unit)
    plain_in_units = np.rint(plain * unit).astype(np.int64)
    chance_in_units = np.rint(chance * unit).astype(np.int64)
    return Tables(
        scale=1.0 / (unit * m),
        total=total,
        plain=plain_in_units,
        chance=chance_in_units,
        offset=round(offset * unit),
        y=total - int(plain_in_units[sizes].sum()),
    )


# Several estimates of a table use the same.
_keep_tables = lru_cache(maxsize=4)(make_tables)


def chance_by_count(sizes: Indices) -> Floats:
    """What a cell of 0, 1, ... samples adds for chance: n log n less the mean of its classes'.

    That mean is over all orders of the labels of classes of the given sizes.
    """
    m = int(sizes.sum())
    n = np.arange(m + 1)
    n_log_n: Floats = np.asarray(n * np.log(np.maximum(n, 1.0)), np.float64)
    table = n_log_n if m < MIN_MOMENT_ROWS else None
    return np.asarray(n_log_n - expected_cells(n, sizes, table))


class ExactEntropies:
    """Entropies of single features, and formulas for those of pairs, in fixed point.

    x: the sums of ``tables.plain`` over the cells of each feature; xy: those over the cells (x, y),
    and of ``tables.chance`` over the cells of x.
    """

    def __init__(self, tables: Tables, x: Indices, xy: Indices) -> None:
        self.tables = tables
        self.x = tables.total - x
        self.xy = tables.total - tables.offset - xy

    def singles(self, place: Any = slice(None)) -> tuple[Floats, Floats, float]:
        """H(x) and H(x, y) of each feature, and H(y), in nats.

        ``place``: where each feature is among those that were counted.
        """
        scale = np.float64(self.tables.scale)
        x = self.x[place] * scale
        xy = self.xy[place] * scale
        return x, xy, self.tables.y * self.tables.scale

    def formula(self, measure: Measure, lowest: float, in_nats: bool = True) -> Formula:
        """The measure as tables over counts and terms of single features.

        ``in_nats=False``: values stay integers, in units of ``tables.scale`` nats.
        """
        total_weight = sum(abs(weight) for weight in vars(measure).values())
        if not total_weight < MAX_WEIGHT:
            raise OverflowError(
                f"the weights of {measure} add up to {total_weight:g}, and exact sums have room "
                f"for less than {MAX_WEIGHT:g}; divide them all by the same power of two"
            )
        tables = self.tables
        pair_table = -weigh((measure.xx, tables.plain), (measure.xxy, tables.chance))
        class_table = -weigh((measure.xxy, tables.plain))
        once = weigh(
            (measure.xx, tables.total),
            (measure.xxy, tables.total - tables.offset),
            (measure.y, tables.y),
        )
        return Formula(
            pair_table=pair_table,
            class_table=class_table,
            row_term=weigh((measure.xi, self.x), (measure.xiy, self.xy)) + once,
            column_term=weigh((measure.xj, self.x), (measure.xjy, self.xy)),
            scale=tables.scale if in_nats else 1.0,
            lowest=lowest if in_nats else lowest / tables.scale,
        )


def expected_cells(totals: Indices, sizes: Indices, table: Floats | None = None) -> Floats:
    """E[sum over classes of n log n] for cells of ``totals`` samples with random labels.

    The count n of a class of s samples in a cell of t, of m in all, is hypergeometric:
    ``P(n) = C(s, n) C(m - s, t - n) / C(m, t)``. Moments replace the sum over n where it is large,
    unless there is a ``table`` of n log n for all n.
    """
    sizes = np.sort(sizes)  # the kernel measures neighbors of equal size once
    expected = np.zeros(len(totals))
    large = MIN_MOMENT_SAMPLES if table is None else np.inf
    expect = kernels.expect.bind(
        totals,
        sizes,
        len(sizes),
        int(sizes.sum()),
        large,
        table,
        expected,
    )
    run_tiles(lambda span: expect(*span), spans(len(totals), CELLS_AT_ONCE))
    return expected


def weigh(*terms: tuple[float, Any]) -> Any:
    """Weighted sum in integers, exact for weights that are whole or a half."""
    total: Any = np.int64(0)
    for weight, value in terms:
        value = np.asarray(value, np.int64)
        halves = round(2 * weight)
        if halves == 2 * weight:
            total = total + ((halves * value) >> 1)
        else:
            total = total + np.rint(weight * value).astype(np.int64)
    return total
