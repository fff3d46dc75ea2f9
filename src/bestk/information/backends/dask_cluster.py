"""The cluster backend: tiles of the pair matrix as dask tasks, the same bits as the default."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from itertools import count, islice
from threading import Lock
from time import sleep
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from distributed import Client, Future, as_completed, get_client, get_worker

from bestk._typing import Array, Floats, Indices
from bestk.data.codes import Codes
from bestk.data.target import Target
from bestk.information._fixed_point import Correction
from bestk.information._tiles import as_slice, cut
from bestk.information.backends._costs import LANES
from bestk.information.backends._native import NativeCounter
from bestk.information.backends._packed import PairRequest, cut_tasks, run_tasks
from bestk.information.backends._scan import Scan, Tile, cut_tiles, scan_tiles
from bestk.information.measures import Query
from bestk.native.threads import threads

MIN_CLUSTER_SECONDS = 0.5  # of one core: less is counted here, sooner than a task would start
TILES_PER_WORKER, MAX_TILE_SECONDS = 16, 1.0  # enough to balance, and what a lost worker costs
MAX_TILE_BYTES = 2**25
TILES_UNDER_WAY = 2  # for each worker: one in work, one to follow
MAX_RESTARTS = 5  # times that a table lost with all its holders is sent again
RESTART_PAUSE = 0.5  # seconds before that: the scheduler may not know yet which others are lost
MAX_WAIT = 60.0  # seconds for the first of them to come back
NO_CLIENT = (
    "backend='dask' found no client of a cluster; start one first: from distributed import "
    "Client; client = Client() for the cores of this machine, Client('address:port') for others"
)
TileBlocks = tuple[Array, ...]
T = TypeVar("T")
Found = TypeVar("Found")
_kernel_lock = Lock()  # a task uses all threads of its worker


class TileTask(NamedTuple):
    """Pairs that one task counts, and where their values belong.

    A "square" lies on the diagonal; "both" is a block whose transposed pairs are wanted as well.
    """

    rows: Indices  # places of features in order of levels
    columns: Indices
    kind: Literal["block", "square", "both"]
    row_to: Indices
    column_to: Indices


class TileCounter:
    """The native counter, one tile at a time; pickled as planes or as codes, the smaller."""

    def __init__(self, codes: Codes, target: Target, correction: Correction | None = None) -> None:
        with one_at_a_time():
            self.native = NativeCounter(codes, target, correction)
        packed = self.native.packed
        planes = packed.bits.nbytes + packed.margins.nbytes + packed.codes.nbytes
        source = codes, target, correction
        self._source = source if codes.values.nbytes < planes else None

    def __reduce__(self) -> Any:
        """Pickle the codes where they are smaller: packing them again takes little time."""
        return super().__reduce__() if self._source is None else (TileCounter, self._source)

    def sort(self, features: Indices | None) -> tuple[Indices, Indices]:
        """Places of some features in ascending order, and their former positions."""
        places = self.native.place if features is None else self.native.place[features]
        order = np.argsort(places, kind="stable")
        return places[order], order

    def seconds(self, rows: Indices, n_columns: int) -> float:
        """About what one core needs for those places against so many others."""
        return float(self.native.packed.seconds[rows].sum() * n_columns / LANES)

    def fill_tile(self, tile: TileTask, query: Query, dtype: Any) -> TileBlocks:
        """Values of the pairs of rows and columns, then of columns and rows if wanted."""
        n_rows, n_columns = len(tile.rows), len(tile.columns)
        # both halves lie off the diagonal of one array, whose other pages are never touched
        shift = n_rows if tile.kind == "both" else 0
        out = np.empty((n_rows + (n_columns if shift else 0), shift + n_columns), dtype)
        column_to = np.full(self.native.n_features, -1)
        column_to[tile.columns] = shift + np.arange(n_columns)
        tiles = np.unique(tile.columns // LANES)
        request = PairRequest(tile.rows, np.arange(n_rows), tiles, column_to, tile.kind != "block")

        def first_tile(place: int) -> int:
            return int(np.searchsorted(tiles, place // LANES)) if tile.kind == "square" else 0

        kernel = self.native.kernel(query.measure, query.lowest)
        run_tasks(kernel, request, cut_tasks(self.native.packed, request, first_tile), out)
        return (out[:n_rows, shift:], out[n_rows:, :shift]) if shift else (out,)


class DaskCounter:
    """Entropies counted by the workers of the current ``distributed.Client``.

    Every worker gets the table once. Tiles are fetched as they are done, few at a time; those of
    a lost worker are counted by another. Small queries are counted here.
    """

    name, is_discrete = "dask", True

    def __init__(self, codes: Codes, target: Target, correction: Correction | None = None) -> None:
        self._client = _find_client()
        self.n_features = codes.n_features
        self._counter = TileCounter(codes, target, correction)
        self._data: Future | None = None

    def singles(self) -> tuple[Floats, Floats, float]:
        """H(x) and H(x, y) of each feature, and H(y)."""
        return self._counter.native.singles()

    def copies(self) -> Floats:
        """I(x; x') of each feature and a copy of it: H(x)."""
        return self.singles()[0]

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        across = self._counter.sort(query.columns)
        down = across if query.is_whole else self._counter.sort(query.rows)
        halves = 2 if query.is_whole else 1
        seconds = self._counter.seconds(down[0], out.shape[1]) / halves
        if self._client is None or seconds < MIN_CLUSTER_SECONDS:
            with one_at_a_time():
                self._counter.native.fill(query, out)
            return
        side = _tile_side(self._client, seconds, out.size / halves, out.itemsize)
        tiles = _cut_tiles(down, across, side, query)
        every_pair = query._replace(rows=None, columns=None)  # tiles say which, queries may be long
        wanted = every_pair, out.dtype
        for tile, blocks in self._run(self._client, count_tile, tiles, wanted):
            _paste(tile, blocks, out, query.is_whole)

    def scan(self, query: Query, groups: Indices, count: int) -> Scan:
        """The best partner of each feature in each group, and the ``count`` best pairs."""
        tiles = list(cut_tiles(groups))
        n = len(groups)
        seconds = self._counter.seconds(np.arange(n), n) / 2
        if self._client is None or seconds < MIN_CLUSTER_SECONDS:
            with one_at_a_time():
                return scan_tiles(self._counter.native, query, groups, tiles, count)
        n_parts = TILES_PER_WORKER * max(1, len(self._client.nthreads()))
        parts = (tiles[first::n_parts] for first in range(min(n_parts, len(tiles))))
        wanted = query, groups, count
        scans = (found for _, found in self._run(self._client, scan_part, parts, wanted))
        return reduce(lambda one, other: one.merge(other, count), scans)

    def scatter(self) -> Future:
        """The table on every worker, sent if it is on none."""
        if self._client is None:
            raise RuntimeError("a task of a worker cannot send tables; do so where the client is")
        if self._data is not None and self._data.status != "finished":
            sleep(RESTART_PAUSE)
            self._data = None
        if self._data is None:
            self._data = _send(self._client, self._counter)
        return self._data

    def _run(
        self,
        client: Client,
        work: Callable[..., Found],
        tiles: Iterator[T],
        wanted: tuple[Any, ...],
    ) -> Iterator[tuple[T, Found]]:
        """Submit tiles as others are done; cancel them all if something goes wrong."""
        under_way: dict[Future, T] = {}
        done = as_completed(loop=client.loop, with_results=True, raise_errors=False)

        def submit(tile: T) -> None:
            future = client.submit(work, self.scatter(), tile, *wanted, pure=False)
            under_way[future] = tile
            done.add(future)

        try:
            for tile in islice(tiles, TILES_UNDER_WAY * max(1, len(client.nthreads()))):
                submit(tile)
            losses = count(1)
            for future, result in done:
                tile = under_way.pop(future)
                if future.status == "finished":
                    for following in islice(tiles, 1):
                        submit(following)
                    yield tile, result
                    del result
                elif future.status == "error":
                    raise result[1].with_traceback(result[2])
                elif next(losses) > MAX_RESTARTS * TILES_UNDER_WAY * max(1, len(client.nthreads())):
                    raise RuntimeError(
                        f"the workers lost the table {MAX_RESTARTS} times; look at their memory "
                        "and logs, or use backend='native'"
                    )
                else:
                    submit(tile)
        finally:
            client.cancel(list(under_way))


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Run kernels with as many threads as the worker has, or as allowed outside of a worker."""
    try:
        n_threads = int(get_worker().state.nthreads)
    except ValueError:
        n_threads = None
    with _kernel_lock, threads(n_threads):
        yield


def count_tile(counter: TileCounter, tile: TileTask, query: Query, dtype: Any) -> TileBlocks:
    """Fill one tile: the task of a worker."""
    with one_at_a_time():
        return counter.fill_tile(tile, query, dtype)


def scan_part(
    counter: TileCounter, tiles: list[Tile], query: Query, groups: Indices, top: int
) -> Scan:
    """Scan some tiles: the task of a worker."""
    with one_at_a_time():
        return scan_tiles(counter.native, query, groups, tiles, top)


def _send(client: Client, counter: TileCounter, attempts: int = MAX_RESTARTS) -> Future:
    """Give every worker the table; try again if a worker is lost meanwhile."""
    try:
        return client.scatter(counter, broadcast=True, hash=False)
    except OSError:  # a connection that broke; a time limit is one, too
        if not attempts:
            raise
        client.wait_for_workers(1, timeout=MAX_WAIT)
        return _send(client, counter, attempts - 1)


def _find_client() -> Client | None:
    """The current client; none within a task, which would wait for tasks that wait for it."""
    try:
        get_worker()
    except ValueError:
        pass
    else:
        return None
    try:
        return get_client()
    except ValueError as error:
        raise RuntimeError(NO_CLIENT) from error


def _tile_side(client: Client, seconds: float, area: float, itemsize: int) -> int:
    """Rows and columns of a tile: many for each worker, none too long or too large to send."""
    n_threads = list(client.nthreads().values()) or [1]
    most = min(
        area / (TILES_PER_WORKER * len(n_threads)),
        area * MAX_TILE_SECONDS * float(np.mean(n_threads)) / seconds,
        MAX_TILE_BYTES / itemsize,
    )
    return max(1, int(np.sqrt(most) / LANES)) * LANES


def _cut_tiles(
    down: tuple[Indices, Indices], across: tuple[Indices, Indices], side: int, query: Query
) -> Iterator[TileTask]:
    """Cut the places down and across, and with them where they belong, into tiles."""
    shape, whole = (len(down[0]), len(across[0])), query.is_whole
    for top, bottom, first, last in cut(shape, (side, side), whole):
        kind: Any = "both" if whole and not query.measure.is_symmetric else "block"
        rows, columns = slice(top, bottom), slice(first, last)
        yield TileTask(
            down[0][rows].copy(), across[0][columns].copy(),
            "square" if whole and top == first else kind, down[1][rows], across[1][columns],
        )  # fmt: skip


def _paste(tile: TileTask, blocks: TileBlocks, out: Array, mirror: bool) -> None:
    """Put values where they belong, and turned across the diagonal."""
    rows, columns = as_slice(tile.row_to), as_slice(tile.column_to)
    _put(out, rows, columns, blocks[0])
    if mirror and tile.kind != "square":
        _put(out, columns, rows, blocks[1] if len(blocks) > 1 else blocks[0].T)


def _put(out: Array, rows: Any, columns: Any, block: Array) -> None:
    both = isinstance(rows, slice) or isinstance(columns, slice)
    out[(rows, columns) if both else np.ix_(rows, columns)] = block
