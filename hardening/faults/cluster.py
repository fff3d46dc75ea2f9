"""A dask worker or the scheduler lost while pairs are counted: the same bits, or a clear error."""

import os
import signal
import threading
import time
from collections.abc import Iterator

import numpy as np

from bestk import cmi_matrix


def trials(rounds: int, seed: int) -> Iterator[tuple[str, str | None]]:
    """Kill one of two workers at some moment; then the scheduler."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 6, (4000, 400)), rng.integers(0, 3, 4000)
    expected = cmi_matrix(X, y)
    for _ in range(rounds):
        moment = float(rng.uniform(0.0, 1.5))
        yield f"a worker after {moment:.2f} s", _lose_worker(X, y, expected, moment)
    yield "the scheduler", _lose_scheduler(X, y)


def _lose_worker(X: np.ndarray, y: np.ndarray, expected: np.ndarray, moment: float) -> str | None:
    from distributed import Client, LocalCluster

    workers = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**workers) as cluster, Client(cluster):
        victim = next(iter(cluster.workers.values())).pid
        killer = threading.Timer(moment, os.kill, (victim, signal.SIGKILL))
        killer.start()
        same = [np.array_equal(cmi_matrix(X, y, backend="dask"), expected)]
        while killer.is_alive():
            same.append(np.array_equal(cmi_matrix(X, y, backend="dask"), expected))
    return None if all(same) else "other bits"


def _lose_scheduler(X: np.ndarray, y: np.ndarray) -> str | None:
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
    client = Client(cluster)
    threading.Timer(0.5, cluster.close).start()
    start = time.perf_counter()
    try:
        while time.perf_counter() - start < 60:
            cmi_matrix(X, y, backend="dask")
    except Exception as error:  # what kind of error it is, is what is judged
        told = f"{type(error).__name__}: {error}"
        return None if isinstance(error, RuntimeError | OSError | ValueError) else told
    finally:
        client.close(timeout=2)
        cluster.close()
    return "it never ended"
