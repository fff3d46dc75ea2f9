"""The optimisation problem, independent of data and features."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bestk._checks import whole
from bestk._typing import Floats, Indices

MAX_ASYMMETRY = 1e-9  # relative to the largest entry: less is rounding
MIN_ENTRY, MAX_ENTRY = 1e-75, 1e75  # the largest entry: its cubes neither vanish nor overflow
MAX_BLOCK = 2**25  # entries of a lazy matrix that are held together: 256 MiB


@runtime_checkable
class LazyMatrix(Protocol):
    """A symmetric matrix too big to hold, whose columns are made when asked for."""

    shape: tuple[int, int]

    def diagonal(self) -> Floats:
        """The diagonal."""

    def columns(self, items: Indices) -> Floats:
        """The columns of those items, side by side: shape (n, len(items))."""


@dataclass(frozen=True, eq=False)
class BQP:
    """Maximise x'Qx over x in {0, 1}^n with sum(x) = k.

    Parameters
    ----------
    Q : square array, or LazyMatrix
        Any real matrix; only its symmetric part matters and is kept. A symmetric float64 array
        is not copied.
    k : int
        How many items to choose, from 1 to n.
    strict : bool, default=False
        Refuse a matrix that is not symmetric.

    Examples
    --------
    >>> problem = BQP([[1.0, 4.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]], k=2)
    >>> problem.value([0, 1])
    8.0
    """

    Q: Any
    k: int
    strict: bool = False

    def __post_init__(self) -> None:
        # the columns of a data frame are not a method
        lazy = callable(getattr(type(self.Q), "columns", None)) and isinstance(self.Q, LazyMatrix)
        object.__setattr__(self, "Q", self.Q if lazy else _symmetric(self.Q, self.strict))
        object.__setattr__(self, "k", whole(self.k, "k"))
        self._check_k(self.k)

    @classmethod
    def trusted(cls, Q: Any, k: int) -> "BQP":
        """A problem whose matrix is known to be symmetric and finite: nothing is checked."""
        problem = object.__new__(cls)
        for name, value in (("Q", Q), ("k", k), ("strict", False)):
            object.__setattr__(problem, name, value)
        return problem

    def with_k(self, k: int) -> "BQP":
        """The same matrix with another k; the matrix is not checked again."""
        wanted = whole(k, "k")
        self._check_k(wanted)
        return self.trusted(self.Q, wanted)

    def _check_k(self, k: int) -> None:
        if not 1 <= k <= self.n:
            raise ValueError(f"k must lie between 1 and the {self.n} items of Q, not {k}")

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self.Q.shape[0])

    @property
    def is_lazy(self) -> bool:
        """Whether Q is only known by its columns."""
        return not isinstance(self.Q, np.ndarray)

    @cached_property
    def diagonal(self) -> Floats:
        """The diagonal of Q."""
        return np.asarray(self.Q.diagonal(), dtype=np.float64)

    def columns(self, items: Iterable[int]) -> Floats:
        """Columns of Q, side by side."""
        chosen = np.asarray(list(items) if not hasattr(items, "__len__") else items, np.int64)
        # rows are columns, and lie together in memory
        return np.asarray(self.Q.columns(chosen)) if self.is_lazy else self.Q[chosen].T

    def value(self, items: Iterable[int]) -> float:
        """The objective x'Qx of a choice of items."""
        chosen = np.asarray(list(items), np.int64)
        return sum(float(self.columns(some)[chosen].sum()) for some in self._blocks(chosen))

    def block(self, items: Indices) -> Floats:
        """The rows and columns of those items."""
        return np.hstack([self.columns(some)[items] for some in self._blocks(items)])

    def contributions(self, items: Iterable[int]) -> Floats:
        """The part of each chosen item in x'Qx, pairs shared evenly: sum of Q_ij over chosen j.

        Examples
        --------
        >>> BQP([[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]], k=2).contributions([1, 2])
        array([1., 3.])
        """
        chosen = np.asarray(list(items), np.int64)
        parts = [self.columns(some)[chosen].sum(axis=0) for some in self._blocks(chosen)]
        return np.concatenate(parts)

    def product(self, items: Iterable[int]) -> Floats:
        """Qx of a choice of items, the sum of their columns."""
        chosen = np.asarray(list(items), np.int64)
        return sum((self.columns(some).sum(axis=1) for some in self._blocks(chosen)), np.zeros(()))

    def gains(self, items: Iterable[int]) -> Floats:
        """For every item i: Q_ii + 2 sum of Q_ij over the other chosen items j."""
        chosen = np.asarray(list(items), np.int64)
        gains = self.diagonal + 2 * self.product(chosen)
        gains[chosen] -= 2 * self.diagonal[chosen]
        return gains

    def _blocks(self, items: Indices) -> list[Indices]:
        """The items, of a lazy matrix so few at a time that their columns need little memory."""
        width = max(1, MAX_BLOCK // self.n) if self.is_lazy else max(1, len(items))
        return [items[start : start + width] for start in range(0, max(1, len(items)), width)]


def _symmetric(Q: Any, strict: bool) -> Floats:
    """Q as a symmetric float64 array, the same object where it is one already."""
    try:
        matrix = np.asarray(Q.toarray() if hasattr(Q, "toarray") else Q)
    except ValueError as error:
        raise ValueError("Q must be a square matrix; its rows have different lengths") from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"Q must be a square matrix, not of shape {matrix.shape}")
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"Q must hold real numbers, not {matrix.dtype}")
    if np.ma.is_masked(Q):
        raise ValueError("Q has masked entries; fill them in before solving, e.g. Q.filled(0)")
    with np.errstate(over="ignore"):
        matrix = np.asarray(matrix, np.float64)
    largest = max(abs(float(matrix.max())), abs(float(matrix.min())))
    if not np.isfinite(largest):
        raise ValueError("Q holds NaN or infinite entries; replace them before solving")
    if largest and not MIN_ENTRY <= largest <= MAX_ENTRY:
        raise ValueError(
            f"the largest entry of Q, {largest:.3g}, is not between {MIN_ENTRY} and {MAX_ENTRY}: "
            "sums of its powers would not be exact; divide Q by it, which changes no choice"
        )
    apart = _asymmetry(matrix)
    if strict and apart > MAX_ASYMMETRY * largest:
        raise ValueError(
            f"Q is not symmetric (entries differ by up to {apart:.3g}); pass (Q + Q.T) / 2, "
            "which has the same x'Qx, or strict=False"
        )
    return matrix if apart == 0 else (matrix + matrix.T) / 2


def _asymmetry(matrix: Floats, strip: int = 256) -> float:
    """Largest difference across the diagonal, without a copy of the matrix."""
    strips = range(0, len(matrix), strip)
    return max(
        float(np.abs(matrix[i : i + strip, i:] - matrix[i:, i : i + strip].T).max()) for i in strips
    )
