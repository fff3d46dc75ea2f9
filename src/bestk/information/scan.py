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

BOUND_ROWS, BOUND_TILES = 32, 1024  # features and tiles whose pairs are bounded in one call
SAFE = 0.99  # of a limit, for what rounding may take off a bound


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
    entropies: Entropies, codes: Any, n_classes: int, top: int, max_pvalue: float = 1.0,
    n_rows: int | None = None,
) -> SynergyScan:  # fmt: skip
    """The pairs with the largest synergy; those with p-values above a limit may be left out.

    ``n_rows``: the effective number of rows, if they have weights; None for those of the codes.
    """
    source, levels = entropies.source, codes.levels
    twice = 2 * (codes.n_samples if n_rows is None else n_rows)
    n_pairs = len(levels) * (len(levels) - 1) / 2
    if max_pvalue < 1 and isinstance(source, NativeCounter) and (levels == 2).all():
        least = stats.chi2.isf(max_pvalue / n_pairs, n_classes - 1) / twice
        with threads(entropies.n_jobs):
            pairs, values = pairs_above(source, least, top)
    else:
        *_, pairs, values = scan_pairs(entropies, top=top)
    degrees = (levels[pairs] - 1).prod(axis=1) * (n_classes - 1)
    tails = stats.chi2.sf(twice * values, np.maximum(degrees, 1))
    return SynergyScan(pairs, values, np.minimum(1.0, n_pairs * tails))


def pairs_above(counter: NativeCounter, least: float, count: int) -> tuple[Indices, Floats]:
    """The pairs with the largest interaction of at least ``least`` > 0, and these, in nats.

    All columns have two levels. Pairs are counted, and only what may reach it is looked up.
    """
    packed, n_samples = counter.packed, int(counter.packed.sizes.sum())
    n_words, n_classes = int(packed.words[-1]), len(packed.sizes)
    bits, (own, others) = packed.bits.reshape(-1, n_words, LANES), bound_factors(packed)
    best, lock = TopPairs(count, counter.n_features), Lock()
    best.least = least

    def work(span: tuple[int, int]) -> None:
        rows = bits[slice(*span)].transpose(0, 2, 1).reshape(-1)
        n_rows = (span[1] - span[0]) * LANES
        for first, last in spans(len(bits) - span[0], BOUND_TILES):
            tiles = slice(span[0] + first, span[0] + last)
            reached = np.zeros((n_rows, last - first), np.uint8)
            kernels.bound_pairs(
                rows, n_rows, bits[tiles].ravel(), last - first, packed.words, n_classes,
                own[slice(*span)].ravel(), others[tiles].ravel(),
                SAFE * best.least * n_samples, reached.ravel(),
            )  # fmt: skip
            if reached.any():
                look_up(reached, span[0] * LANES, tiles.start)

    def look_up(reached: Array, first_row: int, first_tile: int) -> None:
        """Measure the rows and tiles of which some pair may be large, each pair once."""
        i, j = (np.flatnonzero(reached.any(axis=axis)) for axis in (1, 0))
        i = i + first_row
        j = ((j + first_tile)[:, np.newaxis] * LANES + np.arange(LANES)).ravel()
        i, j = i[i < counter.n_features], j[j < counter.n_features]
        rows, columns = counter.order[i], counter.order[j]
        found = np.empty((len(i), len(j)), np.float32)
        with threads(1):
            counter.fill(Query(INTERACTION, rows, columns), found)
        found[i[:, np.newaxis] >= j] = -np.inf
        with lock:
            best.take(found, rows, columns)

    run_tiles(work, spans(len(bits), BOUND_ROWS // LANES))
    return best.pairs, best.values


def bound_factors(packed: Packed) -> tuple[Array, Array]:
    """Factors of two-level features in bounds of interactions, for each class and all samples.

    With d the difference of a count from independence and e what is expected, n log n of the four
    cells exceeds its value at independence by sums of ``d^2/2e - d^3/6e^2`` at least, and of
    ``d^4/3e^3`` more at most. The powers of e are products of two factors, one of each feature.
    The first result is of tile, lane, class and factor; the other of tile, class, factor and lane.
    """
    margins = packed.margins.reshape(-1, len(packed.sizes), LANES).astype(np.float64)
    n = np.concatenate([margins, margins.sum(axis=1, keepdims=True)], axis=1)
    m = np.append(packed.sizes, packed.sizes.sum())[:, np.newaxis].astype(np.float64)
    varies = (n > 0) & (n < m)
    share, rest = np.where(varies, n, 1.0), np.where(varies, m - n, 1.0)
    factors = np.stack([
        n, *(np.where(varies, m ** (p / 2) * (share**-p - (-1.0) ** p * rest**-p), 0.0)
             for p in (1, 2, 3)),
    ], axis=2)  # fmt: skip
    own = factors * np.array([1.0, 1 / 2, 1 / 6, 1 / 3])[:, np.newaxis]
    own[:, :, 0] /= m
    own[:, -1, 1:] *= np.array([-1.0, -1.0, 0.0])[:, np.newaxis]  # less I(xi; xj), at least
    own = np.ascontiguousarray(own.transpose(0, 3, 1, 2), np.float32)
    return own, np.ascontiguousarray(factors, np.float32)


def scan_pairs(entropies: Entropies, groups: Indices | None = None, top: int = 0) -> Scan:
    """Find the best partner of every feature, and the best of all pairs.

    The interaction of two features is I(xi; y | xj) - I(xi; y). For every group of features, 0,
    1, ..., the best partner of a feature is the one of that group with which its interaction is
    largest. Ties go to the lowest index.
    """
    source, query = entropies.source, Query(INTERACTION)
    groups = np.zeros(entropies.n_features, np.int64) if groups is None else groups
    with threads(entropies.n_jobs):
        return source.scan(query, groups, top)
