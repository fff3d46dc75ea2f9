"""The default estimate on a device: counts of two kinds of bins and covariances, averaged."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bestk._typing import Array, Floats, Indices
from bestk.data.target import Target
from bestk.discretize import Cuts
from bestk.information._blend import BlendedSource
from bestk.information._fixed_point import Correction
from bestk.information._gaussian import GaussianSource, Side
from bestk.information._scores import Covariances
from bestk.information.backends._torch import RESULT_BYTES, TorchCounter, choose_device, copy_rows
from bestk.information.backends._torch_columns import DeviceColumns, DeviceScores
from bestk.information.backends._torch_table import free_bytes
from bestk.information.coding import MAX_SMALL_CUTS
from bestk.information.entropies import Entropies
from bestk.information.measures import Measure, Query
from bestk.information.scan import DiscreteTable, Synergies, strongest_pairs

MAX_TABLE_SHARE = 0.1  # of the device's free memory, for the numbers of a table


class DeviceMeasures(NamedTuple):
    """What the default measures of a table of numbers."""

    source: "DeviceBlend"
    covariances: Covariances
    cuts: Cuts  # by MDLP
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

    def find_synergy(top: int) -> Synergies:
        codes = columns.code(for_pairs)
        counter = count(codes)
        entropies = Entropies(*counter.singles(), counter)
        table = DiscreteTable(entropies, codes.levels, codes.n_samples, target.n_classes)
        return strongest_pairs(table, top)

    rare = for_pairs.gaps.any()  # levels that may have to be merged
    return DeviceMeasures(
        source, covariances, by_entropy, (coded[0].levels, coded[1].levels),
        None if rare else find_synergy,
    )  # fmt: skip


class DeviceBlend:
    """The mean of counts and a Gaussian estimate, taken on a device; see BlendedSource."""

    is_discrete = False

    def __init__(self, counters: list[TorchCounter], scores: Any) -> None:
        self._counters, self._normal = counters, _DeviceGaussian(scores)
        self._blend = BlendedSource([*counters, self._normal.source])
        self.n_features = self._blend.n_features

    def singles(self) -> tuple[Floats, Floats, float]:
        """H(x) and H(x, y) of each feature, and H(y)."""
        return self._blend.singles()

    def copies(self) -> Floats:
        """I(x; x') of each feature and a copy of it."""
        return self._blend.copies()

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        rows = np.arange(self.n_features) if query.rows is None else query.rows
        height = max(1, RESULT_BYTES // (16 * max(1, out.shape[1])))
        for start in range(0, len(rows), height):
            part = query._replace(rows=rows[start : start + height], lowest=-np.inf)
            mean = self._mean(part).clamp_(min=query.lowest)
            here = torch.from_numpy(out[start : start + height])
            copy_rows(mean.to(here.dtype), here, np.arange(len(here)))

    def _mean(self, query: Query) -> Tensor:
        normal, total = self._normal.values(query), None
        for counter in self._counters:  # in the order in which the host adds them up
            own = torch.empty_like(normal)
            counter.write(query, own)
            total = own if total is None else total.add_(own)
        return normal.add_(total).div_(1 + len(self._counters))


class _DeviceGaussian:
    """Gaussian estimates of pairs, computed on a device by the formulas of GaussianSource."""

    def __init__(self, scores: Any) -> None:
        self.source, self._scores = GaussianSource(scores), scores.values
        self._weights = scores.explained.weights.tolist()
        self._each = [1.0 / scores.n_rows]
        self._sides: dict[Measure, Side] = {}

    def values(self, query: Query) -> Tensor:
        """The measure of each row feature against each column feature."""
        z, measure = self._scores, query.measure
        if measure not in self._sides:
            vectors: Any = (torch.from_numpy(np.ascontiguousarray(v)).to(z.device)
                            for v in self.source.side(measure))  # fmt: skip
            self._sides[measure] = Side(*vectors)
        every, (rows, columns) = self._sides[measure], (
            None if some is None else torch.from_numpy(np.asarray(some, np.int64)).to(z.device)
            for some in (query.rows, query.columns)
        )  # fmt: skip
        left, right = (_part(every, some) for some in (rows, columns))
        products = (z if rows is None else z[rows]) @ (z if columns is None else z[columns]).T
        a, b = 0.5 * measure.xx, 0.5 * measure.xxy
        sides = (left.sums, left.scale), (right.sums, right.scale)
        total = _unexplained(products, *sides, self._each) if a else None
        sides = (left.entries, left.scale_within), (right.entries, right.scale_within)
        within = _unexplained(products, *sides, self._weights) if b else None
        out: Any = left.row_term[:, None] + right.column_term
        if total is not None and within is not None and a == -b:  # as on the host
            out += a * (total / within).log_()
        else:
            part = torch.zeros_like(products)
            for weight, share in ((a, total), (b, within)):
                part += 0.0 if share is None else weight * share.log_()
            out += part
        same = left.features[:, None] == right.features
        return torch.where(same, left.diagonal[:, None], out)


def _part(side: Side, features: Tensor | None) -> Any:
    if features is None:
        return side
    vectors: Any = (vector[..., features] for vector in side)
    return Side(*vectors)


def _unexplained(products: Tensor, left: Any, right: Any, weights: list[float]) -> Tensor:
    """``1 - r^2``: each term takes its weight times the entries of both features off a product."""
    (entries, scale), (others, other_scale) = left, right
    out = products.clone()
    for entry, other, weight in zip(entries, others, weights, strict=True):
        out -= entry[:, None] * other * weight
    out *= scale[:, None] * other_scale
    return 1.0 - out * out
