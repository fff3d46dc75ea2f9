"""Time the cluster backend: ``python -m benchmarks.scale.cluster [--gigabytes 20]``.

Three parts, each in a process of its own, each with rows of ``benchmarks/results/cluster.csv``:

``tiles``  all pairs by the threads of this process, and by 1, 2 and 4 workers of one thread each,
           in turn, round after round; the best of each counts, and the seconds of all processors
           that went into it, which a busy machine changes less than the time
``kill``   two workers, one of them killed with SIGKILL in the middle
``rows``   a table in chunks of rows, made up as it is read: the time, and the most memory that
           this process and any worker held
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import psutil
from distributed import Client, LocalCluster

from benchmarks.machine import RESULTS
from benchmarks.scale.record import Row, append, peak_gib
from bestk import SelectBestK
from bestk.information import Query
from bestk.information.backends import dask_cluster as cluster
from bestk.information.backends import get_backend
from bestk.information.measures import SYMMETRIC_CMI
from bestk.native.threads import n_threads
from bestk.tables.codes import Codes
from bestk.tables.target import ClassTarget

FILE = RESULTS / "cluster.csv"
WORKERS = (1, 2, 4)
CHUNK_BYTES = 2**26
K = 10
ALL_PAIRS = Query(SYMMETRIC_CMI)


def main() -> None:
    options = _read_options()
    if options.only is not None:
        PARTS[options.only](options)
        return
    for part in PARTS:
        command = [sys.executable, "-m", "benchmarks.scale.cluster", *sys.argv[1:]]
        subprocess.run([*command, "--only", part], check=True)


def time_tiles(options: argparse.Namespace) -> None:
    table, out = _made_up(options), np.empty((options.n, options.n))
    threaded = get_backend("native")(*table, None)
    threaded.fill(ALL_PAIRS, out)
    for n_workers in WORKERS:
        with _cluster(n_workers) as client:
            away = get_backend("dask")(*table, None)
            first = _clock(client, lambda source=away: source.fill(ALL_PAIRS, out))
            seconds: dict[str, list[tuple[float, float]]] = {"threads": [], "workers": []}
            for _ in range(options.rounds):
                for name, source in (("threads", threaded), ("workers", away)):
                    run = _clock(client, lambda source=source: source.fill(ALL_PAIRS, out))
                    seconds[name].append(run)
        (near, near_cpu), (far, far_cpu) = (min(seconds[name]) for name in seconds)
        detail = (
            f"{near:.3g} s by {n_threads()} threads here: {far / near:.2f}x; "
            f"processors {far_cpu:.3g} s and {near_cpu:.3g} s: {far_cpu / near_cpu:.2f}x; "
            f"the first time, table sent, {first[0]:.3g} s; best of {options.rounds} rounds"
        )
        _keep(options, "tiles", f"{n_workers} workers", far, detail)


def time_kill(options: argparse.Namespace) -> None:
    table = _made_up(options)
    out, killed = np.empty((2, options.n, options.n))
    with _cluster(2) as client:
        away = get_backend("dask")(*table, None)
        away.fill(ALL_PAIRS, out)
        whole = _clock(client, lambda: away.fill(ALL_PAIRS, out))[0]
        victim, paste, home = next(iter(client.run(os.getpid).values())), cluster._paste, []

        def kill_in_the_middle(*arguments: Any) -> None:
            home.append(1)
            if len(home) == 10:
                os.kill(victim, signal.SIGKILL)
            paste(*arguments)

        cluster._paste = kill_in_the_middle
        start = time.perf_counter()
        away.fill(ALL_PAIRS, killed)
        seconds = time.perf_counter() - start
        cluster._paste = paste
    same = "the same bits" if (out == killed).all() else "NOT the same"
    detail = f"killed after tile 10 of {len(home)}; {whole:.3g} s if none is killed; {same}"
    _keep(options, "kill", "2 workers, one killed", seconds, detail)


def time_rows(options: argparse.Namespace) -> None:
    import dask.array as da

    n, rows = options.columns, CHUNK_BYTES // (8 * options.columns)
    m = int(options.gigabytes * 1e9) // (8 * n * rows) * rows
    X = da.random.default_rng(0).random((m, n), chunks=(rows, n))
    y = (X[:, 0] + X[:, 1] + X[:, 2] * X[:, 3] > 1.25).astype(np.int64)
    with _cluster(2) as client:
        selector = SelectBestK(K, "tpower", information="discrete", discretizer="caim")
        seconds = _clock(client, lambda: selector.fit(X, y))[0]
        peaks = client.run(peak_gib).values()
    found = np.isin(np.arange(4), selector.solution_.support).sum()
    detail = (
        f"{8e-9 * n * m:.3g} GB in {m // rows} chunks; most memory of a worker "
        f"{max(peaks):.2f} GiB, here {peak_gib():.2f}; {found} of 4 planted columns selected"
    )
    peak = max(peak_gib(), *peaks)
    append(Row("cluster", "rows in chunks", n, m, "caim", K, seconds, peak, detail), FILE)
    print(f"rows: {seconds:.1f} s, {detail}", flush=True)


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "tiles": time_tiles,
    "kill": time_kill,
    "rows": time_rows,
}


@contextmanager
def _cluster(n_workers: int) -> Iterator[Client]:
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def _clock(client: Client, run: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of the wall, and of all processors."""
    processes = [psutil.Process(), *map(psutil.Process, client.run(os.getpid).values())]
    before, start = _processor_seconds(processes), time.perf_counter()
    run()
    return time.perf_counter() - start, _processor_seconds(processes) - before


def _processor_seconds(processes: list[psutil.Process]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def _made_up(options: argparse.Namespace) -> tuple[Codes, ClassTarget]:
    """Columns that know nothing of the classes: counting does not care."""
    rng, (n, m, levels) = np.random.default_rng(0), (options.n, options.m, options.levels)
    values = rng.integers(0, levels, (n, m), dtype=np.uint8)
    values[:, :levels] = np.arange(levels)  # every level occurs
    y = rng.permutation(np.arange(m) % 2)
    codes = Codes(values, np.full(n, levels), [str(i) for i in range(n)])
    return codes, ClassTarget(y, np.arange(2), np.bincount(y))


def _keep(options: argparse.Namespace, part: str, what: str, seconds: float, detail: str) -> None:
    size = options.n, options.m, str(options.levels)
    append(Row("cluster", f"{part}: {what}", *size, 0, seconds, peak_gib(), detail), FILE)
    print(f"{part}: {what} {seconds:.3g} s, {detail}", flush=True)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=PARTS, help="one part, in this process")
    parser.add_argument("--n", type=int, default=6_000, help="columns of tiles and kill")
    parser.add_argument("--m", type=int, default=20_000, help="and rows")
    parser.add_argument("--levels", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gigabytes", type=float, default=20.0, help="of numbers in chunks")
    parser.add_argument("--columns", type=int, default=1_000, help="of these")
    return parser.parse_args()


if __name__ == "__main__":
    main()
