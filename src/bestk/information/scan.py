"""All pairs of features, of which only the best are kept: the matrix of pairs is never held."""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from scipy import stats

from bestk._typing import Array, Floats, Indices
from bestk.information.backends._native import NativeCounter
from bestk.information.backends._packed import LANES, Packed
from bestk.information.backends._reductions import Scan, TopPairs, rank_tiles
from bestk.information.entropies import Entropies
from bestk.information.measures import CMI, INTERACTION, Query
from bestk.native import kernels
from bestk.native.threads import run_tiles, spans, threads
from bestk.tables.codes import Codes
from bestk.tables.target import ClassTarget

# Features and tiles of features whose pairs are bounded in one call.
BOUND_ROWS = 32
BOUND_TILES = 1024

# The part of a threshold that a bound must reach: rounding may take as much off the bound.
SAFE = 0.99


@dataclass(frozen=True)
class PairScan:
    """The pairs of features that both add most to what the better one tells, best first."""

    pairs: Indices
    """A row for each pair, the lower column first."""

    information: Floats
    """What both add, in nats: the smaller of I(xi; y | xj) and I(xj; y | xi). It is what the pair
    tells about y beyond the one of its features that tells more."""

    synergy: Floats
    """The part of it that neither tells alone, in nats: the interaction I(xi; y | xj) - I(xi; y),
    which is below 0 where the two tell partly the same."""

    pvalues: Floats
    """How often at least one of all pairs has as much information, where one feature of each pair
    tells nothing that the other does not tell."""

    names: Sequence[Any] = ()
    """The names of all columns."""

    def to_frame(self) -> Any:
        """The pairs, best first, as a pandas data frame."""
        import pandas as pd

        first, second = self.pairs.T
        return pd.DataFrame(
            {
                "first": [self.names[i] for i in first],
                "second": [self.names[j] for j in second],
                "information": self.information,
                "synergy": self.synergy,
                "pvalue": self.pvalues,
            }
        )


@dataclass(frozen=True)
class SynergyScan:
    """The pairs of features with the largest interaction, largest first."""

    pairs: Indices
    """A row for each pair, the lower column first."""

    synergy: Floats
    """The interaction I(xi; y | xj) - I(xi; y), in nats."""

    pvalues: Floats
    """How often at least one of all pairs has as large an interaction by chance."""


def informative_pairs(
    entropies: Entropies, codes: Codes, classes: ClassTarget, count: int
) -> PairScan:
    """The pairs whose features both add most to what the better one tells.

    ``entropies`` are those of the codes and classes.
    """
    relevance = entropies.mi()
    order = np.argsort(-relevance, kind="stable")
    pairs, information = rank_pairs(entropies, codes, classes, order, count)
    of_first = relevance[pairs[:, 0]]
    of_second = relevance[pairs[:, 1]]
    synergy = information - np.minimum(of_first, of_second)
    levels_of_first = codes.levels[pairs[:, 0]]
    levels_of_second = codes.levels[pairs[:, 1]]
    # Either of the two may be the one that adds nothing given the other, so the larger p-value
    # counts. If both have as many levels, it is that of the smaller information.
    tails = np.maximum(
        given_tails(synergy + of_first, levels_of_first, levels_of_second, classes),
        given_tails(synergy + of_second, levels_of_second, levels_of_first, classes),
    )
    n_pairs = codes.n_features * (codes.n_features - 1) / 2
    return PairScan(pairs, information, synergy, np.minimum(1.0, n_pairs * tails))


def given_tails(
    information: Floats, levels: Indices, levels_given: Indices, classes: ClassTarget
) -> Floats:
    """How often chance gives as much information about the classes, given another column.

    ``information``: I(x; y | z) in nats, of columns x of so many ``levels``; ``levels_given``:
    those of the column z.
    """
    degrees = (levels - 1) * (classes.n_classes - 1) * levels_given
    statistic = 2.0 * classes.n_rows * np.maximum(information, 0.0)
    tails = stats.chi2.sf(statistic, np.maximum(degrees, 1))
    return np.asarray(np.where(degrees > 0, tails, 1.0))


def rank_pairs(
    entropies: Entropies, codes: Codes, classes: ClassTarget, order: Indices, count: int
) -> tuple[Indices, Floats]:
    """The pairs with the largest min(I(xi; y | xj), I(xj; y | xi)), and these, in nats.

    ``order``: the features by falling relevance. Of a pair in that order, the smaller one is
    I(xj; y | xi), which is a sum over counts as every measure is. So there is no minimum to take:
    the pairs above the diagonal are scanned, of features in that order.
    """
    source = entropies.source
    query = Query(CMI, lowest=0.0)
    with threads(entropies.n_jobs):
        ranked = source.rank(query, order, count)
        if ranked is not None:
            return ranked
        # Columns are counted in tiles of those that are packed beside each other.
        names = [codes.names[i] for i in order]
        in_order = Codes(codes.values[order], codes.levels[order], names)
        packed = Entropies.count(in_order, classes).source
        return rank_tiles(packed, query, order, count)


def strongest_pairs(
    entropies: Entropies,
    codes: Codes,
    n_classes: int,
    top: int,
    max_pvalue: float = 1.0,
    n_rows: int | None = None,
) -> SynergyScan:
    """The pairs with the largest synergy; those with p-values above a limit may be left out.

    ``n_rows``: the effective number of rows, if they have weights; None for those of the codes.
    """
    source = entropies.source
    levels = codes.levels
    twice_rows = 2 * (codes.n_samples if n_rows is None else n_rows)
    n_pairs = len(levels) * (len(levels) - 1) / 2
    if max_pvalue < 1 and isinstance(source, NativeCounter) and (levels == 2).all():
        threshold = stats.chi2.isf(max_pvalue / n_pairs, n_classes - 1) / twice_rows
        with threads(entropies.n_jobs):
            pairs, values = pairs_above(source, threshold, top)
    else:
        scan = scan_pairs(entropies, top=top)
        pairs = scan.pairs
        values = scan.values
    degrees = (levels[pairs] - 1).prod(axis=1) * (n_classes - 1)
    tails = stats.chi2.sf(twice_rows * values, np.maximum(degrees, 1))
    return SynergyScan(pairs, values, np.minimum(1.0, n_pairs * tails))


