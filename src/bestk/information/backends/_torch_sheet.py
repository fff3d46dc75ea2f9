"""Where a device writes its results, and how they come into the host's memory.

On the CPU results are written where they belong. A GPU keeps them until whole rows are ready;
these travel through pinned buffers in turn, while the GPU goes on with the next rows.
"""

from collections import deque
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bestk.information.backends._torch_pairs import Side
from bestk.information.backends._torch_table import free_bytes

BUFFER_BYTES, BUFFERS = 2**24, 2
STRIP_BYTES = 2**30  # of the device's memory for results, at a time
DEVICE_SHARE = 0.6  # or of what is free, if they can be held until the end


class Sheet:
    """The output on the host."""

    def __init__(self, out: NDArray[Any]) -> None:
        self._out = torch.from_numpy(out)
        self.most_rows = max(1, STRIP_BYTES // max(1, out.itemsize * out.shape[1]))

    def hold_all(self) -> bool:
        """Hold all rows until the end, if there is room: results may then come in any order."""
        return True

    def rows(self, side: Side) -> tuple[Tensor, Side]:
        """What to write these rows on, and their places there."""
        return self._out, side

    def done(self, side: Side) -> None:
        """Take note that rows are complete."""

    def close(self) -> None:
        """See that everything has arrived."""


class HeldSheet(Sheet):
    """An output that stays where it is."""

    def __init__(self, out: Tensor) -> None:
        self._out = out


class _Batch(NamedTuple):
    """Rows on the device, or in a buffer, and where they belong."""

    rows: Tensor
    at: NDArray[np.int64]
    ready: Any  # event


class DeviceSheet(Sheet):
    """The output on a GPU: the whole of it to mirror, else a strip of rows at a time."""

    def __init__(self, out: NDArray[Any], device: Any) -> None:
        super().__init__(out)
        self._device = device
        self._rows: Tensor | None = None  # all of them, if they are held
        self._stream = _copy_stream(device)
        self._waiting: deque[_Batch] = deque()  # on the device
        self._flying: deque[_Batch] = deque()  # into a buffer

    def hold_all(self) -> bool:
        """Hold all rows until the end, if there is room: results may then come in any order."""
        if self._out.nbytes < DEVICE_SHARE * free_bytes(self._device):
            self._rows = self._empty(len(self._out))
        return self._rows is not None

    def rows(self, side: Side) -> tuple[Tensor, Side]:
        """What to write these rows on, and their places there."""
        if self._rows is not None:
            return self._rows, side
        self._strip = self._empty(len(side.at))
        return self._strip, side._replace(at=torch.arange(len(side.at), device=self._device))

    def done(self, side: Side) -> None:
        """Send the rows before these home, while the device works on these."""
        if self._rows is None:
            rows = self._strip
        elif _in_a_row(side.places):
            rows = self._rows[_span(side.places)]
        else:
            rows = self._rows.index_select(0, side.at)
        ready = torch.cuda.current_stream(self._device).record_event()
        self._waiting.append(_Batch(rows, side.places, ready))
        if len(self._waiting) > 1:
            self._send(self._waiting.popleft())

    def close(self) -> None:
        """See that everything has arrived."""
        while self._waiting:
            self._send(self._waiting.popleft())
        while self._flying:
            self._land()

    def _empty(self, n_rows: int) -> Tensor:
        return self._out.new_empty((n_rows, self._out.shape[1]), device=self._device)

    def _send(self, batch: _Batch) -> None:
        """Start copies to pinned memory, a few at a time."""
        self._stream.wait_event(batch.ready)
        batch.rows.record_stream(self._stream)
        height = max(1, BUFFER_BYTES // max(1, self._out.shape[1] * self._out.itemsize))
        pieces = batch.rows.split(height)
        for rows, first in zip(pieces, range(0, len(batch.at), height), strict=True):
            if len(self._flying) == BUFFERS:
                self._land()
            buffer = torch.empty(rows.shape, dtype=rows.dtype, pin_memory=True)
            with torch.cuda.stream(self._stream):
                buffer.copy_(rows, non_blocking=True)
            at = batch.at[first : first + height]
            self._flying.append(_Batch(buffer, at, self._stream.record_event()))

    def _land(self) -> None:
        """Put the oldest buffer in its place."""
        rows, at, ready = self._flying.popleft()
        ready.synchronize()
        self._out[_span(at) if _in_a_row(at) else torch.from_numpy(at)] = rows


def _in_a_row(places: NDArray[np.int64]) -> bool:
    return bool((np.diff(places) == 1).all())


def _span(places: NDArray[np.int64]) -> slice:
    return slice(int(places[0]), int(places[-1]) + 1)


@cache
def _copy_stream(device: Any) -> Any:
    return torch.cuda.Stream(device)
