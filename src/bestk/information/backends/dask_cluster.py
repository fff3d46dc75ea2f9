"""The cluster backend: tiles of the pair matrix as dask tasks, the same bits as the default."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from itertools import count, islice
from threading import Lock
from time import sleep
from typing import Any, NamedTuple, TypeVar

import numpy as np
from distributed import Client, Future, as_completed, get_client, get_worker

from bestk._typing import Array, Floats, Indices
from bestk.data.codes import Codes
from bestk.data.target import Target
from bestk.information._fixed_point import Correction
from bestk.information.backends._native import NativeCounter
from bestk.information.backends._packed import LANES
from bestk.information.backends._scan import Scan, Tile, cut_tiles, scan_tiles
from bestk.information.measures import Query
from bestk.native.threads import spans, threads

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
T = TypeVar("T")
Found = TypeVar("Found")
_kernel_lock = Lock()  # a task uses all threads of its worker


class TileTask(NamedTuple):
    """Features that one task counts against others, and where their values belong."""

    rows: Indices
    columns: Indices
    row_to: Indices
    column_to: Indices


class DaskCounter:
    """Entropies counted by the workers of the current ``distributed.Client``.

    Every worker gets the table once. Tiles are fetched as they are done, few at a time; those of
    a lost worker are counted by another. Small queries are counted here.
    """

    name, is_discrete = "dask", True

    def __init__(self, codes: Codes, target: Target, correction: Correction | None = None) -> None:
        self._client = _find_client()
        self.n_features = codes.n_features
        with one_at_a_time():
            self._native = NativeCounter(codes, target, correction)
        self._data: Future | None = None

    def singles(self) -> tuple[Floats, Floats, float]:
        """H(x) and H(x, y) of each feature, and H(y)."""
        return self._native.singles()

    def copies(self) -> Floats:
        """I(x; x') of each feature and a copy of it: H(x)."""
        return self.singles()[0]

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        mirror = query.is_whole and query.measure.is_symmetric  # then each pair is counted once
        rows = np.arange(self.n_features) if query.rows is None else query.rows
        seconds = self._seconds(rows, out.shape[1]) / (1 + mirror)
        if self._client is None or seconds < MIN_CLUSTER_SECONDS:
            with one_at_a_time():
                self._native.fill(query, out)
            return
        side = _tile_side(self._client, seconds, out.size / (1 + mirror), out.itemsize)
        tiles = _cut_tiles(self._sort(query.rows), self._sort(query.columns), side, mirror)
        every_pair = query._replace(rows=None, columns=None)  # tiles say which, queries may be long
        wanted = every_pair, out.dtype
        for tile, block in self._run(self._client, count_tile, tiles, wanted):
            _paste(tile, block, out, mirror)

    def scan(self, query: Query, groups: Indices, count: int) -> Scan:
        """The best partner of each feature in each group, and the ``count`` best pairs."""
        tiles, n = list(cut_tiles(groups)), len(groups)
        if self._client is None or self._seconds(np.arange(n), n) / 2 < MIN_CLUSTER_SECONDS:
            with one_at_a_time():
                return scan_tiles(self._native, query, groups, tiles, count)
        n_parts = TILES_PER_WORKER * max(1, len(self._client.nthreads()))
        parts = (tiles[first::n_parts] for first in range(min(n_parts, len(tiles))))
        wanted = query, groups, count
        scans = (found for _, found in self._run(self._client, scan_part, parts, wanted))
        return reduce(lambda one, other: one.merge(other, count), scans)

    def _seconds(self, rows: Indices, n_columns: int) -> float:
        """About what one core needs for those features against so many others."""
        seconds = self._native.packed.seconds[self._native.place[rows]].sum()
        return float(seconds * n_columns / LANES)

    def _sort(self, features: Indices | None) -> tuple[Indices, Indices]:
        """Features in the order of the packed table, and their former positions."""
        chosen = np.arange(self.n_features) if features is None else features
        order = np.argsort(self._native.place[chosen], kind="stable")
        return chosen[order], order

    def scatter(self) -> Future:
        """The table on every worker, sent if it is on none."""
        if self._client is None:
            raise RuntimeError("a task of a worker cannot send tables; do so where the client is")
        if self._data is not None and self._data.status != "finished":
            sleep(RESTART_PAUSE)
            self._data = None
        if self._data is None:
            self._data = _send(self._client, self._native)
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


def count_tile(counter: NativeCounter, tile: TileTask, query: Query, dtype: Any) -> Array:
    """Fill one tile: the task of a worker."""
    out = np.empty((len(tile.rows), len(tile.columns)), dtype)
    with one_at_a_time():
        counter.fill(query._replace(rows=tile.rows, columns=tile.columns), out)
    return out


def scan_part(
    counter: NativeCounter, tiles: list[Tile], query: Query, groups: Indices, top: int
) -> Scan:
    """Scan some tiles: the task of a worker."""
    with one_at_a_time():
        return scan_tiles(counter, query, groups, tiles, top)


def _send(client: Client, counter: NativeCounter, attempts: int = MAX_RESTARTS) -> Future:
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
    down: tuple[Indices, Indices], across: tuple[Indices, Indices], side: int, mirror: bool
) -> Iterator[TileTask]:
    """Cut features, and with them where they belong, into tiles; mirror: the upper half only."""
    for top, bottom in spans(len(down[0]), side):
        for first, last in spans(len(across[0]), side):
            if first >= top or not mirror:
                rows, row_to = (each[top:bottom].copy() for each in down)
                columns, column_to = (each[first:last].copy() for each in across)
                yield TileTask(rows, columns, row_to, column_to)


def _paste(tile: TileTask, block: Array, out: Array, mirror: bool) -> None:
    """Put values where they belong, and turned across the diagonal."""
    out[np.ix_(tile.row_to, tile.column_to)] = block
    if mirror:
        out[np.ix_(tile.column_to, tile.row_to)] = block.T
