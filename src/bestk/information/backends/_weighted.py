"""The source for rows that have weights: cells are sums of real weights, added up on the CPU."""

from math import ceil

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Array, Floats, Indices
from bestk.information.backends._source import PairSource
from bestk.information.measures import (
    Correction,
    ExactEntropies,
    Formula,
    Query,
    Tables,
    chance_by_count,
    weigh,
)
from bestk.native import kernels
from bestk.native.threads import n_threads, run_tiles, spans, threads
from bestk.tables.codes import Codes
from bestk.tables.target import ClassTarget
from bestk.tables.weights import RowWeights

# The sums of so many pairs are held at once, which take 16 bytes each: 16 MiB.
STRIP_PAIRS = 2**20

# About the seconds that a sample of one pair takes. They decide how many threads are worth it.
SAMPLE_SECONDS = 4e-9

# The work is divided into so many pieces for each thread, so that threads end at about one time.
PIECES_PER_THREAD = 4


class WeightedCounter(PairSource):
    """Entropies of a discrete table whose rows have weights, in effective rows.

    With n the weight of a cell, scaled so that all add up to the effective number of rows m,
    ``m H = m log m - sum of n log n`` as for counts. Corrections for bias are those of m rows:
    "miller-madow" adds 1 / 2m for each cell that is not empty. "chance" takes the classes as m
    rows, rounded to whole ones, and the mean over orders of their labels for a cell of n rows;
    between whole numbers n it is a straight line.
    """

    is_discrete = True

    def __init__(
        self, codes: Codes, target: ClassTarget, correction: Correction | None = None
    ) -> None:
        weights = target.weights or RowWeights(np.ones(codes.n_samples))
        self.n_features = codes.n_features
        # A column of one level is added: its pairs with others are the others by themselves.
        shape = codes.n_features + 1, codes.n_samples
        self._codes: NDArray[np.uint16] = np.zeros(shape, np.uint16)
        self._codes[:-1] = codes.values[:, target.order]
        self._levels = np.append(codes.levels, 1)
        self._class_of = target.codes[target.order]
        self._weights = weights.values[target.order]
        self._scale = weights.scale
        self._m = target.n_rows
        self._occupied = 0.5 if correction == "miller-madow" else 0.0
        self._chance: Floats | None = None
        if correction == "chance":
            self._chance = chance_by_count(round_sizes(target.sizes, self._m))
        self._one = fixed_point(self._m, codes.n_samples)
        with threads(seconds=SAMPLE_SECONDS * self._codes.size):
            self._exact = self._count_singles()
        self.singles = self._exact.singles()
        self.copies = self.singles[0]

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        formula = self._exact.formula(query.measure, query.lowest)
        rows, columns = query.features(self.n_features)
        mirrored = query.rows is query.columns
        seconds = SAMPLE_SECONDS * out.size * len(self._weights)
        height = max(1, STRIP_PAIRS // max(1, len(columns)))
        with threads(seconds=seconds):
            for start, stop in spans(len(rows), height):
                # Of pairs that stand at [i, j] and at [j, i], only one is added up.
                first = start if mirrored else 0
                rows_of_strip = rows[start:stop]
                columns_of_strip = columns[first:]
                pair_sums, class_sums = self._add_up(rows_of_strip, columns_of_strip, self._chance)
                pairs = -weigh((query.measure.xx, pair_sums), (query.measure.xxy, class_sums))
                values = _in_nats(formula, pairs, rows_of_strip, columns_of_strip)
                out[start:stop, first:] = values
                if mirrored:
                    transposed = _in_nats(formula, pairs.T, columns_of_strip, rows_of_strip)
                    out[first:, start:stop] = transposed

    def _count_singles(self) -> ExactEntropies:
        """Entropies of each feature, from its pairs with the column of one level."""
        all_columns = np.arange(self.n_features + 1)
        one_level = all_columns[-1:]
        pair_sums, class_sums = self._add_up(all_columns, one_level, self._chance)
        _, sum_of_classes = self._add_up(one_level, one_level, None)
        total = int(pair_sums[-1, 0])
        classes = int(sum_of_classes[0, 0])
        no_table = np.zeros(0, np.int64)
        tables = Tables(
            scale=1.0 / (self._one * self._m),
            total=total,
            plain=no_table,
            chance=no_table,
            offset=classes - int(class_sums[-1, 0]),
            y=total - classes,
        )
        return ExactEntropies(tables, pair_sums[:-1, 0], class_sums[:-1, 0])

    def _add_up(
        self, rows: Indices, columns: Indices, chance: Floats | None
    ) -> tuple[Indices, Indices]:
        """Add up n log n over the cells of pairs of columns, in fixed point.

        Parameters
        ----------
        rows, columns : array of int
            The columns of the table that make the pairs; the last is the one of one level.
        chance : array or None
            What chance adds for a cell (xi, xj), by its number of rows; None: nothing.

        Returns
        -------
        pair_sums : array of int, of shape (len(rows), len(columns))
            The sums over the cells (xi, xj).
        class_sums : array of int, of shape (len(rows), len(columns))
            The sums over the cells (xi, xj, y), with what chance adds.
        """
        pair_sums = np.empty((len(rows), len(columns)), np.int64)
        class_sums = np.empty_like(pair_sums)
        add = kernels.add_weights.bind(
            self._codes,
            self._levels,
            len(self._weights),
            int(self._levels.max()),
            self._class_of,
            self._weights,
            self._scale,
            self._one,
            self._occupied,
            chance,
            self._m,
            rows,
            columns,
            len(columns),
            pair_sums,
            class_sums,
        )
        n_pieces = 1
        if n_threads() > 1:
            n_pieces = PIECES_PER_THREAD * n_threads()
        rows_of_piece = max(1, ceil(len(rows) / n_pieces))
        run_tiles(lambda span: add(*span), spans(len(rows), rows_of_piece))
        return pair_sums, class_sums


def _in_nats(formula: Formula, pairs: Indices, rows: Indices, columns: Indices) -> Floats:
    """The values of a formula for pairs of features, by what their cells add to it.

    ``pairs``: in fixed point, of shape (len(rows), len(columns)), whose features these are.
    """
    total = pairs + formula.row_term[rows, np.newaxis] + formula.column_term[columns]
    return np.maximum(total * formula.scale, formula.lowest)


def round_sizes(sizes: Floats, total: int) -> Indices:
    """Whole numbers of a given sum near some sizes: the largest remainders are rounded up."""
    whole = np.floor(sizes).astype(np.int64)
    n_missing = max(0, total - int(whole.sum()))
    by_remainder = np.argsort(whole - sizes, kind="stable")
    rounded_up = by_remainder[:n_missing]
    whole[rounded_up] += 1
    return whole


def fixed_point(m: int, n_samples: int) -> float:
    """The unit of sums of n log n of cells that add up to m, so that no sum overflows.

    A cell of less than one row adds at least ``-1 / e``, and there are at most as many as samples.
    """
    largest = m * np.log(m) + m + n_samples + 1.0
    bits_of_largest = int(np.ceil(np.log2(largest)))
    return float(2.0 ** (57 - bits_of_largest))
