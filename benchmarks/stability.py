"""Stability selection against as many refits: ``python -m benchmarks.stability``.

Both select from the same subsamples with all defaults. CPU seconds, the best of some rounds in
turn, because the machine may have other work; the frequencies are compared too.
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
ROUNDS = {"breast cancer": 5, "colon": 1}


def read(name: str) -> tuple[Any, Any]:
    """A table and its classes."""
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return X, y
    found = load(name)
    return found.X, np.asarray(found.y)


def refit(X: Any, y: Any) -> Any:
    """How often each feature is selected, by a selector fitted on each subsample."""
    splits = StratifiedShuffleSplit(SUBSAMPLES, train_size=0.5, random_state=0).split(X, y)
    chosen = [SelectBestK(K, random_state=0).fit(X[rows], y[rows]).support_ for rows, _ in splits]
    return np.mean(chosen, axis=0)


def clock(run: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds, and what was found."""
    start = time.process_time()
    found = run()
    return time.process_time() - start, found


def measure(name: str, rounds: int) -> dict[str, Any]:
    """Seconds of both, their ratio, and the largest difference of a frequency."""
    X, y = read(name)
    ours, others = [], []
    for _ in range(rounds):
        ours.append(clock(lambda: stability_selection(X, y, K, n_subsamples=SUBSAMPLES)))
        others.append(clock(lambda: refit(X, y)))
    seconds, refits = (min(each for each, _ in some) for some in (ours, others))
    difference = np.abs(ours[0][1].frequencies - others[0][1]).max()
    return {
        "set": name, "rows": X.shape[0], "features": X.shape[1], "subsamples": SUBSAMPLES,
        "seconds": round(seconds, 3), "refit_seconds": round(refits, 3),
        "times_faster": round(refits / seconds, 1), "largest_difference": round(difference, 3),
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
