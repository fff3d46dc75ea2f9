"""A first look at very many columns: the relevance of each, from a line and a parabola."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.data.codes import encode
from bestk.data.table import Table, check_finite
from bestk.data.target import ParsedTarget
from bestk.information import Entropies
from bestk.information.reading import SCAN_SECONDS, can_scan
from bestk.native import as_table, kernels
from bestk.native.threads import run_tiles, spans, threads
from bestk.selection.methods import Joint, get_method

MAX_MEASURED = 32_768  # columns; of more, those with the largest relevance alone are considered
CONSIDERED = 8192
GROUP_COLUMNS = 256  # that a thread adds up at a time
COUNTED_COLUMNS = 4096  # of categories, at a time
SMALLEST_REST = 1e-9  # of a variance; what is smaller is rounding
ALMOST_ALL = 1 - 1e-12  # of a variance
TINY = np.finfo(float).tiny


def screen(
    options: Any, table: Table, targets: Sequence[ParsedTarget], columns: Any, kept: Indices
) -> tuple[Indices, Floats | None]:
    """Of very many columns, unless all pairs can be scanned, the best; and the relevance of all."""
    k = getattr(options, "k", None)  # which SelectBestKCV chooses
    wanted = k if isinstance(k, Integral) else MAX_MEASURED // 2
    most = max(CONSIDERED, 2 * int(wanted))
    if (
        not isinstance(get_method(options.method), Joint)
        or columns.groups is not None
        or len(kept) <= max(MAX_MEASURED, most)
        or can_scan(len(kept), table.n_samples, options.time_limit or SCAN_SECONDS)
    ):
        return kept, None
    with threads(options.n_jobs):
        each = [first_relevance(table, target, columns.categorical) for target in targets]
        relevance = np.sum(each, axis=0)
    first = kept[np.argsort(-relevance[kept], kind="stable")[:most]]
    return np.union1d(first, columns.included), relevance


def first_relevance(table: Table, target: ParsedTarget, categorical: Indices) -> Floats:
    """About I(xi; y) of each column, in nats; of categories by counting."""
    relevance, sums = np.zeros(table.n_features), _Sums.of(target)
    for block in table.blocks:
        is_number = ~np.isin(block.columns, categorical) & (block.categories is None)
        for places, values in block.keep(is_number).strips():
            relevance[places] = sums.information(values)
            for j in np.flatnonzero(np.isnan(relevance[places])):
                check_finite(f"column {table.names[places[j]]!r}", values[:, j])
        for start, stop in spans(int((~is_number).sum()), COUNTED_COLUMNS):
            places = block.columns[~is_number][start:stop]
            relevance[places] = Entropies.count(encode(table.keep(places)), target.classes).mi()
    return relevance


@dataclass(frozen=True)
class _Sums:
    """What sums along y need: the class of each row, or one class with weights along a number."""

    classes: Indices
    weights: Floats
    n_classes: int

    @classmethod
    def of(cls, target: ParsedTarget) -> "_Sums":
        if not target.continuous:
            classes = target.classes
            return cls(classes.codes, np.ones(len(classes.codes)), classes.n_classes)
        y = target.numbers - target.numbers.mean()
        return cls(np.zeros(len(y), np.int64), y / max(float(np.linalg.norm(y)), TINY), 1)

    def information(self, values: Array) -> Floats:
        """Gaussian information of y with columns and their squares; NaN where one is infinite."""
        n, width = values.shape
        totals, sums = np.empty((4, width)), np.empty((2, self.n_classes, width))
        add = kernels.add_powers.bind(
            as_table(values), n, width, self.classes, self.weights, self.n_classes, totals, sums
        )
        run_tiles(lambda span: add(*span), spans(width, GROUP_COLUMNS))
        mean, square_mean, cube_mean, fourth_mean = totals / n
        along, square_along = self._project(sums[0], mean), self._project(sums[1], square_mean)
        variance = np.maximum(square_mean - mean**2, TINY)
        slope = (cube_mean - mean * square_mean) / variance
        spread = fourth_mean - square_mean**2
        rest = spread - slope**2 * variance
        new = rest > SMALLEST_REST * spread  # the square of two values is a straight line
        more = square_along - slope * along
        share = (along**2).sum(axis=0) / variance
        share += np.where(new, (more**2).sum(axis=0) / np.where(new, rest, 1.0), 0.0)
        return -0.5 * np.log1p(-np.minimum(share / n, ALMOST_ALL))

    def _project(self, sums: Floats, mean: Floats) -> Floats:
        """Coordinates of columns along y or the classes, less their mean."""
        total = np.bincount(self.classes, self.weights, self.n_classes)[:, np.newaxis]
        square = np.bincount(self.classes, self.weights**2, self.n_classes)[:, np.newaxis]
        return (sums - total * mean) / np.sqrt(np.maximum(square, TINY))
