"""The default estimate on a device: counts of two kinds of bins and covariances, averaged."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bestk._typing import Array, Floats, Indices
from bestk.data.target import Target
from bestk.discretize import ColumnCuts
from bestk.information._blend import BlendedSource, measure_curvature
from bestk.information._gaussian import GaussianSource, Side
from bestk.information._scores import Covariances
from bestk.information.backends._torch import RESULT_BYTES, TorchCounter, choose_device, copy_rows
from bestk.information.backends._torch_columns import DeviceColumns, DeviceScores
from bestk.information.backends._torch_table import free_bytes
from bestk.information.entropies import Entropies
from bestk.information.measures import Correction, Measure, Query
from bestk.information.reading import MAX_SMALL_CUTS
from bestk.information.scan import PairScan, strongest_pairs

MAX_TABLE_SHARE = 0.1  # of the device's free memory, for the numbers of a table


class DeviceMeasures(NamedTuple):
    """What the default measures of a table of numbers."""

    source: "DeviceBlend"
    covariances: Covariances
    curvature: Floats
    cuts: ColumnCuts  # by MDLP
    levels: tuple[Indices, Indices]  # by MDLP, and of equal frequency
    find_synergy: Any  # the strongest pairs of all, by their number; None: not on the device


def measure_on_device(
    values: Array, target: Target, goal: Any, n_bins: tuple[int, int], correction: Correction,
    device: str,
) -> DeviceMeasures | None:  # fmt: skip
    """Measure numbers where they are copied once; None if the device cannot.

    ``goal``: the classes, or the numbers of a continuous target. Bins of equal frequency: of
    columns, and of the columns of a pair in a scan of all pairs.
    """
    chosen = choose_device(device)
    if 8 * values.size > MAX_TABLE_SHARE * free_bytes(chosen):
        return None
    columns = DeviceColumns.of(values, target, chosen)
    if columns.values.isinf().any():
        return None
    by_entropy, equal, for_pairs = columns.cut([None, *n_bins])
    if max(by_entropy.counts.max(), equal.counts.max()) > MAX_SMALL_CUTS:
        return None
    ordered = replace(target, codes=target.codes[columns.order])
    count = partial(TorchCounter, target=ordered, device=str(chosen))
    coded = [columns.code(cuts) for cuts in (by_entropy, equal)]
    scores: Any = DeviceScores(columns, goal)
    source = DeviceBlend([count(codes, correction=correction) for codes in coded], scores)
    covariances = Covariances([(np.arange(len(equal.counts)), scores, scores.explained)])

    def find_synergy(top: int) -> PairScan:
        codes = columns.code(for_pairs)
        counter = count(codes)
        entropies = Entropies(*counter.singles, counter)
        return strongest_pairs(entropies, codes, target.n_classes, top)

    rare = for_pairs.gaps.any()  # levels that may have to be merged
    return DeviceMeasures(
        source, covariances, measure_curvature(scores), by_entropy,
        (coded[0].levels, coded[1].levels), None if rare else find_synergy,
    )  # fmt: skip


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
