"""Small files with the shape of a data set of the paper."""

import numpy as np
import pytest

from experiments.datasets import DATASETS


def write_set(folder, name, seed=0):
    """Noise, and some columns that follow the class; of the paper's shape."""
    entry, rng = DATASETS[name], np.random.default_rng(seed)
    y = np.repeat(np.arange(entry.c), entry.classes)
    X = rng.integers(0, 4, (entry.m, entry.n))
    for column in range(0, entry.n, 5):
        X[:, column] = np.where(rng.random(entry.m) < 0.4, y % 4, X[:, column])
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / f"{name}.npz", X=X.astype(np.int8), y=y)


@pytest.fixture(name="write_set")
def _write_set():
    return write_set
