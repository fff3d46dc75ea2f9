"""Jobs in processes of one thread each: what is done is stored, what is stored is not done."""

import multiprocessing
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from threading import Thread
from time import sleep
from typing import Any

from experiments.progress import Progress
from experiments.store import Key, Store

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """A call of a function of a module, whose result is stored under a key."""

    key: Key
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    needs: tuple[Key, ...] = ()  # keys whose results are arguments too, as a list before the others
    cost: float = 1.0  # seconds, roughly

    def __str__(self) -> str:
        return " ".join(self.key)


def work(jobs: Iterable[Job], store: Store, processes: int = 2) -> None:
    """Do the jobs that the store does not know, in their order as far as their needs allow."""
    waiting = [job for job in jobs if job.key not in store]
    if not waiting:
        return
    with Progress(waiting, processes) as progress, _pool(processes) as pool:
        running: dict[Future[Any], Job] = {}
        while waiting or running:
            while len(running) < processes and (job := _next(waiting, store)):
                inputs = ([store[key] for key in job.needs],) if job.needs else ()
                running[pool.submit(job.function, *inputs, *job.arguments)] = job
            if not running:
                raise RuntimeError(f"{waiting[0]} needs what no job makes: {waiting[0].needs}")
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job = running.pop(future)
                store.add(job.key, future.result())
                progress.done(job)


def _next(waiting: list[Job], store: Store) -> Job | None:
    """Take the first job that has all it needs."""
    for place, job in enumerate(waiting):
        if all(key in store for key in job.needs):
            return waiting.pop(place)
    return None


def _pool(processes: int) -> ProcessPoolExecutor:
    """Fresh processes, which read the numbers of threads when they load their libraries."""
    for name in THREADS:
        os.environ[name] = "1"
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(processes, context, _end_with, (os.getpid(),))


def _end_with(parent: int) -> None:
    """End this process when its parent is gone, however suddenly that went."""

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def total_cost(jobs: Sequence[Job], store: Store) -> float:
    """Seconds of one process for what is not done yet, roughly."""
    return sum(job.cost for job in jobs if job.key not in store)
