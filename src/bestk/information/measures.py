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
MIN_MOMENT_ROWS = 2**16  # from which the moments of large counts replace sums
MAX_KEPT_ROWS = 2**18  # tables of so many counts are kept for the next estimate
MIN_MOMENT_SAMPLES = 4096.0  # expected in a class, from which moments are accurate enough
CELLS_AT_ONCE = 512
MAX_WEIGHT = 32.0  # sum of a measure's weights: entropies take 57 bits, their sums have 63


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
        return (
            (self.xi + self.xx) * x + (self.xiy + self.xxy) * xy,
            (self.xj + self.xx) * x + (self.xjy + self.xxy) * xy,
        )


class Query(NamedTuple):
    """A measure of the pairs of some features with others."""

    measure: Measure
    rows: Indices | None = None  # features; None for all
    columns: Indices | None = None  # each at most once
    lowest: float = -np.inf  # smaller values are rounding noise and raised to it

    @property
    def is_whole(self) -> bool:
        """Whether all pairs are wanted: each is then computed once and written twice."""
        return self.rows is None and self.columns is None

    def features(self, n: int) -> tuple[Indices, Indices]:
        """The features of rows and of columns, among n."""
        every = np.arange(n)
        rows, columns = (every if some is None else some for some in (self.rows, self.columns))
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

    pair_table: Indices  # looked up for each cell (xi, xj)
    class_table: Indices  # and for each cell (xi, xj, y)
    row_term: Indices
    column_term: Indices
    scale: float
    lowest: float


@dataclass(frozen=True)
class Tables:
    """What each count adds to an entropy, in units of ``scale`` nats."""

    scale: float
    total: int  # m H = total - sum of plain[n]
    plain: Indices
    chance: Indices  # added once per cell of x, or of (xi, xj), to H(x, y) and H(xi, xj, y)
    offset: int  # and once per table
    y: int  # H(y)

    @classmethod
    def of(cls, sizes: Indices, correction: Correction | None) -> "Tables":
        """Tables for classes of the given sizes; :func:`bestk.cmi_matrix` has the corrections."""
        kept = sizes.sum() <= MAX_KEPT_ROWS and isinstance(correction, str | None)
        make = make_tables if kept else make_tables.__wrapped__
        return make(tuple(sizes.tolist()), correction)


@lru_cache(maxsize=4)  # several estimates of a table use the same
def make_tables(counts: tuple[int, ...], correction: Correction | None) -> Tables:
    """Tables for classes of so many samples."""
    choice(correction, "correction", CORRECTIONS)
    sizes, m = np.array(counts), sum(counts)
    n = np.arange(m + 1.0)
    plain = n * np.log(np.maximum(n, 1.0))
    chance, offset = np.zeros(len(n)), 0.0
    if correction == "miller-madow":
        plain -= 0.5 * (n > 0)
    elif correction == "chance":
        chance, offset = chance_by_count(sizes), float(plain[sizes].sum() - plain[-1])
    one = 2.0 ** (57 - int(np.ceil(np.log2(m * np.log(m) + m + 1.0))))  # no sum overflows
    total = round(float(plain[-1]) * one)
    rounded, extra = (np.rint(table * one).astype(np.int64) for table in (plain, chance))
    y = total - int(rounded[sizes].sum())
    return Tables(1.0 / (one * m), total, rounded, extra, round(offset * one), y)


def chance_by_count(sizes: Indices) -> Floats:
    """What a cell of 0, 1, ... samples adds for chance: n log n less the mean of its classes'.

    That mean is over all orders of the labels of classes of the given sizes.
    """
    m = int(sizes.sum())
    n = np.arange(m + 1)
    plain: Floats = np.asarray(n * np.log(np.maximum(n, 1.0)), np.float64)
    table = plain if m < MIN_MOMENT_ROWS else None
    return np.asarray(plain - expected_cells(n, sizes, table))


class ExactEntropies:
    """Entropies of single features, and formulas for those of pairs, in fixed point.

    x: the sums of ``tables.plain`` over the cells of each feature; xy: those over the cells (x, y),
    and of ``tables.chance`` over the cells of x.
    """

    def __init__(self, tables: Tables, x: Indices, xy: Indices) -> None:
        self.tables = tables
        self.x, self.xy = tables.total - x, tables.total - tables.offset - xy

    def singles(self, place: Any = slice(None)) -> tuple[Floats, Floats, float]:
        """H(x) and H(x, y) of each feature, and H(y), in nats."""
        scale = self.tables.scale
        x, xy = np.stack([self.x, self.xy])[:, place] * np.float64(scale)
        return x, xy, self.tables.y * scale

    def formula(self, measure: Measure, lowest: float, in_nats: bool = True) -> Formula:
        """The measure as tables over counts and terms of single features."""
        total = sum(map(abs, vars(measure).values()))
        if not total < MAX_WEIGHT:
            raise OverflowError(
                f"the weights of {measure} add up to {total:g}, and exact sums have room for less "
                f"than {MAX_WEIGHT:g}; divide them all by the same power of two"
            )
        tables = self.tables
        pair_table = -weigh((measure.xx, tables.plain), (measure.xxy, tables.chance))
        class_table = -weigh((measure.xxy, tables.plain))
        once = weigh(
            (measure.xx, tables.total),
            (measure.xxy, tables.total - tables.offset),
            (measure.y, tables.y),
        )
        row = weigh((measure.xi, self.x), (measure.xiy, self.xy)) + once
        column = weigh((measure.xj, self.x), (measure.xjy, self.xy))
        scale, unit = (tables.scale, 1.0) if in_nats else (1.0, tables.scale)
        return Formula(pair_table, class_table, row, column, scale, lowest / unit)


def expected_cells(totals: Indices, sizes: Indices, table: Floats | None = None) -> Floats:
    """E[sum over classes of n log n] for cells of ``totals`` samples with random labels.

    The count of a class in a cell is hypergeometric; moments replace its sum where it is large,
    unless there is a table of n log n for all n.
    """
    out = np.zeros(len(totals))
    m = int(sizes.sum())
    sizes = np.sort(sizes)  # the kernel measures neighbors of equal size once
    large = MIN_MOMENT_SAMPLES if table is None else np.inf
    expect = kernels.expect.bind(totals, sizes, len(sizes), m, large, table, out)
    run_tiles(lambda span: expect(*span), spans(len(totals), CELLS_AT_ONCE))
    return out


def weigh(*terms: tuple[float, Any]) -> Any:
    """Weighted sum in integers, exact for weights that are whole or a half."""
    total: Any = np.int64(0)
    for weight, value in terms:
        value = np.asarray(value, np.int64)
        halves = round(2 * weight)
        exact = halves == 2 * weight
        total = total + (
            (halves * value) >> 1 if exact else np.rint(weight * value).astype(np.int64)
        )
    return total
