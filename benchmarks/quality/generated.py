"""Data sets made up from a seed, of which it is known what decides the class."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Made:
    """A table, its classes, and the columns that matter: one of each group would do."""

    X: NDArray[Any]
    y: Labels
    groups: Groups
    nominal: bool = False


def hypercube(seed: int, m: int = 1000, n: int = 200) -> Made:
    """Like Madelon: 32 clusters on the corners of a cube, classes by chance; 15 mixtures."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        m, n, n_informative=5, n_redundant=15, n_clusters_per_class=16, flip_y=0.01,
        class_sep=2.0, shuffle=False, random_state=seed,
    )  # fmt: skip
    return _shuffled(X, y, [(i,) for i in range(20)], seed)


def xor(seed: int, m: int = 600, noise: int = 100) -> Made:
    """Three pairs of bits; the class is what most of their exclusive ors say."""
    X = np.random.default_rng(seed).integers(0, 2, (m, 6 + noise))
    votes = (X[:, 0:6:2] ^ X[:, 1:6:2]).sum(axis=1)
    return _shuffled(X, (votes >= 2).astype(np.int64), [(i,) for i in range(6)], seed)


def copies(seed: int, m: int = 400, noise: int = 152) -> Made:
    """Eight numbers that decide together, each with five noisy copies."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(m, 8))
    y = _logistic(rng, 1.2 * Z.sum(axis=1))
    noisy = [Z + 0.3 * rng.normal(size=Z.shape) for _ in range(5)]
    X = np.column_stack([Z, *noisy, rng.normal(size=(m, noise))])
    return _shuffled(X, y, [tuple(range(i, 48, 8)) for i in range(8)], seed)


def chains(seed: int, m: int = 500, noise: int = 100) -> Made:
    """Five hidden numbers, each seen through four bent rules; three classes by their sum."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(m, 5))
    total = Z @ np.array([1.0, 0.9, 0.8, 0.7, 0.6]) + 0.5 * rng.normal(size=m)
    y = np.searchsorted(np.quantile(total, [1 / 3, 2 / 3]), total)
    rules: Sequence[Callable[[Floats], Floats]] = (
        lambda z: np.exp(1.5 * z),
        lambda z: z**3,
        lambda z: np.tanh(2 * z),
        lambda z: -np.exp(-2 * z),
    )
    seen = [rule(Z + 0.2 * rng.normal(size=Z.shape)) for rule in rules]
    X = np.column_stack([*seen, np.exp(rng.normal(size=(m, noise)))])
    return _shuffled(X, y, [tuple(range(i, 20, 5)) for i in range(5)], seed)


def levels(seed: int, m: int = 600, noise: int = 40) -> Made:
    """Eight columns of two to four levels that matter, beside noise of 30 to 100 levels."""
    rng = np.random.default_rng(seed)
    few, many = 2 + np.arange(8) % 3, rng.integers(30, 101, noise)
    X = np.column_stack([rng.integers(0, count, m) for count in (*few, *many)])
    total = sum((rng.normal(size=count)[X[:, i]] for i, count in enumerate(few)), np.zeros(m))
    y = _logistic(rng, 2.0 * (total - np.median(total)))
    return _shuffled(X, y, [(i,) for i in range(8)], seed, nominal=True)


def wide(seed: int, m: int = 80, n: int = 3000) -> Made:
    """Twenty columns whose means differ a little between two classes, among thousands."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % 2
    X = rng.normal(size=(m, n))
    X[:, :20] += 0.8 * y[:, None]
    return _shuffled(X, y, [(i,) for i in range(20)], seed)


def _logistic(rng: np.random.Generator, score: Floats) -> Labels:
    return (rng.random(len(score)) < 1 / (1 + np.exp(-score))).astype(np.int64)


def _shuffled(
    X: NDArray[Any], y: Labels, groups: Sequence[Sequence[int]], seed: int, nominal: bool = False
) -> Made:
    """The same with columns in random order, so that no tie favours what was made first."""
    order = np.random.default_rng([seed, 1]).permutation(X.shape[1])
    place = np.argsort(order)
    moved = tuple(tuple(int(place[i]) for i in group) for group in groups)
    return Made(X[:, order], np.asarray(y, np.int64), moved, nominal)


MAKERS: dict[str, Callable[[int], Made]] = {
    make.__name__: make for make in (hypercube, xor, copies, chains, levels, wide)
}
