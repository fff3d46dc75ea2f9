"""A first look at very many columns: the relevance of each, from a line and a parabola."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Array, Floats, Indices
from bestk.data.codes import encode
from bestk.data.table import Table, check_finite
from bestk.information import Entropies
from bestk.information.reading import ParsedTarget
from bestk.native import kernels
from bestk.native.threads import run_tiles, spans, threads
from bestk.selection.joint import SCAN_SECONDS, can_scan
from bestk.selection.methods import Joint, get_method

MAX_MEASURED = 32_768  # columns; of more, those with the largest relevance alone are considered
CONSIDERED = 8192
GROUP_COLUMNS = 64  # that a thread reads at a time
COUNTED_COLUMNS = 4096  # of categories, at a time
SMALLEST_REST = 1e-9  # of a variance; what is smaller is rounding
ALMOST_ALL = 1 - 1e-12  # of a variance
TINY = np.finfo(float).tiny


def screen(
    options: Any, table: Table, targets: Sequence[ParsedTarget], columns: Any, kept: Indices
) -> tuple[Indices, Floats | None]:
    """Of very many columns, those that the default considers; and the relevance of all.

    It considers all of them where a scan of all pairs is affordable.
    """
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
    relevance, rows = np.zeros(table.n_features), _Rows(target)
    for block in table.blocks:
        is_number = ~np.isin(block.columns, categorical) & (block.categories is None)
        for places, values in block.keep(is_number).strips():

            def look(span: tuple[int, int], places: Indices = places, values: Any = values) -> None:
                part, some = values[:, slice(*span)], places[slice(*span)]
                x = rows.read(part)
                for j in np.flatnonzero(~np.isfinite(x[:, 0])):  # minus itself, if it is finite
                    check_finite(f"column {table.names[some[j]]!r}", part[:, j])
                relevance[some] = rows.information(x)

            run_tiles(look, spans(len(places), GROUP_COLUMNS))
        for start, stop in spans(int((~is_number).sum()), COUNTED_COLUMNS):
            places = block.columns[~is_number][start:stop]
            relevance[places] = Entropies.count(encode(table.keep(places)), target.classes).mi()
    return relevance


class _Rows:
    """The rows of a table, those of a class side by side, and what y is in each."""

    def __init__(self, target: ParsedTarget) -> None:
        self.numbers: NDArray[np.float64] | None = None
        if target.continuous:
            y = target.numbers - target.numbers.mean()
            self.order, self.numbers = np.arange(len(y)), y / max(float(np.linalg.norm(y)), TINY)
        else:
            self.order = np.argsort(target.classes.codes, kind="stable")
            self.counts = target.classes.counts
            self.starts = np.cumsum(self.counts) - self.counts

    def read(self, values: Array) -> Floats:
        """Columns as rows, minus their first values; NaN where one is infinite."""
        x = np.empty((values.shape[1], len(self.order)))
        kernels.read_columns(values, self.order, len(self.order), x, len(x))
        if values.dtype.kind == "f":
            known = ~np.isnan(x)
            if not known.all():
                sums = np.where(known, x, 0.0).sum(axis=1, keepdims=True)
                x = np.where(known, x, sums / np.maximum(known.sum(axis=1, keepdims=True), 1))
            peak = np.abs(x).max(axis=1, keepdims=True)
            x /= np.where(np.isinf(peak), np.nan, np.maximum(peak, TINY))
        x -= x[:, :1]
        return x

    def information(self, x: Floats) -> Floats:
        """Gaussian information of y with each column and its square, as far as that is new."""
        n, square = x.shape[1], x * x
        (along, mean), (square_along, square_mean) = self._project(x), self._project(square)
        cubes, fourth = (np.einsum("ij,ij->i", part, square) for part in (x, square))
        variance = np.maximum(square_mean - mean**2, TINY)
        slope = (cubes / n - mean * square_mean) / variance
        spread = fourth / n - square_mean**2
        rest = spread - slope**2 * variance
        new = rest > SMALLEST_REST * spread  # the square of two values is a straight line
        more = square_along - slope[:, np.newaxis] * along
        share = (along**2).sum(axis=1) / variance
        share += np.where(new, (more**2).sum(axis=1) / np.where(new, rest, 1.0), 0.0)
        return -0.5 * np.log1p(-np.minimum(share / n, ALMOST_ALL))

    def _project(self, x: Floats) -> tuple[Floats, Floats]:
        """Coordinates of rows along y, or the classes, and the means of the rows."""
        if self.numbers is not None:
            return np.einsum("ij,j->i", x, self.numbers)[:, np.newaxis], x.mean(axis=1)
        sums = np.add.reduceat(x, self.starts, axis=1)
        mean = sums.sum(axis=1) / x.shape[1]
        return (sums - np.outer(mean, self.counts)) / np.sqrt(self.counts), mean
