"""Quadratic programming feature selection: weights on the simplex, and the heaviest k items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bestk.problem.problem import BQP, LazyMatrix
from bestk.relaxations.eigen import one_thread
from bestk.solvers._base import Floats, Indices, Needs, Run
from bestk.solvers._simplex_qp import Centred, Nystrom, minimise


@dataclass(frozen=True)
class Simplex:
    """The k heaviest items of the best weights: maximise w'Qw over w >= 0, sum w = 1.

    A choice x of k items is the weight x / k on each, so x'Qx = k^2 w'Qw: the relaxation drops
    that weights are equal, and one ranking serves every k. Where w'Qw is not concave on
    sum w = 1, s |w|^2 is taken off with the least s that makes it so; among choices of k items
    this is a constant.

    QPFS is this solver on the matrix ::

        Q_ij = alpha (f_i + f_j) / 2 - (1 - alpha) H_ij / 2,

    diagonal included, for which w'Qw = alpha f'w - (1 - alpha) w'Hw / 2 wherever sum w = 1: see
    ``solve_simplex_qp``. Its f-part is constant between items, so it never costs concavity.

    Items without weight follow those with weight, by how little more worth would bring them in;
    ties go to the lowest index.

    References
    ----------
    I. Rodriguez-Lujan, R. Huerta, C. Elkan, C. Santa Cruz, "Quadratic programming feature
    selection", Journal of Machine Learning Research 11, 2010.

    Examples
    --------
    >>> from bestk.solvers._base import Run
    >>> Simplex().pick(BQP([[1.0, -2.0, 0.0], [-2.0, 0.9, 0.0], [0.0, 0.0, 0.5]], k=2), Run())
    array([0, 2])
    """

    name: ClassVar[str] = "simplex"
    needs: ClassVar[Needs] = "matrix"

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by falling weight."""
        return self._ranking(problem.Q, run)[: problem.k]

    def pick_path(self, problem: BQP, ks: Sequence[int], run: Run) -> Mapping[int, Indices]:
        """One ranking serves every k."""
        order = self._ranking(problem.Q, run)
        return {k: order[:k] for k in ks}

    def _ranking(self, Q: Floats, run: Run) -> Indices:
        with one_thread():
            A = Centred(Q, -2.0)
            w, prices = minimise(A, 2 * A.g)
        run.report.update(weights=w, shift=A.shift)
        return rank_by_weight(w, prices)


def rank_by_weight(w: Floats, prices: Floats) -> Indices:
    """Items by falling weight, then by rising price; what rounding parts counts as equal."""
    weights = np.round(w / w.max(), 10)
    costs = np.round(prices / (prices.max() or 1.0), 10)
    return np.lexsort((costs, -weights))


def solve_simplex_qp(
    H: Any,
    f: Any,
    alpha: float | None = None,
    *,
    landmarks: int | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> Floats:
    """Minimise (1 - alpha) x'Hx / 2 - alpha f'x over x >= 0, sum x = 1, exactly.

    Parameters
    ----------
    H : array of n x n, or LazyMatrix with ``landmarks``
        Redundancy of each pair, symmetric. Where x'Hx is not convex on sum x = 1, the least
        multiple of |x|^2 that makes it so is added.
    f : array of n numbers
        Relevance of each item.
    alpha : float, optional
        Weight of relevance, from 0 to 1; by default mean(H) / (mean(H) + mean(f)), which makes
        the two parts equally large.
    landmarks : int, optional
        Use only so many columns of H, drawn at random, and its diagonal (Nystrom's
        approximation, with an exact diagonal).
    random_state : int, Generator or None, default=0
        Draws the landmarks.

    Returns
    -------
    x : array of n numbers
        The weights; an item that is not used has weight 0.0.

    References
    ----------
    I. Rodriguez-Lujan, R. Huerta, C. Elkan, C. Santa Cruz, "Quadratic programming feature
    selection", Journal of Machine Learning Research 11, 2010.

    Examples
    --------
    Two copies of a good feature share its weight:

    >>> solve_simplex_qp([[1, 1, 0], [1, 1, 0], [0, 0, 1]], [0.5, 0.5, 0.3], alpha=0.5).round(3)
    array([0.3, 0.3, 0.4])
    """
    relevance = np.asarray(f, np.float64)
    lazy = isinstance(H, LazyMatrix)
    if lazy and landmarks is None:
        raise ValueError("H is known by its columns only; say how many to use with landmarks=")
    redundancy = H if lazy else BQP(H, k=1).Q
    if relevance.shape != (redundancy.shape[0],):
        raise ValueError(f"f must hold one number for each of the {redundancy.shape[0]} items of H")
    if landmarks is None:
        weight = _weight(alpha, redundancy.mean(), relevance.mean())
        with one_thread():
            A = Centred(redundancy, 1 - weight)
            return minimise(A, weight * relevance - (1 - weight) * A.g)[0]
    rng = np.random.default_rng(random_state)
    sample = np.sort(rng.permutation(len(relevance))[:landmarks])
    columns = redundancy.columns(sample) if lazy else redundancy[:, sample]
    weight = _weight(alpha, columns.mean(), relevance.mean())
    diagonal = np.asarray(redundancy.diagonal(), np.float64)
    with one_thread():
        approximation = Nystrom(columns, sample, diagonal, 1 - weight)
        return minimise(approximation, weight * relevance)[0]


def _weight(alpha: float | None, redundancy: float, relevance: float) -> float:
    """Alpha as given, or such that both parts weigh the same."""
    if alpha is None:
        redundancy, relevance = max(0.0, float(redundancy)), max(0.0, float(relevance))
        total = redundancy + relevance
        return redundancy / total if total > 0 else 0.5
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must lie between 0 and 1, not {alpha}")
    return float(alpha)
