"""The cluster backend: tiles of the pair matrix as tasks of dask, the default's bits."""

from collections.abc import Iterator
from itertools import count, islice
from time import sleep
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future, as_completed, get_client, get_worker
from numpy.typing import NDArray

from bestk.data.codes import Codes, Target
from bestk.information._correction import Correction
from bestk.information._measures import Measure
from bestk.information._tiles import cut
from bestk.information.backends._costs import LANES
from bestk.information.backends._dask_tiles import (
    Blocks,
    Kind,
    Tile,
    TileCounter,
    Wanted,
    count_tile,
    one_at_a_time,
)

Indices = NDArray[np.int64]
WORTH_A_CLUSTER = 0.5  # seconds of one core: less is counted here, before a task would be there
TILES_A_WORKER, TILE_SECONDS = 16, 1.0  # enough to balance, and what a lost worker may cost
TILE_BYTES = 2**25
WAITING = 2  # tiles in hand for each worker: one in work, one to follow
RESTARTS = 5  # times that a table lost with all its holders is sent again
PAUSE = 0.5  # seconds before that: the scheduler may not know yet who else is dead
PATIENCE = 60.0  # and for the first of them to come back
NO_CLIENT = (
    "backend='dask' found no client of a cluster; start one first: from distributed import "
    "Client; client = Client() for the cores of this machine, Client('address:port') for others"
)


class Task(NamedTuple):
    """A tile under way, and where its values belong."""

    tile: Tile
    rows: Indices
    columns: Indices


class DaskCounter:
    """Entropies counted by the workers of the current ``distributed.Client``.

    The table goes to every worker once. Tiles come home as they are done, few at a time; those
    of a lost worker are counted by another. What is quicker counted than sent is counted here.
    """

    name, is_discrete = "dask", True

    def __init__(self, codes: Codes, target: Target, correction: Correction | None = None) -> None:
        self._client = _find_client()
        self.n_features = codes.n_features
        with one_at_a_time():
            self._counter = TileCounter(codes, target, correction)
        self._data: Future | None = None

    def singles(self) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """H(x) and H(x, y) of each feature, and H(y)."""
        return self._counter.singles()

    def copies(self) -> NDArray[np.float64]:
        """I(x; x') of each feature and a copy of it: H(x)."""
        return self._counter.copies()

    def fill(
        self,
        measure: Measure,
        out: NDArray[Any],
        rows: Indices | None = None,
        columns: Indices | None = None,
        lowest: float = -np.inf,
    ) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        wanted = Wanted(measure, lowest, out.dtype)
        mirror = rows is None and columns is None
        across = self._counter.sort(columns)
        down = across if mirror else self._counter.sort(rows)
        seconds = self._counter.seconds(down[0], out.shape[1]) / (2 if mirror else 1)
        if self._client is None or seconds < WORTH_A_CLUSTER:
            with one_at_a_time():
                self._counter.fill(measure, out, rows, columns, lowest)
            return
        side = _side(self._client, seconds, out, mirror)
        tasks = _cut_tasks(down, across, side, mirror, wanted.is_symmetric)
        for task, blocks in self._run(self._client, tasks, wanted):
            _paste(task, blocks, out, mirror)

    def scatter(self) -> Future:
        """The table on every worker, sent if it is on none."""
        if self._client is None:
            raise RuntimeError("a task of a worker cannot send tables; do so where the client is")
        if self._data is not None and self._data.status != "finished":
            sleep(PAUSE)
            self._data = None
        if self._data is None:
            self._data = _send(self._client, self._counter)
        return self._data

    def _run(
        self, client: Client, tasks: Iterator[Task], wanted: Wanted
    ) -> Iterator[tuple[Task, Blocks]]:
        """Submit tasks as others are done; cancel them all if something goes wrong."""
        under_way: dict[Future, Task] = {}
        done = as_completed(loop=client.loop, with_results=True, raise_errors=False)

        def submit(task: Task) -> None:
            future = client.submit(count_tile, self.scatter(), task.tile, wanted, pure=False)
            under_way[future] = task
            done.add(future)

        try:
            for task in islice(tasks, WAITING * max(1, len(client.nthreads()))):
                submit(task)
            losses = count(1)
            for future, result in done:
                task = under_way.pop(future)
                if future.status == "finished":
                    for following in islice(tasks, 1):
                        submit(following)
                    yield task, result
                    del result
                elif future.status == "error":
                    raise result[1].with_traceback(result[2])
                elif next(losses) > RESTARTS * WAITING * max(1, len(client.nthreads())):
                    raise RuntimeError(
                        f"the workers lost the table {RESTARTS} times; look at their memory and "
                        "logs, or use backend='native'"
                    )
                else:
                    submit(task)
        finally:
            client.cancel(list(under_way))


def _send(client: Client, counter: TileCounter, again: int = RESTARTS) -> Future:
    """Give every worker the table; once more if one of them dies of all times now."""
    try:
        return client.scatter(counter, broadcast=True, hash=False)
    except OSError:  # a connection that broke; a time limit is one, too
        if not again:
            raise
        client.wait_for_workers(1, timeout=PATIENCE)
        return _send(client, counter, again - 1)


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


def _side(client: Client, seconds: float, out: NDArray[Any], mirror: bool) -> int:
    """Rows and columns of a tile: many for each worker, none too long or too large to send."""
    n_threads = list(client.nthreads().values()) or [1]
    area = out.size / (2 if mirror else 1)
    most = min(
        area / (TILES_A_WORKER * len(n_threads)),
        area * TILE_SECONDS * float(np.mean(n_threads)) / seconds,
        TILE_BYTES / out.itemsize,
    )
    return max(1, int(np.sqrt(most) / LANES)) * LANES


def _cut_tasks(
    down: tuple[Indices, Indices],
    across: tuple[Indices, Indices],
    side: int,
    mirror: bool,
    symmetric: bool,
) -> Iterator[Task]:
    """Cut the places down and across, and with them where they belong, into tiles."""
    shape = len(down[0]), len(across[0])
    for top, bottom, first, last in cut(shape, (side, side), mirror):
        rows, columns = down[0][top:bottom], across[0][first:last]
        square = mirror and top == first
        one_half = symmetric or not mirror
        kind: Kind = "square" if square else "block" if one_half else "both"
        tile = Tile(rows.copy(), columns.copy(), kind)
        yield Task(tile, down[1][top:bottom], across[1][first:last])


def _paste(task: Task, blocks: Blocks, out: NDArray[Any], mirror: bool) -> None:
    """Put values where they belong, and turned across the diagonal."""
    rows, columns = _span(task.rows), _span(task.columns)
    _write(out, rows, columns, blocks[0])
    if mirror and task.tile.kind != "square":
        _write(out, columns, rows, blocks[1] if len(blocks) > 1 else blocks[0].T)


def _write(out: NDArray[Any], rows: Any, columns: Any, block: NDArray[Any]) -> None:
    both = isinstance(rows, slice) or isinstance(columns, slice)
    out[(rows, columns) if both else np.ix_(rows, columns)] = block


def _span(places: Indices) -> Any:
    """A slice, where places follow each other."""
    follow = bool((np.diff(places) == 1).all())
    return slice(int(places[0]), int(places[-1]) + 1) if follow else places
