"""The small tables of the checks: twelve columns, two of them informative."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

ROWS, COLUMNS = 240, 12
TELLING = (4, 7)  # the columns that a selector must find
NOISE = 0  # a column that says nothing, to be forced in
NAMES = [f"column_{i}" for i in range(COLUMNS)]
TIMED_ROWS, TIMED_COLUMNS, TIMED_K, LEVELS = 500, 200, 10, 5


def classes() -> NDArray[np.int64]:
    """The class of each row, two of them in equal number."""
    return np.random.default_rng(1).permutation(np.arange(ROWS) % 2)


def codes() -> NDArray[np.int64]:
    """Columns of four levels; the telling ones are high in one class and low in the other."""
    rng, y = np.random.default_rng(2), classes()
    X = rng.integers(0, 4, (ROWS, COLUMNS))
    for column in TELLING:
        right = rng.random(ROWS) < 0.85
        X[:, column] = 2 * np.where(right, y, 1 - y) + rng.integers(0, 2, ROWS)
    return X


def numbers() -> NDArray[np.float64]:
    """The same with a little noise, so that no two values are equal; all above zero."""
    return codes() + 2 + 0.3 * np.random.default_rng(3).standard_normal((ROWS, COLUMNS))


def continuous() -> NDArray[np.float64]:
    """A number to predict: the sum of the telling columns, and noise."""
    noise = np.random.default_rng(4).standard_normal(ROWS)
    return numbers()[:, list(TELLING)].sum(axis=1) + 0.5 * noise


def with_gaps(X: NDArray[Any]) -> NDArray[np.float64]:
    """A tenth of the values of each column missing."""
    holes = np.random.default_rng(5).random(X.shape) < 0.1
    return np.where(holes, np.nan, X.astype(np.float64))


def halves() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Codes, classes and the first half of the rows: one column tells there, one elsewhere."""
    X, y, first = codes(), classes(), np.arange(ROWS) < ROWS // 2
    noise = np.random.default_rng(6).integers(0, 2, (ROWS, 2))
    X[:, TELLING[0]] = np.where(first, y, noise[:, 0])
    X[:, TELLING[1]] = np.where(first, noise[:, 1], y)
    return X, y, first


def timed() -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Codes, numbers and classes of the table that is timed; a tenth of the columns tell."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, TIMED_ROWS)
    X = rng.integers(0, LEVELS, (TIMED_ROWS, TIMED_COLUMNS))
    for column in range(0, TIMED_COLUMNS, 10):
        right = rng.random(TIMED_ROWS) < rng.uniform(0.2, 0.6)
        X[right, column] = y[right] + rng.integers(0, 2, int(right.sum()))
    return X, X + 0.3 * rng.standard_normal(X.shape), y
