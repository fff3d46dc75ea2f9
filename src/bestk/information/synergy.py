"""Pairs of features that tell about the target only together, found by counting in bins."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from bestk._cached import cached_property
from bestk._typing import Floats, Indices
from bestk.information.blocks import Design, standard_columns_of_cells
from bestk.information.coding import PAIR_ROWS, code_table, equal_frequency, merge_rare, pair_bins
from bestk.information.constants import BlockConstants
from bestk.information.entropies import Entropies
from bestk.information.entropy_reader import WORK_PER_SECOND
from bestk.information.scan import strongest_pairs
from bestk.tables.codes import Codes
from bestk.tables.table import Table
from bestk.tables.target import ClassTarget, Target

# Pairs that are candidates, times rows: the columns of more pairs would take longer to sum up than
# all columns of the table.
CANDIDATE_WORK = 4e6

# Pairs of columns times rows that a scan may take unless the user gives a time limit: about ten
# seconds on two cores, and on a GPU much less. It is a count of operations, so that the speed of a
# machine does not change what is selected.
SCAN_WORK = 1e13
GPU_SCAN_WORK = 1e15


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
    classes: ClassTarget
    entropies: Entropies
    order: Indices
    """The sample of the table that each entry of the codes and of the classes belongs to."""

    @classmethod
    def of(cls, table: Table, numeric: Indices, classes: ClassTarget, backend: str) -> "PairCounts":
        """Cut the numbers of a table into two or three bins of equal frequency.

        ``numeric``: the places of numeric columns; the levels of all others are counted as they
        are, but for rare ones, which are merged.
        """
        n_bins = pair_bins(table.n_features, table.n_samples, classes.n_classes)[0]
        coded = next(code_table([equal_frequency(n_bins)], table, numeric, classes))
        codes = merge_rare(coded.codes, n_bins)
        ordered_classes = coded.classes
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
        affordable = int(CANDIDATE_WORK / self.codes.n_samples)
        scan = strongest_pairs(
            self.entropies,
            self.codes,
            self.classes.n_classes,
            max(1, min(constants.max_pairs, affordable)),
            constants.added_pvalue,
            self.classes.n_rows,
        )
        return [
            Pair(int(first), int(second), float(pvalue))
            for (first, second), pvalue in zip(scan.pairs, scan.pvalues, strict=True)
            if pvalue < constants.added_pvalue
        ]


@dataclass(frozen=True)
class PairSearch:
    """Looks for pairs with synergy in a table, when it is first asked to."""

    table: Table
    numeric: Indices
    """The places of numeric columns."""

    targets: tuple[Target, ...]
    backend: str
    constants: BlockConstants
    scans_all: bool
    """Whether all pairs are counted, or only those with a feature that is selected."""

    features: Indices
    """The places of the features to which the found pairs refer, in rising order."""

    @cached_property
    def counts(self) -> list[PairCounts]:
        """The table as it is counted for each target."""
        return [
            PairCounts.of(self.table, self.numeric, target.classes, self.backend)
            for target in self.targets
        ]

    @cached_property
    def strongest(self) -> list[Pair]:
        """The pairs with the most synergy for any target, by their places in the table."""
        if not self.scans_all:
            return []
        return self._joined([counts.strongest(self.constants) for counts in self.counts])

    @property
    def pairs(self) -> list[Pair]:
        """The same, by their places among the features."""
        return self._among_features(self.strongest)

    def of_target(self, number: int) -> "PairSearch":
        """The search for one of the targets."""
        return replace(self, targets=(self.targets[number],))

    def among(self, features: Indices) -> "PairSearch":
        """The same search, whose pairs refer to some of the features; what was found is kept."""
        part = replace(self, features=self.features[features])
        for name in ("counts", "strongest"):
            if name in vars(self):
                vars(part)[name] = vars(self)[name]
        return part

    def _joined(self, of_targets: Sequence[Sequence[Pair]]) -> list[Pair]:
        """Pairs that were found for several targets, once each, with the smallest p-value."""
        pairs: dict[tuple[int, int], Pair] = {}
        for pair in chain.from_iterable(of_targets):
            of_other_target = pairs.get((pair.first, pair.second))
            if of_other_target is None or pair.pvalue < of_other_target.pvalue:
                pairs[pair.first, pair.second] = pair
        return list(pairs.values())

    def _among_features(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Pairs of places in the table as pairs of features; others are left out."""
        place_of = np.full(self.table.n_features, -1)
        place_of[self.features] = np.arange(len(self.features))
        renumbered = [
            Pair(int(place_of[pair.first]), int(place_of[pair.second]), pair.pvalue)
            for pair in pairs
        ]
        return [pair for pair in renumbered if pair.first >= 0 and pair.second >= 0]


def can_scan(
    n_features: int, n_samples: int, on_gpu: bool = False, time_limit: float | None = None
) -> bool:
    """Whether all pairs of features are counted: by default where it takes ten seconds at most."""
    work = n_features**2 * (n_samples + PAIR_ROWS)
    if time_limit is not None:
        return work <= time_limit * WORK_PER_SECOND
    return work <= (GPU_SCAN_WORK if on_gpu else SCAN_WORK)


def pair_columns(
    design: Design, search: PairSearch, pairs: Sequence[Pair]
) -> tuple[Floats, list[Indices]]:
    """The columns that pairs add to a design, and the block of each pair.

    The block has the columns of both features and the products of the indicators of their bins,
    which hold what the two tell only together.
    """
    counts = search.counts[0]
    first = search.features[[pair.first for pair in pairs]]
    second = search.features[[pair.second for pair in pairs]]
    n_products = (counts.codes.levels[first] - 1) * (counts.codes.levels[second] - 1)
    ends = np.cumsum(n_products)
    columns = np.empty((ends[-1], counts.codes.n_samples))
    levels_of = {feature: counts.levels_of(feature) for feature in np.union1d(first, second)}
    blocks: list[Indices] = []
    for number, pair in enumerate(pairs):
        n_first = int(counts.codes.levels[first[number]])
        n_second = int(counts.codes.levels[second[number]])
        cell_of_row = levels_of[first[number]] * n_second + levels_of[second[number]]
        rows_of_cell = np.bincount(cell_of_row, minlength=n_first * n_second)
        places = np.arange(ends[number] - n_products[number], ends[number])
        standard_columns_of_cells(
            _bin_products(rows_of_cell.reshape(n_first, n_second)),
            cell_of_row,
            rows_of_cell,
            design.weights,
            design.unit,
            out=columns[places[0] : places[-1] + 1],
        )
        columns_of_both = np.append(design.columns_of(pair.first), design.columns_of(pair.second))
        blocks.append(np.append(columns_of_both, design.n_columns + places))
    if design.adjustment is not None:
        design.adjustment.subtract_from(columns)
    return columns, blocks


def _bin_products(rows_of_cell: Indices) -> Floats:
    """Products of the centered indicators of all bins but the first of two columns.

    ``rows_of_cell``: the number of rows in each bin of the first column (rows) and of the second.
    There is a row for each product, and a column for each cell: bins 0 and 0, 0 and 1, ...
    """
    n_samples = rows_of_cell.sum()
    share_of_first = rows_of_cell.sum(axis=1) / n_samples
    share_of_second = rows_of_cell.sum(axis=0) / n_samples
    in_first = np.eye(len(share_of_first)) - share_of_first[:, np.newaxis]
    in_second = np.eye(len(share_of_second)) - share_of_second[:, np.newaxis]
    products = in_first[1:, np.newaxis, :, np.newaxis] * in_second[1:, np.newaxis]
    return np.asarray(products.reshape(-1, rows_of_cell.size))
