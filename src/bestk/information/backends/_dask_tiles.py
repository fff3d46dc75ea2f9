"""Tiles of the pair matrix, filled on the workers of a cluster by the native kernels."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestk.data.codes import Codes, Target
from bestk.information._correction import Correction
from bestk.information._measures import Measure
from bestk.information.backends._costs import LANES
from bestk.information.backends._native import NativeCounter
from bestk.information.backends._pairs import Request, fill
from bestk.native.threads import threads

Indices = NDArray[np.int64]
Blocks = tuple[NDArray[Any], ...]
Kind = Literal["block", "square", "both"]  # a square mirrors itself; both: the block turned as well
_kernels = Lock()  # a task uses all threads of its worker


class Tile(NamedTuple):
    """Pairs that one task counts; features are known by their place in order of levels."""

    rows: Indices
    columns: Indices
    kind: Kind


class Wanted(NamedTuple):
    """What is to be written of each pair."""

    measure: Measure
    lowest: float
    dtype: Any

    @property
    def is_symmetric(self) -> bool:
        """Whether a pair has one value, whichever of its features comes first."""
        own = self.measure
        return own.xi == own.xj and own.xiy == own.xjy


class TileCounter(NativeCounter):
    """The native counter, one tile at a time; it travels as planes or as codes, the smaller."""

    def __init__(self, codes: Codes, target: Target, correction: Correction | None = None) -> None:
        super().__init__(codes, target, correction)
        packed = self._packed
        planes = packed.bits.nbytes + packed.margins.nbytes + packed.codes.nbytes
        source = codes, target, correction
        self._source = source if codes.values.nbytes < planes else None

    def __reduce__(self) -> Any:
        """Pickle the codes where they are smaller: packing them anew takes little."""
        return super().__reduce__() if self._source is None else (_pack_again, self._source)

    def sort(self, features: Indices | None) -> tuple[Indices, Indices]:
        """Places of some features in rising order, and where each stood among them."""
        places = self._place if features is None else self._place[features]
        order = np.argsort(places, kind="stable")
        return places[order], order

    def seconds(self, rows: Indices, n_columns: int) -> float:
        """About what one core needs for those places against so many others."""
        return float(self._seconds[rows].sum() * n_columns / LANES)

    def fill_tile(self, tile: Tile, wanted: Wanted) -> Blocks:
        """Values of the pairs of rows and columns, then of columns and rows if they are wanted."""
        n_rows, n_columns = len(tile.rows), len(tile.columns)
        # both halves lie off the diagonal of one array, whose other pages are never touched
        shift = n_rows if tile.kind == "both" else 0
        out = np.empty((n_rows + (n_columns if shift else 0), shift + n_columns), wanted.dtype)
        column_to = np.full(self.n_features, -1)
        column_to[tile.columns] = shift + np.arange(n_columns)
        tiles = np.unique(tile.columns // LANES)
        mirror = tile.kind != "block"
        request = Request(tile.rows, np.arange(n_rows), tiles, column_to, mirror)
        from_tile = (
            (lambda place: 0)
            if tile.kind != "square"
            else (lambda place: int(np.searchsorted(tiles, place // LANES)))
        )
        kernel = self._kernel(wanted.measure, wanted.lowest)
        fill(kernel, request, self._tasks(request, from_tile), out)
        return (out[:n_rows, shift:], out[n_rows:, :shift]) if shift else (out,)


def _pack_again(codes: Codes, target: Target, correction: Correction | None) -> TileCounter:
    with one_at_a_time():
        return TileCounter(codes, target, correction)


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Run kernels with as many threads as the worker has, or as allowed where there is none."""
    with _kernels, threads(_worker_threads()):
        yield


def _worker_threads() -> int | None:
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except ValueError:
        return None


def count_tile(counter: TileCounter, tile: Tile, wanted: Wanted) -> Blocks:
    """Fill one tile: the task of a worker."""
    with one_at_a_time():
        return counter.fill_tile(tile, wanted)
