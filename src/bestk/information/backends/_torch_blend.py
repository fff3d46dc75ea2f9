"""The blend on a device: counts of two kinds of bins and covariances, averaged."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from bestk._typing import Array, Floats, Indices
from bestk.discretize import MAX_SMALL_CUTS, ColumnCuts
from bestk.information._blend import BlendedSource
from bestk.information._gaussian import GaussianModel, Residuals, Side
from bestk.information.backends._source import PairSource
from bestk.information.backends._torch import RESULT_BYTES, TorchCounter, choose_device, copy_rows
from bestk.information.backends._torch_columns import DeviceColumns, DeviceScores
from bestk.information.backends._torch_table import free_bytes
from bestk.information.measures import Correction, Measure, Query
from bestk.tables.target import Target

# The part of the free memory of a device that the numbers of a table may take: sorting them and
# the planes of their codes take several times as much.
MAX_TABLE_SHARE = 0.1


@dataclass(frozen=True)
class DeviceMeasures:
    """What a blend measures of a table of numbers."""

    source: "DeviceBlend"

    cuts: ColumnCuts
    """By MDLP."""

    levels: Indices
    """Of each column, as MDLP cuts it."""


def measure_on_device(
    values: Array,
    target: Target,
    n_bins: int,
    correction: Correction,
    device: str,
) -> DeviceMeasures | None:
    """Measure numbers where they are copied once; None if the device cannot.

    ``values``: ``[row, feature]``. ``n_bins``: the number of bins of equal frequency.
    """
    chosen = choose_device(device)
    n_bytes = 8 * values.size
    if n_bytes > MAX_TABLE_SHARE * free_bytes(chosen):
        return None
    classes = target.classes
    columns = DeviceColumns.of(values, classes, chosen)
    if columns.values.isinf().any():
        return None
    by_entropy, by_frequency = columns.cut([None, n_bins])
    if max(by_entropy.counts.max(), by_frequency.counts.max()) > MAX_SMALL_CUTS:
        return None
    classes_in_order = replace(classes, codes=classes.codes[columns.order])
    counters = []
    for cuts in (by_entropy, by_frequency):
        codes = columns.code(cuts)
        counters.append(TorchCounter(codes, classes_in_order, correction, device=str(chosen)))
    source = DeviceBlend(counters, DeviceScores(columns, target))
    levels = by_entropy.counts + 1 + by_entropy.gaps
    return DeviceMeasures(source, by_entropy, levels)


class DeviceBlend(PairSource):
    """The mean of counts and a Gaussian estimate, taken on a device; see ``BlendedSource``."""

    is_discrete = False

    def __init__(self, counters: list[TorchCounter], scores: DeviceScores) -> None:
        self._counters = counters
        self._normal = GaussianModel(scores)
        self._scores = scores.values
        self._sides: dict[Measure, Side] = {}
        blend = BlendedSource([*counters, self._normal])
        self.singles = blend.singles
        self.copies = blend.copies

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        rows = np.arange(len(self._scores)) if query.rows is None else query.rows
        bytes_of_row = 16 * max(1, out.shape[1])
        height = max(1, RESULT_BYTES // bytes_of_row)
        for start in range(0, len(rows), height):
            stop = start + height
            strip = query._replace(rows=rows[start:stop], lowest=-np.inf)
            mean = self._mean(strip).clamp_(min=query.lowest)
            out_of_strip = torch.from_numpy(out[start:stop])
            places = np.arange(len(out_of_strip))
            copy_rows(mean.to(out_of_strip.dtype), out_of_strip, places)

    def _mean(self, query: Query) -> Tensor:
        """The mean of all estimates, ``[row, column]``, added up in the order of the host."""
        normal = self._gaussian(query)
        counted = torch.empty_like(normal)
        self._counters[0].write(query, counted)
        for counter in self._counters[1:]:
            values = torch.empty_like(normal)
            counter.write(query, values)
            counted.add_(values)
        return normal.add_(counted).div_(1 + len(self._counters))

    def _gaussian(self, query: Query) -> Tensor:
        """The Gaussian estimates of pairs, ``[row, column]``, by the formulas of the host."""
        measure = query.measure
        rows = self._on_device(query.rows)
        columns = self._on_device(query.columns)
        left = self._side(measure).part(rows)
        right = self._side(measure).part(columns)
        products = self._scores[rows] @ self._scores[columns].T
        values = left.row_term[:, None] + right.column_term
        values += self._normal.pair_part(
            measure, products, left, right, subtract=_unexplained, log=torch.log
        )
        is_same_feature = left.features[:, None] == right.features
        return torch.where(is_same_feature, left.diagonal[:, None], values)

    def _side(self, measure: Measure) -> Side:
        """All features with what each adds to a measure, on the device; kept for each measure."""
        if measure not in self._sides:
            device = self._scores.device
            on_host = self._normal.side(measure)
            self._sides[measure] = on_host.map(lambda vector: torch.from_numpy(vector).to(device))
        return self._sides[measure]

    def _on_device(self, features: Indices | None) -> Tensor | slice:
        """Features of a query as an index on the device; None: all of them."""
        if features is None:
            return slice(None)
        return torch.from_numpy(np.asarray(features)).to(self._scores.device)


def _unexplained(products: Tensor, left: Residuals, right: Residuals, weights: Floats) -> Tensor:
    """``1 - r^2``, operation by operation as on the host: see ``unexplained`` there."""
    residuals = products.clone()
    terms = zip(left.entries, right.entries, weights.tolist(), strict=True)
    for left_entries, right_entries, weight in terms:
        residuals -= left_entries[:, None] * right_entries * weight
    residuals *= left.scale[:, None] * right.scale
    return 1.0 - residuals * residuals
