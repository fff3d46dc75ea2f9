"""The cluster backend: tiles of the pair matrix as dask tasks, the same bits as the default."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from threading import Lock
from typing import Any

import numpy as np
from dask import config
from distributed import Client, Future, as_completed, get_client, get_worker

from bestk._typing import Array, Indices
from bestk.information.backends._native import NativeCounter
from bestk.information.backends._packed import LANES
from bestk.information.backends._reductions import Scan
from bestk.information.backends._source import PairSource
from bestk.information.measures import Correction, Query
from bestk.native.threads import spans, threads
from bestk.tables.codes import Codes
from bestk.tables.target import ClassTarget

# Seconds of one core: less work is counted here, sooner than a task would start.
MIN_CLUSTER_SECONDS = 0.5

# Tiles for each worker: enough for all workers to end together.
TILES_PER_WORKER = 16

# Seconds of a tile: so much is lost with a worker.
MAX_TILE_SECONDS = 1.0

# Bytes of a tile, which are sent.
MAX_TILE_BYTES = 2**25

# Tiles that each worker has at a time: one in work, and one to follow.
TILES_UNDER_WAY = 2

NO_CLIENT = (
    "backend='dask' found no client of a cluster; start one first: from distributed import "
    "Client; client = Client() for the cores of this machine, Client('address:port') for others"
)
Place = tuple[Indices, Indices]  # rows and columns of the output
_kernel_lock = Lock()  # a task uses all threads of its worker


class DaskCounter(PairSource):
    """Entropies counted by the workers of the current ``distributed.Client``; few of them here."""

    is_discrete = True

    def __init__(
        self, codes: Codes, target: ClassTarget, correction: Correction | None = None
    ) -> None:
        self._client = _find_client()
        self.n_features = codes.n_features
        with one_at_a_time():
            self._native = NativeCounter(codes, target, correction)
        self.singles = self._native.singles
        self.copies = self._native.copies
        self._table: Future | None = None

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        mirror = query.is_whole and query.measure.is_symmetric  # then each pair is counted once
        rows, columns = query.features(self.n_features)
        seconds_against_tile = self._native.packed.seconds[self._native.place[rows]]
        seconds = float(seconds_against_tile.sum()) * len(columns) / LANES / (1 + mirror)
        if self._client is None or seconds < MIN_CLUSTER_SECONDS:
            with one_at_a_time():
                self._native.fill(query, out)
            return
        side = _tile_side(self._client, seconds, out.size / (1 + mirror), out.itemsize)
        down = np.argsort(self._native.place[rows], kind="stable")
        across = np.argsort(self._native.place[columns], kind="stable")
        places = (
            (down[slice(*i)], across[slice(*j)])
            for i in spans(len(down), side)
            for j in spans(len(across), side)
            if j >= i or not mirror
        )
        tiles = (((i, j), query._replace(rows=rows[i], columns=columns[j])) for i, j in places)
        for place, block in self._run(self._client, tiles, out.dtype):
            _paste(place, block, out, mirror)

    def scan(self, query: Query, groups: Indices, count: int) -> Scan:
        """The best partner of each feature in each group, and the best pairs; counted here."""
        return self._native.scan(query, groups, count)

    def _run(
        self, client: Client, tiles: Iterator[tuple[Place, Query]], dtype: Any
    ) -> Iterator[tuple[Place, Array]]:
        """Submit tiles as others are done; cancel them all if something goes wrong."""
        if self._table is None:  # a task, which is run again if a worker is lost with its result
            with config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"}):
                self._table = client.submit(keep, self._native, pure=False)
        places: dict[Future, Place] = {}
        done = as_completed(loop=client.loop, with_results=True)

        def submit(count: int) -> None:
            for place, query in islice(tiles, count):
                future = client.submit(count_tile, self._table, query, dtype, pure=False)
                places[future] = place
                done.add(future)

        try:
            submit(TILES_UNDER_WAY * max(1, len(client.nthreads())))
            for future, result in done:
                if future.cancelled():
                    raise result
                submit(1)
                yield places.pop(future), result
                del result
        finally:
            client.cancel(list(places))


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Run kernels with as many threads as the worker has, or as allowed outside of a worker."""
    try:
        n_threads = int(get_worker().state.nthreads)
    except ValueError:
        n_threads = None
    with _kernel_lock, threads(n_threads):
        yield


def keep(counter: NativeCounter) -> NativeCounter:
    """The packed table, held by a worker."""
    return counter


def count_tile(counter: NativeCounter, query: Query, dtype: Any) -> Array:
    """Fill one tile: the task of a worker."""
    out = np.empty((len(query.rows), len(query.columns)), dtype)  # type: ignore[arg-type]
    with one_at_a_time():
        counter.fill(query, out)
    return out


def _find_client() -> Client | None:
    """The current client; none within a task, which would wait for tasks that wait for it."""
    with suppress(ValueError):
        get_worker()
        return None
    try:
        return get_client()
    except ValueError as error:
        raise RuntimeError(NO_CLIENT) from error


def _tile_side(client: Client, seconds: float, area: float, itemsize: int) -> int:
    """Rows and columns of a tile: many for each worker, none too long or too large to send."""
    n_threads = list(client.nthreads().values()) or [1]
    entries = min(
        area / (TILES_PER_WORKER * len(n_threads)),
        area * MAX_TILE_SECONDS * float(np.mean(n_threads)) / seconds,
        MAX_TILE_BYTES / itemsize,
    )
    return max(1, int(np.sqrt(entries) / LANES)) * LANES


def _paste(place: Place, block: Array, out: Array, mirror: bool) -> None:
    """Put values where they belong, and turned across the diagonal."""
    out[np.ix_(*place)] = block
    if mirror:
        out[np.ix_(*place[::-1])] = block.T
