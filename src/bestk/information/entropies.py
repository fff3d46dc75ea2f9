"""Entropies of a table and its target: of single features, and of pairs when asked."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from bestk._memory import free_memory, limits
from bestk._typing import Floats, Indices
from bestk.errors import ParameterError
from bestk.information import measures
from bestk.information.backends import PairSource, source_of
from bestk.information.measures import Correction, Measure, Query
from bestk.native.threads import threads
from bestk.tables.codes import Codes
from bestk.tables.target import ClassTarget

UNCHECKED_BYTES = 2**26  # a smaller matrix is allocated without a look at the free memory


class PairMeasures(ABC):
    """Measures of pairs of features; a subclass has ``measure``, which fills one matrix.

    Every measure takes ``rows`` and ``columns``, lists of features; None stands for all.
    """

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features."""

    @property
    @abstractmethod
    def of_targets(self) -> "tuple[Entropies, ...]":
        """The entropies with each target."""

    @abstractmethod
    def mi(self) -> Floats:
        """``I(xi; y)``."""

    @abstractmethod
    def measure(
        self,
        measure: Measure,
        rows: Iterable[int] | None = None,
        columns: Iterable[int] | None = None,
        dtype: DTypeLike = np.float64,
        signed: bool = False,
    ) -> Floats:
        """Any weighted sum of the entropies of each pair.

        Values below 0 are rounding noise and clipped, unless the estimate is corrected for bias
        or the measure is ``signed``.
        """

    def joint_mi(self, rows: Any = None, columns: Any = None, dtype: DTypeLike = float) -> Floats:
        """``I(xi, xj; y)`` at ``[i, j]``."""
        return self.measure(measures.JOINT_MI, rows, columns, dtype)

    def cmi(self, rows: Any = None, columns: Any = None, dtype: DTypeLike = float) -> Floats:
        """``I(xj; y | xi)`` at ``[i, j]``."""
        return self.measure(measures.CMI, rows, columns, dtype)

    def cmi_among(self, items: Indices) -> Floats:
        """``I(xj; y | xi)`` at ``[i, j]`` of some features."""
        return self.cmi(items, items)

    def pair_mi(self, rows: Any = None, columns: Any = None, dtype: DTypeLike = float) -> Floats:
        """``I(xi; xj)`` at ``[i, j]``."""
        return self.measure(measures.PAIR_MI, rows, columns, dtype)

    def pair_cmi(self, rows: Any = None, columns: Any = None, dtype: DTypeLike = float) -> Floats:
        """``I(xi; xj | y)`` at ``[i, j]``."""
        return self.measure(measures.PAIR_CMI, rows, columns, dtype)


@dataclass(frozen=True)
class Entropies(PairMeasures):
    """H(xi), H(xi, y) and H(y); H(xi, xj) and H(xi, xj, y) counted when a measure asks for them.

    A measure fills one matrix: nothing else of its size is ever held.
    """

    x: Floats
    xy: Floats
    y: float
    source: PairSource
    signed: bool = False  # corrected estimates may be negative; plug-in ones are not
    n_jobs: int | None = None

    @classmethod
    def count(
        cls,
        codes: Codes,
        target: ClassTarget,
        backend: str = "auto",
        correction: Correction | None = None,
        n_jobs: int | None = None,
    ) -> "Entropies":
        """Count a discrete table."""
        with threads(n_jobs):
            source = source_of(codes, target, backend, correction)
            return cls(*source.singles, source, correction is not None, n_jobs)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.x)

    @property
    def of_targets(self) -> "tuple[Entropies, ...]":
        """The entropies with each target; these, as there is one."""
        return (self,)

    @property
    def is_discrete(self) -> bool:
        """Whether entropies are of counts, and so never negative."""
        return bool(self.source.is_discrete)

    def mi(self) -> Floats:
        """``I(xi; y)``."""
        return np.maximum(self.x + self.y - self.xy, self._lowest)

    def copy_mi(self) -> Floats:
        """``I(xi; xi')`` of each feature and a copy of it: its entropy, if it is counted."""
        return self.source.copies

    def measure(
        self,
        measure: Measure,
        rows: Iterable[int] | None = None,
        columns: Iterable[int] | None = None,
        dtype: DTypeLike = np.float64,
        signed: bool = False,
    ) -> Floats:
        """Any weighted sum of the entropies of each pair.

        Values below 0 are rounding noise and clipped, unless the estimate is corrected for bias
        or the measure is ``signed``.
        """
        chosen_rows = self._indices(rows)  # the same object where pairs are counted once
        chosen_columns = chosen_rows if columns is rows else self._indices(columns)
        both = chosen_rows, chosen_columns
        height, width = (self.n_features if some is None else len(some) for some in both)
        out = _allocate((height, width), dtype)
        if chosen_columns is not None:
            once, places = np.unique(chosen_columns, return_inverse=True)
            if len(once) < len(chosen_columns):  # sources write each column once
                out[:] = self.measure(measure, chosen_rows, once, dtype, signed)[:, places]
                return out
        lowest = -np.inf if signed else self._lowest
        with threads(self.n_jobs):
            self.source.fill(Query(measure, chosen_rows, chosen_columns, lowest), out)
        return out

    def row_sums(self, measure: Measure, signed: bool = False) -> Floats | None:
        """Sums of a measure over all other features, if the source has a quick way to them."""
        with threads(self.n_jobs):
            return self.source.row_sums(Query(measure, lowest=-np.inf if signed else self._lowest))

    @property
    def _lowest(self) -> float:
        return -np.inf if self.signed else 0.0

    def _indices(self, features: Iterable[int] | None) -> Indices | None:
        if features is None:
            return None
        chosen = np.asarray(list(features) if not hasattr(features, "__len__") else features)
        if chosen.ndim != 1 or (len(chosen) and chosen.dtype.kind not in "iu"):
            raise ParameterError(f"features must be a list of indices, not {features!r}")
        if len(chosen) and not (chosen.min() >= 0 and chosen.max() < self.n_features):
            raise ParameterError(
                f"features must lie in 0..{self.n_features - 1}, not {chosen.min()}..{chosen.max()}"
            )
        return chosen.astype(np.int64)


def _allocate(shape: tuple[int, int], dtype: DTypeLike) -> Floats:
    """An empty matrix, or an error before the machine runs out of memory."""
    try:
        known = np.dtype(dtype) in (np.float32, np.float64)
    except TypeError:
        known = False
    if not known:
        raise ParameterError(f"dtype must be float32 or float64, not {dtype!r}")
    needed = prod(shape) * np.dtype(dtype).itemsize
    if needed > UNCHECKED_BYTES and needed > free_memory():
        raise MemoryError(
            f"a {shape[0]} x {shape[1]} matrix of {np.dtype(dtype)} needs {needed / 2**30:.3g} GiB "
            f"and {limits()}; ask for fewer columns at a time, drop columns of little "
            "information first, or use a method that needs no matrix, such as 'mrmr'"
        )
    return np.empty(shape, dtype)
