"""The tables whose selections are stored."""

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray
from sklearn import datasets

from experiments.datasets import available, load

Pair = tuple[NDArray[Any], NDArray[Any]]
SHIPPED = ("iris", "wine", "breast_cancer", "digits", "diabetes")  # by scikit-learn
PAPER = ("promoter", "waveform", "lung", "spambase", "optdigits", "arrhythmia", "colon")
SETS = SHIPPED + PAPER


def read(name: str) -> Pair:
    """X and y; the paper's sets are in the folder named by ``BESTK_DATA``."""
    if name in SHIPPED:
        return getattr(datasets, f"load_{name}")(return_X_y=True)
    found = load(name)
    return found.X, found.y


def present() -> Iterator[str]:
    """The sets that are here."""
    return (name for name in SETS if name in SHIPPED or available(name))
