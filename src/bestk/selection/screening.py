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
    """What sums along y need: the class of each row, or one class with steps along a number."""

    classes: Indices
    steps: Floats  # 1 for classes; along a number, of weighted mean 0 and length 1
    n_classes: int
    weights: Floats  # of the rows, in effective rows; 1 where they count alike
    alike: bool

    @classmethod
    def of(cls, target: ParsedTarget) -> "_Sums":
        n, alike = target.n_samples, target.weights is None
        weights = np.ones(n) if target.weights is None else target.weights.in_rows
        if not target.continuous:
            classes = target.classes
            return cls(classes.codes, np.ones(n), classes.n_classes, weights, alike)
        y = target.numbers - np.average(target.numbers, weights=None if alike else weights)
        length = np.linalg.norm(y) if alike else np.sqrt(weights @ y**2)
        return cls(np.zeros(n, np.int64), y / max(float(length), TINY), 1, weights, alike)

    def information(self, values: Array) -> Floats:
        """Gaussian information of y with columns and their squares; NaN where one is infinite."""
        width = values.shape[1]
        n = float(self.weights.sum())
        totals, sums = np.empty((4, width)), np.empty((2, self.n_classes, width))
        if self.alike:
            add = kernels.add_powers.bind(
                as_table(values), len(values), width, self.classes, self.steps, self.n_classes,
                totals, sums,
            )  # fmt: skip
            run_tiles(lambda span: add(*span), spans(width, GROUP_COLUMNS))
        else:
            self._add_weighted(values, totals, sums)
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

    def _add_weighted(self, values: Array, totals: Floats, sums: Floats) -> None:
        """Weighted sums as the kernel ``add_powers`` has them, of columns in one scale."""
        x = np.asarray(values, np.float64)
        missing = np.isnan(x)
        known = np.where(missing, 0.0, x)
        largest = np.abs(known).max(axis=0)
        with np.errstate(invalid="ignore"):  # infinite values, whose columns are refused later
            x = known / np.where(largest > 0, largest, 1.0)
            weight_known = np.maximum(self.weights @ ~missing, TINY)
            x = np.where(missing, (self.weights @ x) / weight_known, x)
        for power in range(4):
            totals[power] = self.weights @ x ** (power + 1)
        member = np.zeros((self.n_classes, len(x)))
        member[self.classes, np.arange(len(x))] = self.weights * self.steps
        sums[0] = member @ x
        sums[1] = member @ x**2

    def _project(self, sums: Floats, mean: Floats) -> Floats:
        """Coordinates of columns along y or the classes, less their mean."""
        steps, squares = self.weights * self.steps, self.weights * self.steps**2
        total = np.bincount(self.classes, steps, self.n_classes)[:, np.newaxis]
        square = np.bincount(self.classes, squares, self.n_classes)[:, np.newaxis]
        return (sums - total * mean) / np.sqrt(np.maximum(square, TINY))
