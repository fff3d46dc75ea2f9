"""The blend on a device: counts of two kinds of bins and covariances, averaged."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bestk._typing import Array, Floats, Indices
from bestk.discretize import ColumnCuts
from bestk.information._blend import BlendedSource
from bestk.information._gaussian import GaussianSource, Side
from bestk.information.backends._torch import RESULT_BYTES, TorchCounter, choose_device, copy_rows
from bestk.information.backends._torch_columns import DeviceColumns, DeviceScores
from bestk.information.backends._torch_table import free_bytes
from bestk.information.measures import Correction, Measure, Query
from bestk.information.reading import MAX_SMALL_CUTS
from bestk.tables.target import Target

MAX_TABLE_SHARE = 0.1  # of the device's free memory, for the numbers of a table


class DeviceMeasures(NamedTuple):
    """What a blend measures of a table of numbers."""

    source: "DeviceBlend"
    cuts: ColumnCuts  # by MDLP
    levels: Indices  # of each column, as MDLP cuts it


def measure_on_device(
    values: Array,
    target: Target,
    n_bins: int,
    correction: Correction,
    device: str,
) -> DeviceMeasures | None:
    """Measure numbers where they are copied once; None if the device cannot.

    ``n_bins``: the number of bins of equal frequency.
    """
    chosen = choose_device(device)
    if 8 * values.size > MAX_TABLE_SHARE * free_bytes(chosen):
        return None
    columns = DeviceColumns.of(values, target.classes, chosen)
    if columns.values.isinf().any():
        return None
    by_entropy, equal = columns.cut([None, n_bins])
    if max(by_entropy.counts.max(), equal.counts.max()) > MAX_SMALL_CUTS:
        return None
    classes = target.classes
    ordered = replace(classes, codes=classes.codes[columns.order])
    coded = [columns.code(cuts) for cuts in (by_entropy, equal)]
    counters = [TorchCounter(codes, ordered, correction, device=str(chosen)) for codes in coded]
    source = DeviceBlend(counters, DeviceScores(columns, target))
    return DeviceMeasures(source, by_entropy, coded[0].levels)


class DeviceBlend:
    """The mean of counts and a Gaussian estimate, taken on a device; see BlendedSource."""

    is_discrete = False

    def __init__(self, counters: list[TorchCounter], scores: Any) -> None:
        self._counters, self._normal = counters, GaussianSource(scores)
        self._scores, self._sides = scores.values, dict[Measure, Side]()
        blend = BlendedSource([*counters, self._normal])
        self.singles, self.copies = blend.singles, blend.copies

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        rows = np.arange(len(self._scores)) if query.rows is None else query.rows
        height = max(1, RESULT_BYTES // (16 * max(1, out.shape[1])))
        for start in range(0, len(rows), height):
            part = query._replace(rows=rows[start : start + height], lowest=-np.inf)
            mean = self._mean(part).clamp_(min=query.lowest)
            here = torch.from_numpy(out[start : start + height])
            copy_rows(mean.to(here.dtype), here, np.arange(len(here)))

    def _mean(self, query: Query) -> Tensor:
        normal, total = self._gaussian(query), None
        for counter in self._counters:  # in the order in which the host adds them up
            own = torch.empty_like(normal)
            counter.write(query, own)
            total = own if total is None else total.add_(own)
        return normal.add_(total).div_(1 + len(self._counters))

    def _gaussian(self, query: Query) -> Tensor:
        """The Gaussian estimates of pairs, by the formulas of the host."""
        z, measure = self._scores, query.measure
        if measure not in self._sides:
            every = self._normal.side(measure)
            vectors: Any = (torch.from_numpy(v).to(z.device) for v in every)
            self._sides[measure] = Side(*vectors)
        rows, columns = (
            slice(None) if some is None else torch.from_numpy(np.asarray(some)).to(z.device)
            for some in (query.rows, query.columns)
        )
        left, right = (self._sides[measure].part(some) for some in (rows, columns))
        products = z[rows] @ z[columns].T
        out: Any = left.row_term[:, None] + right.column_term
        out += self._normal.pair_part(measure, products, left, right, _unexplained, torch.log)
        same = left.features[:, None] == right.features
        return torch.where(same, left.diagonal[:, None], out)


def _unexplained(products: Tensor, left: Any, right: Any, weights: Floats) -> Tensor:
    """``1 - r^2``, operation by operation as on the host."""
    (entries, scale), (others, other_scale) = left, right
    out = products.clone()
    for entry, other, weight in zip(entries, others, weights.tolist(), strict=True):
        out -= entry[:, None] * other * weight
    out *= scale[:, None] * other_scale
    return 1.0 - out * out
