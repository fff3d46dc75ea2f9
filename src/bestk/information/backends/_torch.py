"""The GPU backend: counts by matrix products, sums in integers, the same bits as the default."""

import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
from torch import Tensor

from bestk._typing import Array, Floats, Indices
from bestk.errors import ParameterError
from bestk.information.backends import _torch_tiles as kernels
from bestk.information.backends._native import NativeCounter
from bestk.information.backends._reductions import SPLIT, Scan, TopPairs, join
from bestk.information.backends._source import PairSource
from bestk.information.backends._torch_kernels import SIDE
from bestk.information.backends._torch_pairs import SAMPLE, Plan
from bestk.information.backends._torch_sides import TileSide, first_of_run
from bestk.information.backends._torch_table import DeviceCodes, upload
from bestk.information.measures import Correction, Measure, Query, Tables
from bestk.tables.codes import Codes
from bestk.tables.target import ClassTarget

# Formulas that are kept on the device, the latest: methods ask for few measures in turn.
MAX_PLANS = 4

# Bytes of rows of a matrix that are computed together for the host.
RESULT_BYTES = 2**30

# Bytes of float64 of rows that are reduced together.
STRIP_BYTES = 2**28

# Candidates for the best pairs, before their number is cut by a higher threshold.
MAX_CANDIDATES = 2**20

# Bytes that are copied to the host at once.
BUFFER_BYTES = 2**24


