"""Time several functions in turn, over several rounds, so that load affects all of them."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

PAUSE = 0.3  # before each round: BLAS threads spin for 0.1 s after a product, in others' way
SHORT, AGAIN = 0.2, 4  # seconds below which a job is run some times more in each round
REFERENCE = "reference: product of two 1000 x 1000 matrices"


@dataclass(frozen=True)
class Timing:
    """Seconds of one job over the rounds."""

    best: float
    median: float


def clock(run: Callable[[], Any]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    result = run()
    seconds = time.perf_counter() - start
    del result  # giving memory back is nobody's work
    return seconds


def interleave(jobs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, Timing]:
    """Run all jobs in each round, those that use BLAS last; keep the best and the median."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        time.sleep(PAUSE)
        clock(next(iter(jobs.values())))  # takes the page faults of memory that was just given back
        for name, run in jobs.items():
            first = clock(run)
            again = AGAIN if first < SHORT else 0
            seconds[name].append(min([first, *(clock(run) for _ in range(again))]))
    return {name: Timing(min(s), statistics.median(s)) for name, s in seconds.items()}


def reference() -> Callable[[], Any]:
    """Multiply two 1000 x 1000 matrices: tells a busy machine from a slow program."""
    a = np.random.default_rng(0).random((1000, 1000))
    a @ a
    return lambda: a @ a
