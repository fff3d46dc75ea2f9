"""Where the results of tiles on a device go: to the host, or into row sums and best pairs.

On the CPU results are written where they belong. A GPU keeps them until whole rows are ready;
these are copied through pinned buffers in turn, while the GPU continues with the next rows.
"""

from collections import deque
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bestk._typing import Indices
from bestk.information._tiles import as_slice
from bestk.information.backends._reductions import SPLIT, Summary, join
from bestk.information.backends._scan import Scan
from bestk.information.backends._torch_pairs import Plan, TileSide, write_pairs
from bestk.information.backends._torch_table import free_bytes

BUFFER_BYTES, MAX_BUFFERS = 2**24, 2
RESULT_BYTES = 2**30  # of the device's memory for results, at a time
MAX_DEVICE_SHARE = 0.6  # of what is free, for results that are held until the end
MAX_CANDIDATES = 2**20  # for best pairs, before a search for a higher threshold


def fill_output(plan: Plan, out: Tensor, rows: Indices | None, columns: Indices | None) -> None:
    """Write the formula of each row feature against each column feature into ``out``."""
    device = plan.table.device
    sheet = DeviceSheet(out, device) if out.device != device else Sheet(out)
    if rows is None and columns is None and sheet.hold_all():
        for side, above in plan.upper():  # each pair is counted once and written twice
            target, row = sheet.rows(side)
            for column in above:
                write_pairs(plan, row, column, target, column is not side)
            sheet.done(side)
    else:
        across = plan.sides(columns, rows)
        longest = max(1, RESULT_BYTES // max(1, out.element_size() * out.shape[1]))
        for side in plan.sides(rows, columns, longest):
            target, row = sheet.rows(side)
            for column in across:
                write_pairs(plan, row, column, target, False)
            sheet.done(side)
    sheet.close()


class Sheet:
    """An output on the device that counts."""

    def __init__(self, out: Tensor) -> None:
        self._out = out

    def hold_all(self) -> bool:
        """Hold all rows until the end, if there is room: results may then come in any order."""
        return True

    def rows(self, side: TileSide) -> tuple[Tensor, TileSide]:
        """What to write these rows on, and their places there."""
        return self._out, side

    def done(self, side: TileSide) -> None:
        """Note that rows are complete."""

    def close(self) -> None:
        """Wait until all rows are written."""


class _Batch(NamedTuple):
    """Rows on the device, or in a buffer, and where they belong."""

    rows: Tensor
    at: Indices
    ready: Any  # event


class DeviceSheet:
    """An output on the host of results on a GPU: held whole, or a strip of rows at a time."""

    def __init__(self, out: Tensor, device: Any) -> None:
        self._out, self._device = out, device
        self._rows: Tensor | None = None  # all of them, if they are held
        self._stream = _copy_stream(device)
        self._waiting: deque[_Batch] = deque()  # on the device
        self._under_way: deque[_Batch] = deque()  # into a buffer

    def hold_all(self) -> bool:
        """Hold all rows until the end, if there is room: results may then come in any order."""
        if self._out.nbytes < MAX_DEVICE_SHARE * free_bytes(self._device):
            self._rows = self._empty(len(self._out))
        return self._rows is not None

    def rows(self, side: TileSide) -> tuple[Tensor, TileSide]:
        """What to write these rows on, and their places there."""
        if self._rows is not None:
            return self._rows, side
        self._strip = self._empty(len(side.at))
        return self._strip, side._replace(at=torch.arange(len(side.at), device=self._device))

    def done(self, side: TileSide) -> None:
        """Copy the rows before these to the host, while the device works on these."""
        rows = self._strip if self._rows is None else _take(self._rows, side)
        ready = torch.cuda.current_stream(self._device).record_event()
        self._waiting.append(_Batch(rows, side.places, ready))
        if len(self._waiting) > 1:
            self._send(self._waiting.popleft())

    def close(self) -> None:
        """Wait until all rows are written."""
        while self._waiting:
            self._send(self._waiting.popleft())
        while self._under_way:
            self._receive()

    def _empty(self, n_rows: int) -> Tensor:
        return self._out.new_empty((n_rows, self._out.shape[1]), device=self._device)

    def _send(self, batch: _Batch) -> None:
        """Start copies to pinned memory, a few at a time."""
        self._stream.wait_event(batch.ready)
        batch.rows.record_stream(self._stream)
        height = max(1, BUFFER_BYTES // max(1, self._out.shape[1] * self._out.itemsize))
        pieces = batch.rows.split(height)
        for rows, first in zip(pieces, range(0, len(batch.at), height), strict=True):
            if len(self._under_way) == MAX_BUFFERS:
                self._receive()
            buffer = torch.empty(rows.shape, dtype=rows.dtype, pin_memory=True)
            with torch.cuda.stream(self._stream):
                buffer.copy_(rows, non_blocking=True)
            at = batch.at[first : first + height]
            self._under_way.append(_Batch(buffer, at, self._stream.record_event()))

    def _receive(self) -> None:
        """Put the oldest buffer in its place."""
        rows, at, ready = self._under_way.popleft()
        ready.synchronize()
        places = as_slice(at)
        self._out[places if isinstance(places, slice) else torch.from_numpy(places)] = rows


def _take(rows: Tensor, side: TileSide) -> Tensor:
    """The rows of a side, copied only where they do not follow each other."""
    places = as_slice(side.places)
    return rows[places] if isinstance(places, slice) else rows.index_select(0, side.at)


@cache
def _copy_stream(device: Any) -> Any:
    return torch.cuda.Stream(device)


def summarize_tiles(plan: Plan, scale: float, count: int, symmetric: bool, sums: bool) -> Summary:
    """Count every tile once, or both ways if pairs are not symmetric; keep no tile."""
    n, device = plan.table.n_features, plan.table.device
    parts = torch.zeros((2, n), dtype=torch.float64, device=device)  # no sum is ever rounded
    best = _BestPairs(count, n, device)
    for rows, above in plan.upper():
        for number, columns in enumerate(above):
            own = len(rows.at) if number == 0 else 0
            values = _tile_values(plan, rows, columns)
            if count:
                best.take(values, rows, columns, own)
            if sums:
                values[:, :own].diagonal().zero_()
                _add_sums(parts, values, rows.at, columns.at[own:] if symmetric else None)
            if sums and not symmetric and own < len(columns.at):
                rest = columns.part(own, len(columns.at)) if own else columns
                _add_sums(parts, _tile_values(plan, rest, rows), rest.at, None)
    pairs = np.stack(np.divmod(best.keys.cpu().numpy(), n), axis=1)
    high, low = parts.cpu().numpy()
    return Summary(join(high, low, scale), pairs, best.values.cpu().numpy() * scale)


def scan_device(plan: Plan, groups: Indices, count: int) -> Scan:
    """Count every tile once; keep the best partner of each feature, and the best pairs."""
    n, device, shape = len(groups), plan.table.device, (int(groups.max()) + 1, len(groups))
    best = torch.full(shape, -torch.inf, device=device)
    partners, pairs = torch.full(shape, -1, device=device), _BestPairs(count, n, device)
    group = torch.tensor(groups, device=device)
    for rows, above in plan.upper():
        for number, columns in enumerate(above):
            own = len(rows.at) if number == 0 else 0
            values = _tile_values(plan, rows, columns, torch.float32)
            diagonal = values[:, :own]
            diagonal.masked_fill_(torch.ones_like(diagonal).tril_().bool(), -torch.inf)
            if count:
                pairs.take(values, rows, columns, own)
            for found, mine, others in ((values, rows, columns), (values.T, columns, rows)):
                for g in group[others.at].unique().tolist():
                    some = group[others.at] == g
                    part = found if bool(some.all()) else found[:, some]
                    _take_best(best[g], partners[g], part, mine.at, others.at[some])
    return Scan(
        best.cpu().numpy().astype(np.float64), partners.cpu().numpy(),
        np.stack(np.divmod(pairs.keys.cpu().numpy(), n), axis=1), pairs.values.cpu().numpy(),
    )  # fmt: skip


def _take_best(best: Tensor, partners: Tensor, found: Tensor, own: Tensor, others: Tensor) -> None:
    """Compare what each feature has with a row of values; ties go to the lowest feature."""
    most = found.amax(1)
    some = (most >= best[own]).nonzero()[:, 0]
    own, most = own[some], most[some]
    largest = found[some] == most[:, None]
    lowest = torch.where(largest, others, len(best)).amin(1)
    better = (most > best[own]) | ((most == best[own]) & (lowest < partners[own]))
    best[own[better]], partners[own[better]] = most[better], lowest[better]


def _tile_values(
    plan: Plan, rows: TileSide, columns: TileSide, dtype: Any = torch.float64
) -> Tensor:
    """The entries of a tile."""
    shape, device = (len(rows.at), len(columns.at)), plan.table.device
    values = torch.empty(shape, dtype=dtype, device=device)
    here, across = (torch.arange(length, device=device) for length in shape)
    write_pairs(plan, rows._replace(at=here), columns._replace(at=across, first=0), values, False)
    return values


def _add_sums(parts: Tensor, values: Tensor, rows: Tensor, columns: Tensor | None) -> None:
    """Add a tile to its rows, and its last columns to theirs, in two parts; it is overwritten."""
    high = (values * (1 / SPLIT)).floor_()
    for total, part in zip(parts, (high, values.sub_(high, alpha=SPLIT)), strict=True):
        total[rows] += part.sum(1)
        if columns is not None:
            total[columns] += part[:, part.shape[1] - len(columns) :].sum(0)


class _BestPairs:
    """The largest entries above the diagonal."""

    def __init__(self, count: int, n: int, device: Any) -> None:
        self._count, self._n = count, n
        self._least = torch.finfo(torch.float64).min
        self.values = torch.empty(0, dtype=torch.float64, device=device)
        self.keys = torch.empty(0, dtype=torch.int64, device=device)

    def take(self, values: Tensor, rows: TileSide, columns: TileSide, own: int) -> None:
        """Keep the largest entries of a tile whose first ``own`` columns are its rows."""
        better = values >= self._least
        better[:, :own].triu_(1)
        if int(better.sum()) > max(MAX_CANDIDATES, self._count):
            top = values[better].topk(self._count).values
            self._least = max(self._least, float(top[-1]))
            better &= values >= self._least
        i, j = better.nonzero(as_tuple=True)
        a, b = rows.at[i], columns.at[j]
        keys = torch.cat([self.keys, torch.minimum(a, b) * self._n + torch.maximum(a, b)])
        found = torch.cat([self.values, values[i, j]])
        by_key = keys.argsort()
        order = by_key[found[by_key].argsort(descending=True, stable=True)][: self._count]
        self.values, self.keys = found[order], keys[order]
        if len(order) == self._count:
            self._least = float(self.values[-1])
