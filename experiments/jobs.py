"""Run jobs in single-threaded processes; results are stored, and stored jobs are skipped."""

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from time import perf_counter, sleep
from typing import Any

from experiments.store import Key, Store

BETWEEN_LINES = 60.0  # seconds
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


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
    """Do the jobs that the store does not know, in their order as far as their needs allow.

    A job that fails is reported and left out, with those that need it; the others go on.
    """
    waiting = [job for job in jobs if job.key not in store]
    if not waiting:
        return
    failed: list[str] = []
    tell = _progress(waiting)
    with _one_thread(), _pool(processes) as pool:
        running: dict[Future[Any], Job] = {}
        while running or any(_is_ready(job, store) for job in waiting):
            while len(running) < processes and (job := _next(waiting, store)):
                inputs = ([store[key] for key in job.needs],) if job.needs else ()
                running[pool.submit(job.function, *inputs, *job.arguments)] = job
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job = running.pop(future)
                if (error := future.exception()) is None:
                    store.add(job.key, future.result())
                else:
                    failed.append(f"{job}: {type(error).__name__}: {error}")
                    print(f"failed: {failed[-1]}", flush=True)
                tell(job)
    if failed or waiting:
        raise SystemExit(
            f"{len(failed)} jobs failed and {len(waiting)} need them; the first: "
            f"{(failed or [f'{waiting[0]} needs what no job makes'])[0]}"
        )


def _progress(jobs: Sequence[Job]) -> Callable[[Job], None]:
    """A function to call with each job that ends; it prints a line about once a minute."""
    start = last = perf_counter()
    total, spent, finished = sum(job.cost for job in jobs), 0.0, 0
    count = len(jobs)

    def tell(job: Job) -> None:
        nonlocal last, spent, finished
        spent, finished, now = spent + job.cost, finished + 1, perf_counter()
        if now - last > BETWEEN_LINES or finished == count:
            last, left = now, (now - start) * (total / spent - 1)
            print(f"[{(now - start) / 60:6.1f} min] {finished}/{count} jobs, about "
                  f"{left / 60:.1f} min left ({job})", flush=True)  # fmt: skip

    return tell


def _is_ready(job: Job, store: Store) -> bool:
    return all(key in store for key in job.needs)


def _next(waiting: list[Job], store: Store) -> Job | None:
    """Take the first job that has all it needs."""
    for place, job in enumerate(waiting):
        if _is_ready(job, store):
            return waiting.pop(place)
    return None


@contextmanager
def _one_thread() -> Iterator[None]:
    """Processes that start meanwhile have one thread each."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _pool(processes: int) -> ProcessPoolExecutor:
    """Fresh processes, which read the numbers of threads when they load their libraries."""
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
