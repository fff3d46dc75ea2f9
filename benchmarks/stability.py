"""Stability selection against as many refits: ``python -m benchmarks.stability``.

Both select from the same subsamples with all defaults. CPU seconds and seconds by the clock, the
best of some rounds in turn, because the machine may have other work. The frequencies are compared
with those of the same subsamples, and with those of other ones in units of the sampling error.
"""

import csv
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks.machine import RESULTS, describe_machine
from bestk import SelectBestK, stability_selection
from experiments.datasets import load

SUBSAMPLES, K = 50, 10
ROUNDS = {"breast cancer": 9, "colon": 5}


def read(name: str) -> tuple[Any, Any]:
    """A table and its classes."""
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return X, y
    found = load(name)
    return found.X, np.asarray(found.y)


def refit(X: Any, y: Any, seed: int = 0) -> Any:
    """How often each feature is selected, by a selector fitted on each subsample."""
    splits = StratifiedShuffleSplit(SUBSAMPLES, train_size=0.5, random_state=seed).split(X, y)
    chosen = [SelectBestK(K, random_state=0).fit(X[rows], y[rows]).support_ for rows, _ in splits]
    return np.mean(chosen, axis=0)


def clock(run: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU seconds, seconds by the clock, and what was found."""
    start, wall = time.process_time(), time.perf_counter()
    found = run()
    return time.process_time() - start, time.perf_counter() - wall, found


def errors_apart(found: Any, other: Any) -> float:
    """The largest difference of two frequencies, in standard errors of such a difference."""
    p = (found + other) / 2
    error = np.sqrt(np.maximum(p * (1 - p), 1 / SUBSAMPLES) * 2 / SUBSAMPLES)
    return float(np.abs((found - other) / error).max())


def measure(name: str, rounds: int) -> dict[str, Any]:
    """Seconds of both, their ratio, and the largest difference of a frequency."""
    X, y = read(name)
    ours, others = [], []
    for _ in range(rounds):
        ours.append(clock(lambda: stability_selection(X, y, K, n_subsamples=SUBSAMPLES)))
        others.append(clock(lambda: refit(X, y)))
    (cpu, wall), (refit_cpu, refit_wall) = (
        [min(each[i] for each in some) for i in (0, 1)] for some in (ours, others)
    )
    found = ours[0][2].frequencies
    return {
        "set": name, "rows": X.shape[0], "features": X.shape[1], "subsamples": SUBSAMPLES,
        "seconds": round(cpu, 3), "refit_seconds": round(refit_cpu, 3),
        "times_faster": round(refit_cpu / cpu, 1),
        "wall": round(wall, 3), "refit_wall": round(refit_wall, 3),
        "times_faster_by_wall": round(refit_wall / wall, 1),
        "largest_difference": round(np.abs(found - others[0][2]).max(), 3),
        "errors_apart_from_independent": round(errors_apart(found, refit(X, y, seed=1)), 1),
    }  # fmt: skip


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name, rounds in ROUNDS.items():
        rows.append(measure(name, rounds) | asdict(describe_machine()))
        print(*rows[-1].values(), flush=True)
    with (RESULTS / "stability.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
