"""The GPU backend: counts by matrix products, sums in integers, the same bits as the default."""

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bestk._typing import Array, Floats, Indices
from bestk.information.backends import _torch_tiles as kernels
from bestk.information.backends._native import NativeCounter
from bestk.information.backends._reductions import SPLIT, Scan, TopPairs, join
from bestk.information.backends._torch_kernels import SIDE
from bestk.information.backends._torch_pairs import SAMPLE, Plan, TileSide, first_of_run
from bestk.information.backends._torch_table import DeviceCodes, upload
from bestk.information.measures import Correction, Measure, Query, Tables
from bestk.tables.codes import Codes
from bestk.tables.target import ClassTarget

MAX_PLANS = 4  # kept ready, the latest
RESULT_BYTES = 2**30  # of rows of a matrix that are computed together for the host
STRIP_BYTES = 2**28  # of float64, of rows that are reduced together
MAX_CANDIDATES = 2**20  # for best pairs, before a search for a higher threshold
BUFFER_BYTES = 2**24  # that are copied to the host at once


class TorchCounter:
    """Entropies counted by PyTorch, from the fixed-point tables of the native backend.

    ``device`` is ``"cuda"``, ``"cuda:1"``, ``"cpu"``, or ``"auto"``: a GPU if there is one.
    """

    is_discrete = True

    def __init__(
        self, codes: Codes | DeviceCodes, target: ClassTarget, correction: Correction | None = None,
        device: str = "auto",
    ) -> None:  # fmt: skip
        self.n_features = len(codes.levels)
        self._table = upload(codes, target, choose_device(device))
        self._plans: dict[tuple[Measure, float, bool], Plan] = {}
        self._exact = self._table.singles(Tables.of(target.counts, correction))
        self._native = None  # for pairs of columns with many levels
        wide = codes.levels > self._table.max_levels
        if wide.any():
            here = codes.to_host() if isinstance(codes, DeviceCodes) else codes
            self._native = NativeCounter(here, target, correction)
            places, exact = self._native.place[wide], self._native.exact
            self._exact.x[wide], self._exact.xy[wide] = exact.x[places], exact.xy[places]
        self.singles = self._exact.singles()
        self.copies = self.singles[0]

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        self.write(query, torch.from_numpy(out))

    def matrix(self, query: Query, dtype: Any = torch.float64) -> Tensor:
        """The measure of all pairs, as a tensor that stays on the device."""
        out = torch.empty((self.n_features,) * 2, dtype=dtype, device=self._table.device)
        self.write(query, out)
        return out

    def write(self, query: Query, out: Tensor) -> None:
        """The same for a tensor, here or on the device."""
        plan, device = self._plan(query), self._table.device
        if not out.numel():
            return
        if query.is_whole and plan.is_fused and out.device == device:
            plan.write(plan.whole, plan.whole, out, mirror=True)  # each pair is counted once
            return
        longest = max(1, RESULT_BYTES // (out.element_size() * out.shape[1]))
        for side, across in plan.tiles(query.rows, query.columns, longest):
            target, rows = out, side
            if out.device != device:
                target = out.new_empty((len(side.at), out.shape[1]), device=device)
                rows = side.moved_to_start()
            for columns in across:
                plan.write(rows, columns, target)
            if target is not out:
                copy_rows(target, out, side.places)

    def row_sums(self, query: Query) -> Floats:
        """Row sums without the diagonal; no value leaves the device, and no sum is rounded."""
        plan, mirror = self._plan(query, in_nats=False), query.measure.is_symmetric
        parts = torch.zeros((2, self.n_features), dtype=torch.float64, device=self._table.device)
        if plan.is_fused and not 0.0 < abs(plan.formula.lowest) < np.inf:
            others = plan.whole if mirror else plan.whole._replace()  # then all pairs of tiles
            kernels.add_sums(plan, plan.whole, others, parts)
        else:
            for rows, values in self._strips(plan, torch.float64, 0.0):
                high = (values / SPLIT).floor_()
                parts[0, rows], parts[1, rows] = high.sum(1), values.sub_(high, alpha=SPLIT).sum(1)
        return join(parts.cpu().numpy(), self._exact.tables.scale)

    def scan(self, query: Query, groups: Indices, count: int) -> Scan:
        """The best partner of each feature in each group, and the ``count`` best pairs."""
        plan, n = self._plan(query), self.n_features
        if plan.is_fused:
            every = np.arange(n)
            scanned = _scan_bits(plan, plan.whole, plan.sample, every, groups, count)
            if scanned is not None:
                partners_of_bits, top = scanned
                return Scan(*partners_of_bits.partners(), top.pairs, top.values)
        best, partners = np.full((2, int(groups.max()) + 1, n), -np.inf)
        pairs, features = TopPairs(count, n), torch.arange(n, device=self._table.device)
        for at, values in self._strips(plan, torch.float32, -torch.inf):
            rows = at.cpu().numpy()
            for g in range(len(best)):
                others = features[torch.from_numpy(groups == g).to(at.device)]
                part = values[:, others]
                most = part.amax(1)
                lowest = torch.where(part == most[:, None], others, n).amin(1)
                best[g, rows], partners[g, rows] = most.cpu().numpy(), lowest.cpu().numpy()
            if count:
                _take_pairs(pairs, values.masked_fill_(features <= at[:, None], -torch.inf), at)
        partners = np.where(best > -np.inf, partners, -1).astype(int)
        return Scan(best, partners, pairs.pairs, pairs.values)

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
                return scanned[1].pairs, scanned[1].values
        pairs = TopPairs(count, self.n_features)
        place_in_order = np.empty_like(order)
        place_in_order[order] = np.arange(len(order))
        place = torch.tensor(place_in_order, device=self._table.device)
        for at, values in self._strips(plan, torch.float32, -torch.inf):
            comes_after = place[at][:, None] > place
            _take_pairs(pairs, values.masked_fill_(comes_after, -torch.inf), at)
        return pairs.pairs, pairs.values

    def _strips(self, plan: Plan, dtype: Any, diagonal: float) -> Iterator[tuple[Tensor, Tensor]]:
        """All columns of some rows at a time, on the device: the rows and their values."""
        n = self.n_features
        for rows, across in plan.tiles(None, None, max(1, STRIP_BYTES // (8 * n))):
            values = torch.empty((len(rows.at), n), dtype=dtype, device=self._table.device)
            for columns in across:
                plan.write(rows.moved_to_start(), columns, values)
            yield rows.at, values.scatter_(1, rows.at[:, None], diagonal)

    def _plan(self, query: Query, in_nats: bool = True) -> Plan:
        """The formula of a measure on the device, kept for queries that come a row at a time."""
        key = query.measure, query.lowest, in_nats
        if key not in self._plans:
            latest = list(self._plans.items())[1 - MAX_PLANS :]
            write = None
            if self._native is not None:
                write = partial(self._native.write, self._native.kernel(*key))
            made = Plan(self._table, self._exact.formula(*key), write)
            self._plans = dict([*latest, (key, made)])
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
    pairs, least = TopPairs(count, len(groups)), -np.inf
    if count:  # a first threshold, from some of the pairs
        values = plan.values(sample, sample, torch.float32)
        some = values[torch.ones_like(values).triu_(1).bool()]
        least = float(some.topk(count).values[-1]) if count <= len(some) else least
    first, last = 0, -(-len(groups) // SIDE)
    while first < last:  # with as many rows as before: the threshold is that of half the pairs
        tiles = first, min(last, max(1, 2 * first))
        found = best.compare(plan, whole, tiles, max(least, pairs.least))
        if found is None:
            return None
        values_found, i, j = found
        pairs.add(values_found, features[i], features[j])
        first = tiles[1]
    return best, pairs


def _take_pairs(pairs: TopPairs, values: Tensor, rows: Tensor) -> None:
    """Keep the largest entries of some rows."""
    better = values >= pairs.least
    if int(better.sum()) > max(MAX_CANDIDATES, pairs.count):
        better &= values >= values[better].topk(pairs.count).values[-1]
    i, j = better.nonzero(as_tuple=True)
    pairs.add(*(each.cpu().numpy() for each in (values[i, j], rows[i], j)))


def copy_rows(rows: Tensor, out: Tensor, places: Indices) -> None:
    """Copy rows to their places on the host, through pinned memory."""
    if rows.device.type == "cpu":
        out[torch.from_numpy(places)] = rows
        return
    height = max(1, BUFFER_BYTES // (rows.shape[1] * rows.element_size()))
    buffer = torch.empty((min(height, len(rows)), rows.shape[1]), dtype=rows.dtype, pin_memory=True)
    for start in range(0, len(rows), height):
        some, at = rows[start : start + height], places[start : start + height]
        here, first = buffer[: len(some)].copy_(some), first_of_run(at)
        if first is None:
            out[torch.from_numpy(at)] = here
        else:
            out[first : first + len(at)] = here


def choose_device(device: str) -> Any:
    """The device of that name, if it exists."""
    kind = device.partition(":")[0]
    if kind not in ("auto", "cuda", "cpu"):
        raise ValueError(f"unknown device {device!r}; choose 'torch', 'torch:cuda' or 'torch:cpu'")
    found = torch.cuda.is_available()
    if kind == "cuda" and not found:
        raise RuntimeError(
            "PyTorch finds no CUDA device; use backend='native', or install a build of PyTorch "
            "for your GPU"
        )
    if kind == "auto" and not found:
        slow = "PyTorch finds no CUDA device and counts on the CPU: backend='native' is far faster"
        warnings.warn(slow, UserWarning, stacklevel=2)
    chosen = torch.device(("cuda" if found else "cpu") if kind == "auto" else device)
    return torch.empty(0, device=chosen).device  # "cuda" has its number now
