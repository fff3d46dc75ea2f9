"""All pairs of features, of which only the best are kept: the matrix of pairs is never held."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from bestk._typing import Floats, Indices
from bestk.data.codes import Codes
from bestk.data.target import Target
from bestk.information.backends import Scanning
from bestk.information.backends._native import NativeCounter
from bestk.information.backends._reductions import Progress, Scan, cut_tiles, scan_tiles
from bestk.information.entropies import Entropies
from bestk.information.measures import INTERACTION, Query
from bestk.native.threads import threads

__all__ = ["DiscreteTable", "Progress", "Synergies", "scan_pairs", "strongest_pairs"]

MAX_PAIR_PVALUE = 0.05  # of a synergy as large in any of all pairs


class DiscreteTable(NamedTuple):
    """A discrete table whose pairs can be counted."""

    entropies: Entropies
    levels: Indices
    n_samples: int
    n_classes: int

    @classmethod
    def of(cls, codes: Codes, target: Target, backend: str) -> "DiscreteTable":
        """A table in memory."""
        entropies = Entropies.count(codes, target, backend)
        return cls(entropies, codes.levels, codes.n_samples, target.n_classes)


class Synergies(NamedTuple):
    """The pairs with the largest synergy."""

    pairs: Indices  # a row for each, the lower column first
    values: Floats  # I(xi; y | xj) - I(xi; y), in nats, descending
    pvalues: Floats  # of an interaction as large in any of all pairs


def strongest_pairs(
    table: DiscreteTable, top: int, progress: Progress | None = None, max_pvalue: float = 1.0
) -> Synergies:
    """The pairs with the largest synergy; p-values are those of chi-square times all pairs.

    Pairs with larger p-values than ``max_pvalue`` may be left out.
    """
    source, n = table.entropies.source, len(table.levels)
    n_pairs = n * (n - 1) / 2
    if max_pvalue < 1 and isinstance(source, NativeCounter) and (table.levels == 2).all():
        least = stats.chi2.isf(max_pvalue / n_pairs, table.n_classes - 1) / (2 * table.n_samples)
        with threads(table.entropies.n_jobs):
            pairs, values = source.pairs_above(least, top)
    else:
        *_, pairs, values = scan_pairs(table.entropies, top=top, progress=progress)
    degrees = (table.levels[pairs] - 1).prod(axis=1) * (table.n_classes - 1)
    tails = stats.chi2.sf(2 * table.n_samples * values, np.maximum(degrees, 1))
    return Synergies(pairs, values, np.minimum(1.0, n_pairs * tails))


def scan_pairs(
    entropies: Entropies,
    groups: Indices | None = None,
    top: int = 0,
    progress: Progress | None = None,
) -> Scan:
    """Find the best partner of every feature, and the best of all pairs.

    The interaction of two features is I(xi; y | xj) - I(xi; y). For every group of features, 0,
    1, ..., the best partner of a feature is the one of that group with which its interaction is
    largest. Ties go to the lowest index.
    """
    source, query = entropies.source, Query(INTERACTION)
    groups = np.zeros(entropies.n_features, np.int64) if groups is None else groups
    with threads(entropies.n_jobs):
        if isinstance(source, Scanning):
            return source.scan(query, groups, top)
        return scan_tiles(source, query, groups, list(cut_tiles(groups)), top, progress)
