"""The problems of Passemiers et al. (2024): a few columns matter, all others are noise."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RELEVANT = {"xor": 2, "ring": 2, "ring+xor": 4, "ring+xor+sum": 6}
FOLDS = 6


@dataclass(frozen=True)
class Draw:
    """A table, its target, and the columns that matter."""

    X: Floats
    y: NDArray[np.int64]
    relevant: NDArray[np.int64]


def draw(problem: str, rows: int, columns: int, seed: int) -> Draw:
    """Rows of independent uniform columns, of which a few, at random places, decide the class."""
    rng = np.random.default_rng(seed)
    X = rng.random((rows, columns))
    relevant = rng.permutation(columns)[: RELEVANT[problem]]
    y = _decide(problem, X[:, relevant], rng).astype(np.int64)
    X *= 2.0
    X -= 1.0
    return Draw(X, y, relevant)


def _decide(problem: str, x: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
    def ring(width: float) -> NDArray[np.bool_]:
        return np.abs(np.hypot(x[:, 0] - 0.5, x[:, 1] - 0.5) - 0.35) <= width

    def xor(first: int, least: float) -> NDArray[np.bool_]:
        return (x[:, first] - 0.5) * (0.5 - x[:, first + 1]) >= least

    if problem == "xor":
        return xor(0, 0.0)
    if problem == "ring":
        return ring(0.1151)
    if problem == "ring+xor":
        return ring(0.0704) | xor(2, 0.0337)
    noisy = x[:, 4] + x[:, 5] + 0.2 * rng.normal(size=len(x)) >= 1.4074
    return ring(0.0479) | xor(2, 0.0598) | noisy


def training_rows(rows: int, fold: int) -> NDArray[np.int64]:
    """All rows but those of one of six contiguous folds."""
    return np.delete(np.arange(rows), np.array_split(np.arange(rows), FOLDS)[fold])
