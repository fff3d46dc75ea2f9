"""Pairs of features that tell about the target only together, found by counting in bins."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import chdtrc

from bestk._typing import Floats, Indices
from bestk.data.codes import Codes
from bestk.data.table import Table
from bestk.data.target import Target
from bestk.discretize import EqualFrequency
from bestk.information.blocks import Design, standardise_weighted
from bestk.information.constants import BlockConstants
from bestk.information.entropies import Entropies
from bestk.information.measures import INTERACTION
from bestk.information.reading import PAIR_ROWS, code_table, merge_rare, pair_bins
from bestk.information.scan import strongest_pairs

# Pairs of columns times rows that a scan may take unless the user gives a time limit: about ten
# seconds on two cores, and on a GPU much less. It is a count of operations, so that the speed of a
# machine does not change what is selected.
SCAN_WORK = 1e13
GPU_SCAN_WORK = 1e15

# Pairs of columns times rows that two cores count in a second, about.
WORK_PER_SECOND = 1e12


@dataclass(frozen=True)
class Pair:
    """Two features that tell more about the target together than one by one."""

    first: int
    second: int
    pvalue: float
    """How often chance gives as large a synergy to any of all pairs that were looked at."""


@dataclass(frozen=True)
class PairCounts:
    """A table cut into few bins, from which pairs of its columns are counted."""

    codes: Codes
    classes: Target
    entropies: Entropies
    order: Indices
    """The sample of the table that each entry of the codes and of the classes belongs to."""

    @classmethod
    def of(cls, table: Table, numeric: Indices, classes: Target, backend: str) -> "PairCounts":
        """Cut the numbers of a table into two or three bins of equal frequency.

        ``numeric``: the places of numeric columns; the levels of all others are counted as they
        are, but for rare ones, which are merged.
        """
        n_bins = pair_bins(table.n_features, table.n_samples, classes.n_classes)[0]
        codes, ordered_classes, _ = next(
            code_table([EqualFrequency(n_bins)], table, numeric, classes)
        )
        codes = merge_rare(codes, n_bins)
        entropies = Entropies.count(codes, ordered_classes, backend)
        keeps_order = ordered_classes is classes
        order = np.arange(table.n_samples) if keeps_order else classes.order
        return cls(codes, ordered_classes, entropies, order)

    def levels_of(self, feature: int) -> Indices:
        """The bin of a feature in each sample of the table."""
        levels = np.empty(self.codes.n_samples, np.int64)
        levels[self.order] = self.codes.values[feature]
        return levels

    def strongest(self, constants: BlockConstants) -> list[Pair]:
        """The pairs with the most synergy that is beyond chance, the strongest first."""
        scan = strongest_pairs(
            self.entropies,
            self.codes,
            self.classes.n_classes,
            constants.max_pairs,
            constants.pair_pvalue,
        )
        return [
            Pair(int(first), int(second), float(pvalue))
            for (first, second), pvalue in zip(scan.pairs, scan.pvalues, strict=True)
            if pvalue < constants.pair_pvalue
        ]

    def partners_of(self, feature: int, constants: BlockConstants) -> list[Pair]:
        """The features whose synergy with one feature is beyond chance, the strongest first."""
        synergy = self.entropies.measure(INTERACTION, [feature], signed=True)[0]
        levels = self.codes.levels
        degrees = (levels - 1) * (levels[feature] - 1) * (self.classes.n_classes - 1)
        statistic = 2.0 * self.codes.n_samples * np.maximum(synergy, 0.0)
        pvalues = np.where(degrees > 0, chdtrc(np.maximum(degrees, 1), statistic), 1.0)
        pvalues[feature] = 1.0
        pvalues = np.minimum(1.0, pvalues * (len(levels) - 1))
        order = np.argsort(pvalues, kind="stable")[: constants.max_pairs]
        significant = order[pvalues[order] < constants.pair_pvalue]
        return [
            Pair(min(feature, partner), max(feature, partner), float(pvalues[partner]))
            for partner in significant.tolist()
        ]


def can_scan(
    n_features: int, n_samples: int, on_gpu: bool = False, time_limit: float | None = None
) -> bool:
    """Whether all pairs of features are counted: by default where it takes ten seconds at most."""
    work = n_features**2 * (n_samples + PAIR_ROWS)
    if time_limit is not None:
        return work <= time_limit * WORK_PER_SECOND
    return work <= (GPU_SCAN_WORK if on_gpu else SCAN_WORK)


def add_pairs(
    design: Design, counts: PairCounts, pairs: Sequence[Pair], weights: Floats | None
) -> Design:
    """A design with one more feature for each pair.

    Its block has the columns of both features and the products of the indicators of their bins,
    which hold what the two tell only together.
    """
    columns: list[Floats] = []
    blocks: list[Indices] = []
    next_column = design.n_columns
    for pair in pairs:
        products = _bin_products(counts.levels_of(pair.first), counts.levels_of(pair.second))
        standardise_weighted(products, weights, design.unit)
        own = np.arange(next_column, next_column + len(products))
        next_column += len(products)
        columns.append(products)
        blocks.append(np.concatenate([design.blocks[pair.first], design.blocks[pair.second], own]))
    return design.with_columns(np.concatenate(columns), blocks)


def _bin_products(first: Indices, second: Indices) -> Floats:
    """Products of the centered indicators of all bins but the first of two columns, one a row."""
    indicators = [
        [(codes == level) - np.mean(codes == level) for level in np.unique(codes)[1:]]
        for codes in (first, second)
    ]
    return np.array([left * right for left, right in product(*indicators)])
