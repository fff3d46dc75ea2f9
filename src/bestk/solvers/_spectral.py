"""The spectral relaxation: the leading eigenvector."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, eigsh

from bestk.problem.problem import BQP
from bestk.relaxations.rounding import largest_entry
from bestk.solvers._base import Floats, Indices, Needs, Run, top_k

DENSE = 200  # below this size LAPACK is as fast as Lanczos


@dataclass(frozen=True)
class Spectral:
    """The k largest entries, in absolute value, of the eigenvector of the largest eigenvalue.

    References
    ----------
    X. V. Nguyen, J. Chan, S. Romano, J. Bailey, "Effective global approaches for mutual
    information based feature selection", KDD 2014.
    """

    name: ClassVar[str] = "spectral"
    needs: ClassVar[Needs] = "products"

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by falling weight in the eigenvector."""
        return top_k(np.abs(leading_eigenvector(problem.Q)), problem.k)

    def pick_path(self, problem: BQP, ks: Sequence[int], run: Run) -> Mapping[int, Indices]:
        """One ordering serves every k."""
        order = top_k(np.abs(leading_eigenvector(problem.Q)), max(ks))
        return {k: order[:k] for k in ks}


def leading_eigenvector(Q: Any) -> Floats:
    """Eigenvector of the largest eigenvalue of a symmetric matrix."""
    n = Q.shape[0]
    if not isinstance(Q, np.ndarray):  # known by its products with vectors
        return np.asarray(eigsh(Q.operator(), k=1, which="LA", v0=np.ones(n))[1][:, 0])
    scale = largest_entry(Q)
    if scale == 0.0:
        return np.ones(n) / np.sqrt(n)
    if n > DENSE:
        try:
            return np.asarray(eigsh(Q, k=1, which="LA", v0=np.ones(n))[1][:, 0])
        except ArpackError:  # e.g. the start is an eigenvector of a smaller eigenvalue
            pass
    return np.asarray(eigh(Q / scale, subset_by_index=[n - 1, n - 1])[1][:, 0])