class TorchCounter(PairSource):
    """Entropies counted by PyTorch, from the fixed-point tables of the native backend.

    ``device`` is ``"cuda"``, ``"cuda:1"``, ``"cpu"``, or ``"auto"``: a GPU if there is one.
    """

    is_discrete = True

    def __init__(
        self,
        codes: Codes | DeviceCodes,
        target: ClassTarget,
        correction: Correction | None = None,
        device: str = "auto",
    ) -> None:
        self.n_features = len(codes.levels)
        self._table = upload(codes, target, choose_device(device))
        self._plans: dict[tuple[Measure, float, bool], Plan] = {}
        self._exact = self._table.singles(Tables.of(target.counts, correction))
        self._native: NativeCounter | None = None
        has_many_levels = codes.levels > self._table.max_levels
        if has_many_levels.any():
            # Columns with too many levels for the device are counted on the CPU.
            on_host = codes.to_host() if isinstance(codes, DeviceCodes) else codes
            self._native = NativeCounter(on_host, target, correction)
            places = self._native.place[has_many_levels]
            self._exact.x[has_many_levels] = self._native.exact.x[places]
            self._exact.xy[has_many_levels] = self._native.exact.xy[places]
        self.singles = self._exact.singles()
        self.copies = self.singles[0]

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        self.write(query, torch.from_numpy(out))

    def matrix(self, query: Query, dtype: torch.dtype = torch.float64) -> Tensor:
        """The measure of all pairs, as a tensor that stays on the device."""
        shape = (self.n_features, self.n_features)
        out = torch.empty(shape, dtype=dtype, device=self._table.device)
        self.write(query, out)
        return out

    def write(self, query: Query, out: Tensor) -> None:
        """Write the measure of each row feature against each column feature into a tensor.

        The tensor is on the device or in the memory of the host.
        """
        plan = self._plan(query)
        device = self._table.device
        if not out.numel():
            return
        if query.is_whole and plan.is_fused and out.device == device:
            plan.write(plan.whole, plan.whole, out, mirror=True)
            return
        longest = max(1, RESULT_BYTES // (out.element_size() * out.shape[1]))
        for rows, across in plan.tiles(query.rows, query.columns, longest):
            if out.device == device:
                for columns in across:
                    plan.write(rows, columns, out)
            else:
                strip = out.new_empty((len(rows.at), out.shape[1]), device=device)
                rows_of_strip = rows.moved_to_start()
                for columns in across:
                    plan.write(rows_of_strip, columns, strip)
                copy_rows(strip, out, rows.places)

    def row_sums(self, query: Query) -> Floats:
        """Row sums without the diagonal; no value leaves the device, and no sum is rounded."""
        plan = self._plan(query, in_nats=False)
        device = self._table.device
        sums = torch.zeros((2, self.n_features), dtype=torch.float64, device=device)
        # The kernel adds up whole numbers, and a lowest value of its unit may be a fraction.
        is_whole = plan.formula.lowest == 0.0 or np.isinf(plan.formula.lowest)
        if plan.is_fused and is_whole:
            rows = plan.whole
            # Of a symmetric measure, each pair of tiles is added to both sides, once. A copy of
            # the side is another side to the kernel, which then computes all pairs of tiles.
            columns = rows if query.measure.is_symmetric else rows.copy()
            kernels.add_sums(plan, rows, columns, sums)
        else:
            for features, values in self._strips(plan, torch.float64, diagonal=0.0):
                high = (values / SPLIT).floor_()
                low = values.sub_(high, alpha=SPLIT)
                sums[0, features] = high.sum(1)
                sums[1, features] = low.sum(1)
        return join(sums.cpu().numpy(), self._exact.tables.scale)

    def scan(self, query: Query, groups: Indices, count: int) -> Scan:
        """The best partner of each feature in each group, and the ``count`` best pairs."""
        plan = self._plan(query)
        n = self.n_features
        if plan.is_fused:
            in_order = np.arange(n)
            scanned = _scan_bits(plan, plan.whole, plan.sample, in_order, groups, count)
            if scanned is not None:
                partners_of_bits, top = scanned
                best, partners = partners_of_bits.partners()
                return Scan(best, partners, top.pairs, top.values)
        n_groups = int(groups.max()) + 1
        best = np.full((n_groups, n), -np.inf)
        partners = np.full((n_groups, n), -1)
        top = TopPairs(count, n)
        features = torch.arange(n, device=self._table.device)
        for at, values in self._strips(plan, torch.float32, diagonal=-torch.inf):
            rows = at.cpu().numpy()
            for group in range(n_groups):
                members = features[torch.from_numpy(groups == group).to(at.device)]
                values_of_members = values[:, members]
                largest = values_of_members.amax(1)
                is_largest = values_of_members == largest[:, None]
                lowest_member = torch.where(is_largest, members, n).amin(1)
                best[group, rows] = largest.cpu().numpy()
                partners[group, rows] = lowest_member.cpu().numpy()
            if count:
                is_counted_before = features <= at[:, None]
                _take_pairs(top, values.masked_fill_(is_counted_before, -torch.inf), at)
        partners = np.where(best > -np.inf, partners, -1)
        return Scan(best, partners, top.pairs, top.values)

    def rank(self, query: Query, order: Indices, count: int) -> tuple[Indices, Floats]:
        """The ``count`` pairs of the largest measure at [i, j], i before j in that order of all.

        And the measure of each, largest first; ties go to the lowest features.
        """
        plan = self._plan(query)
        if plan.is_fused:
            whole = plan.in_order(order)
            sample = plan.in_order(order[:SAMPLE])
            groups = np.zeros(self.n_features, np.int64)
            scanned = _scan_bits(plan, whole, sample, order, groups, count)
            if scanned is not None:
                _, top = scanned
                return top.pairs, top.values
        top = TopPairs(count, self.n_features)
        place_in_order = np.empty_like(order)
        place_in_order[order] = np.arange(len(order))
        place = torch.tensor(place_in_order, device=self._table.device)
        for at, values in self._strips(plan, torch.float32, diagonal=-torch.inf):
            comes_after = place[at][:, None] > place
            _take_pairs(top, values.masked_fill_(comes_after, -torch.inf), at)
        return top.pairs, top.values

    def _strips(
        self, plan: Plan, dtype: torch.dtype, diagonal: float
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Some features at a time, and their values with all features, on the device.

        ``diagonal`` stands for the value of a feature with itself.
        """
        n = self.n_features
        for side, across in plan.tiles(None, None, max(1, STRIP_BYTES // (8 * n))):
            values = torch.empty((len(side.at), n), dtype=dtype, device=self._table.device)
            rows = side.moved_to_start()
            for columns in across:
                plan.write(rows, columns, values)
            yield side.at, values.scatter_(1, side.at[:, None], diagonal)

    def _plan(self, query: Query, in_nats: bool = True) -> Plan:
        """The formula of a measure on the device, kept for queries that come a row at a time."""
        key = (query.measure, query.lowest, in_nats)
        if key not in self._plans:
            if len(self._plans) == MAX_PLANS:
                oldest = next(iter(self._plans))
                del self._plans[oldest]
            write_here = None
            if self._native is not None:
                write_here = partial(self._native.write, self._native.kernel(*key))
            self._plans[key] = Plan(self._table, self._exact.formula(*key), write_here)
        return self._plans[key]


def _scan_bits(
    plan: Plan, whole: TileSide, sample: TileSide, features: Indices, groups: Indices, count: int
) -> tuple[kernels.BestPairs, TopPairs] | None:
    """Best partners and pairs of features of two levels; None: too many pairs are as good.

    ``whole``: all features, in an order of which ``features`` has the places in the table and
    ``groups`` the groups; of a pair, the measure is that of the first one as xi. ``sample``: the
    first of them. Partners are places in that order, and pairs are of features.
    """
    best = kernels.BestPairs(groups, count, plan.table.device)
    top = TopPairs(count, len(groups))
    threshold = _threshold_of_sample(plan, sample, count)
    n_tiles = -(-len(groups) // SIDE)
    first = 0
    while first < n_tiles:
        # As many rows as before, so that the threshold is that of half the pairs.
        last = min(n_tiles, max(1, 2 * first))
        kept = best.compare(plan, whole, (first, last), max(threshold, top.threshold))
        if kept is None:
            return None
        top.add(kept.values, features[kept.rows], features[kept.columns])
        first = last
    return best, top


def _threshold_of_sample(plan: Plan, sample: TileSide, count: int) -> float:
    """A value that the ``count`` best pairs reach: that of so many pairs of a sample."""
    if not count:
        return -np.inf
    values = plan.values(sample, sample, torch.float32)
    is_above_diagonal = torch.ones_like(values).triu_(1).bool()
    values_of_pairs = values[is_above_diagonal]
    if count > len(values_of_pairs):
        return -np.inf
    return float(values_of_pairs.topk(count).values[-1])


def _take_pairs(pairs: TopPairs, values: Tensor, rows: Tensor) -> None:
    """Keep the largest values of some rows with all features."""
    is_large = values >= pairs.threshold
    if int(is_large.sum()) > max(MAX_CANDIDATES, pairs.count):
        is_large &= values >= values[is_large].topk(pairs.count).values[-1]
    i, j = is_large.nonzero(as_tuple=True)
    pairs.add(values[i, j].cpu().numpy(), rows[i].cpu().numpy(), j.cpu().numpy())


def copy_rows(rows: Tensor, out: Tensor, places: Indices) -> None:
    """Copy rows to their places on the host, through pinned memory."""
    if rows.device.type == "cpu":
        out[torch.from_numpy(places)] = rows
        return
    n_columns = rows.shape[1]
    height = max(1, BUFFER_BYTES // (n_columns * rows.element_size()))
    shape = (min(height, len(rows)), n_columns)
    buffer = torch.empty(shape, dtype=rows.dtype, pin_memory=True)
    for start in range(0, len(rows), height):
        strip = rows[start : start + height]
        places_of_strip = places[start : start + height]
        on_host = buffer[: len(strip)].copy_(strip)
        first = first_of_run(places_of_strip)
        if first is None:
            out[torch.from_numpy(places_of_strip)] = on_host
        else:
            out[first : first + len(strip)] = on_host


def choose_device(device: str) -> torch.device:
    """The device of that name, with its number, if it exists."""
    kind = device.partition(":")[0]
    if kind not in ("auto", "cuda", "cpu"):
        raise ParameterError(
            f"unknown device {device!r}; choose 'torch', 'torch:cuda' or 'torch:cpu'"
        )
    has_gpu = torch.cuda.is_available()
    if kind == "cuda" and not has_gpu:
        raise RuntimeError(
            "PyTorch finds no CUDA device; use backend='native', or install a build of PyTorch "
            "for your GPU"
        )
    if kind == "auto":
        device = "cuda" if has_gpu else "cpu"
        if not has_gpu:
            advice = "backend='native' is far faster"
            warnings.warn(
                f"PyTorch finds no CUDA device and counts on the CPU: {advice}",
                UserWarning,
                stacklevel=2,
            )
    # The device of a tensor has its number: "cuda" alone has none.
    return torch.empty(0, device=torch.device(device)).device