def pairs_above(counter: NativeCounter, threshold: float, count: int) -> tuple[Indices, Floats]:
    """The pairs with the largest interaction of at least ``threshold`` > 0, and these, in nats.

    All columns have two levels. Pairs are counted, and only those whose bound reaches the threshold
    are looked up.
    """
    packed = counter.packed
    n_samples = int(packed.sizes.sum())
    n_words = int(packed.words[-1])
    bits = packed.bits.reshape(-1, n_words, LANES)
    factors = bound_factors(packed)
    best = TopPairs(count, counter.n_features, threshold)
    lock = Lock()

    def work(span: tuple[int, int]) -> None:
        """Bound the pairs of some tiles of rows with all tiles from there on."""
        first_tile, last_tile = span
        rows = bits[first_tile:last_tile].transpose(0, 2, 1).reshape(-1)
        n_rows = (last_tile - first_tile) * LANES
        for first, last in spans(len(bits) - first_tile, BOUND_TILES):
            tiles = slice(first_tile + first, first_tile + last)
            may_reach = np.zeros((n_rows, last - first), np.uint8)
            kernels.bound_pairs(
                rows,
                n_rows,
                bits[tiles].ravel(),
                last - first,
                packed.words,
                len(packed.sizes),
                factors.of_rows[first_tile:last_tile].ravel(),
                factors.of_columns[tiles].ravel(),
                SAFE * best.threshold * n_samples,
                may_reach.ravel(),
            )
            if may_reach.any():
                look_up(may_reach, first_tile * LANES, tiles.start)

    def look_up(may_reach: Array, first_row: int, first_tile: int) -> None:
        """Measure the rows and tiles of which some pair may be large, each pair once.

        ``may_reach``: ``[row, tile]``, from the first row and the first tile on.
        """
        rows = first_row + np.flatnonzero(may_reach.any(axis=1))
        tiles = first_tile + np.flatnonzero(may_reach.any(axis=0))
        columns = (tiles[:, np.newaxis] * LANES + np.arange(LANES)).ravel()
        rows = rows[rows < counter.n_features]
        columns = columns[columns < counter.n_features]
        row_features = counter.order[rows]
        column_features = counter.order[columns]
        values = np.empty((len(rows), len(columns)), np.float32)
        with threads(1):
            counter.fill(Query(INTERACTION, row_features, column_features), values)
        values[rows[:, np.newaxis] >= columns] = -np.inf
        with lock:
            best.take(values, row_features, column_features)

    run_tiles(work, spans(len(bits), BOUND_ROWS // LANES))
    return best.pairs, best.values


@dataclass(frozen=True)
class BoundFactors:
    """Factors of two-level features in bounds of interactions, 32-bit floats."""

    of_rows: Array
    """``[tile, lane, class, factor]``, with the weights of the bound."""

    of_columns: Array
    """``[tile, class, factor, lane]``"""


def bound_factors(packed: Packed) -> BoundFactors:
    """Factors of two-level features in bounds of interactions, for each class and all samples.

    With d the difference of a count from independence and e what is expected, n log n of the four
    cells exceeds its value at independence by sums of ``d^2/2e - d^3/6e^2`` at least, and of
    ``d^4/3e^3`` more at most. The powers of e are products of two factors, one of each feature. The
    last of the classes stands for all samples.
    """
    sizes = packed.sizes
    margins = packed.margins.reshape(-1, len(sizes), LANES).astype(np.float64)
    of_all = margins.sum(axis=1, keepdims=True)
    n = np.concatenate([margins, of_all], axis=1)
    m = np.append(sizes, sizes.sum())[:, np.newaxis].astype(np.float64)
    varies = (n > 0) & (n < m)
    in_level = np.where(varies, n, 1.0)
    in_other_level = np.where(varies, m - n, 1.0)
    factors = [n]
    for power in (1, 2, 3):
        of_cells = in_level**-power - (-1.0) ** power * in_other_level**-power
        factors.append(np.where(varies, m ** (power / 2) * of_cells, 0.0))
    of_columns = np.stack(factors, axis=2)
    of_rows = of_columns * np.array([1.0, 1 / 2, 1 / 6, 1 / 3])[:, np.newaxis]
    of_rows[:, :, 0] /= m
    # The information of the two features is subtracted, at least that of the first two terms.
    of_rows[:, -1, 1:] *= np.array([-1.0, -1.0, 0.0])[:, np.newaxis]
    rows_first = of_rows.transpose(0, 3, 1, 2)
    return BoundFactors(
        of_rows=np.ascontiguousarray(rows_first, np.float32),
        of_columns=np.ascontiguousarray(of_columns, np.float32),
    )


def scan_pairs(entropies: Entropies, groups: Indices | None = None, top: int = 0) -> Scan:
    """Find the best partner of every feature, and the best of all pairs.

    The interaction of two features is I(xi; y | xj) - I(xi; y). For every group of features, 0,
    1, ..., the best partner of a feature is the one of that group with which its interaction is
    largest. Ties go to the lowest index.
    """
    if groups is None:
        groups = np.zeros(entropies.n_features, np.int64)
    with threads(entropies.n_jobs):
        return entropies.source.scan(Query(INTERACTION), groups, top)
