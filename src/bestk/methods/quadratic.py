"""What makes a choice of features good: matrices of the quadratic problem, from entropies."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestk._typing import Floats, Indices
from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP
from bestk.errors import Registry
from bestk.information import Entropies, Measure, measures

KEPT = 3 * 2**29  # bytes for columns that are kept: making one again takes little


@dataclass(frozen=True)
class Objective:
    """``Q_ij = pair_weight(k) * pairs_ij`` and ``Q_ii = feature_weight(k) * I(xi; y)``.

    Only the balance of the two depends on k, on the diagonal: one matrix of pairs serves all k.
    """

    measure: ClassVar[Measure | None] = None  # of a pair, symmetric; None: pairs are worth nothing
    pair_share: ClassVar[float] = 1.0  # of a pair, which stands twice in x'Qx
    min_partners: ClassVar[int | None] = None  # pairs are a mean over k - 1 partners, or this many
    information: ClassVar[str] = "discrete"  # that it is read from, unless another is asked for

    @property
    def same_for_all_k(self) -> bool:
        """Whether one matrix serves all k."""
        return self.min_partners is None

    def pair_weight(self, k: int) -> float:
        """How much a pair counts among k features; positive."""
        partners = 1 if self.min_partners is None else max(self.min_partners, k - 1)
        return self.pair_share / partners

    def feature_weight(self, k: int) -> float:
        """How much the relevance of a feature counts among k."""
        return 1.0

    def diagonal(self, relevance: Floats, k: int) -> Floats:
        """The diagonal of the matrix for k features, in the units of its pairs."""
        return self.feature_weight(k) / self.pair_weight(k) * relevance

    def pairs(self, entropies: Entropies) -> "Pairs":
        """What pairs are worth, whole, ready for any number of features."""
        everything = np.arange(entropies.n_features)
        return Pairs(self, self._fill(entropies, None, everything), entropies.mi())

    def lazy_pairs(self, entropies: Entropies, memory: int = KEPT) -> "Pairs":
        """The same by the column, made when asked for and kept within ``memory`` bytes."""
        columns = CachedColumns(
            lambda i: self._fill(entropies, i, i).T,
            np.zeros(entropies.n_features),
            min(memory, KEPT),
            lambda: self._row_sums(entropies),
        )
        return Pairs(self, columns, entropies.mi())

    @property
    def _signed(self) -> bool:
        return self.measure != measures.SYMMETRIC_CMI

    def _row_sums(self, entropies: Entropies) -> Floats | None:
        zeros = np.zeros(entropies.n_features)
        return zeros if self.measure is None else entropies.row_sums(self.measure, self._signed)

    def _fill(self, entropies: Entropies, rows: Indices | None, items: Indices) -> Floats:
        if self.measure is None:
            return np.zeros((len(items), entropies.n_features))
        return entropies.measure(self.measure, rows, signed=self._signed)


@dataclass(frozen=True)
class Pairs:
    """What pairs and features are worth, for an objective and any k."""

    objective: Objective
    matrix: Floats | CachedColumns  # of pairs; its diagonal is that of one number of features
    relevance: Floats
    within: Floats | float = 0.0  # added to the diagonal: the pairs within groups of columns

    def _diagonal(self, k: int) -> Floats:
        return self.within + self.objective.diagonal(self.relevance, k)

    def ready_for(self, k: int) -> "Pairs":
        """The same, so that the problem for k features needs no copy of the matrix.

        It writes the diagonal for k into the matrix: before the first problem is made of it.
        """
        if isinstance(self.matrix, np.ndarray):
            np.fill_diagonal(self.matrix, self._diagonal(k))
        return self

    def problem(self, k: int) -> tuple[BQP, float]:
        """The problem for k features, and the factor from its values to the objective.

        The matrix is shared by the problems of all k for which its diagonal is the same, and
        copied for the others: no problem changes another.
        """
        scale = self.objective.pair_weight(k)
        diagonal = self._diagonal(k)
        if isinstance(self.matrix, CachedColumns):
            return BQP.trusted(self.matrix.with_diagonal(diagonal), k), scale
        matrix = self.matrix
        if not np.array_equal(matrix.diagonal(), diagonal):
            matrix = matrix.copy()
            np.fill_diagonal(matrix, diagonal)
        return BQP.trusted(matrix, k), scale


class CMI(Objective):
    """The paper's objective: relevance, and what each feature adds to each other one.

    ``Q_ii = I(xi; y)``, ``Q_ij = (I(xi; y | xj) + I(xj; y | xi)) / 2``. Exact copies add nothing
    to each other, and noise half of what a feature says alone: at large k noise is preferred.
    """

    measure: ClassVar[Measure | None] = measures.SYMMETRIC_CMI


class QuadraticJMI(Objective):
    """JMI as one problem: ``Q_ij = I(xi, xj; y) / (k - 1)`` and ``Q_ii = 0``, unless k = 1."""

    measure: ClassVar[Measure | None] = measures.JOINT_MI
    min_partners: ClassVar[int | None] = 1

    def feature_weight(self, k: int) -> float:
        """Only a feature without partners counts alone."""
        return 1.0 if k == 1 else 0.0


class QuadraticMRMR(Objective):
    """mRMR as one problem: ``Q_ii = I(xi; y)``, ``Q_ij = -I(xi; xj) / (k - 1)``."""

    measure: ClassVar[Measure | None] = measures.NO_REDUNDANCY
    min_partners: ClassVar[int | None] = 1


class QuadraticMIFS(Objective):
    """Relevance less redundancy, of which nothing is averaged: ``Q_ij = -I(xi; xj) / 2``."""

    measure: ClassVar[Measure | None] = measures.NO_REDUNDANCY
    pair_share: ClassVar[float] = 0.5


class QuadraticCIFE(Objective):
    """I(x1, ..., xk; y) expanded up to pairs: ``Q_ij = (I(xi; xj | y) - I(xi; xj)) / 2``."""

    measure: ClassVar[Measure | None] = measures.INTERACTION
    pair_share: ClassVar[float] = 0.5


class Balanced(Objective):
    """Relevance, less redundancy, plus a share of what pairs say only together.

    ``Q_ii = I(xi; y)``, ``Q_ij = (0.75 I(xi; xj | y) - I(xi; xj)) / w``, where w = max(2, k - 1).
    """

    # four times the pair: sums of whole weights are exact
    measure: ClassVar[Measure | None] = Measure(xx=4, xxy=-3, xi=-4, xj=-4, xiy=3, xjy=3, y=-3)
    pair_share: ClassVar[float] = 0.25
    min_partners: ClassVar[int | None] = 2
    information: ClassVar[str] = "blend"


class QuadraticMaxRel(Objective):
    """Relevance alone: ``Q_ii = I(xi; y)`` and nothing else."""


class QPFS(Objective):
    """Quadratic programming feature selection: weights of features (Rodriguez-Lujan et al. 2010).

    ``Q_ij = alpha (f_i + f_j) / 2 - (1 - alpha) H_ij / 2``, diagonal included, with
    ``f_i = I(xi; y)`` and ``H_ij = I(xi; xj)``. For weights w >= 0 of sum 1 it is
    ``w'Qw = alpha f'w - (1 - alpha) w'Hw / 2``, with alpha = mean(H) / (mean(H) + mean(f)).
    """

    def pairs(self, entropies: Entropies) -> "Pairs":
        """The whole matrix; it is the same for every k."""
        f, Q = entropies.mi(), entropies.pair_mi()
        np.fill_diagonal(Q, entropies.copy_mi())
        total = float(Q.mean()) + max(float(f.mean()), 0.0)  # less than chance is nothing
        alpha = float(Q.mean()) / total if total > 0 else 0.5
        Q *= -0.5 * (1.0 - alpha)
        for row, relevance in zip(Q, f, strict=True):
            row += 0.5 * alpha * (relevance + f)  # the sum first: symmetric to the last bit
        return Pairs(self, Q, np.ascontiguousarray(Q.diagonal()))

    def lazy_pairs(self, entropies: Entropies, memory: int = KEPT) -> "Pairs":
        """There is none: alpha and the relaxation need every pair."""
        n = entropies.n_features
        raise MemoryError(
            f"objective 'qpfs' needs all pairs of {n} features, {8 * n * n / 2**30:.1f} GiB; "
            "drop some first, or use a method that does not hold all pairs, such as 'mrmr'"
        )


OBJECTIVES: Registry[Objective] = Registry(
    "objective",
    {
        "cmi": CMI(),
        "jmi": QuadraticJMI(),
        "mrmr": QuadraticMRMR(),
        "mifs": QuadraticMIFS(),
        "cife": QuadraticCIFE(),
        "balanced": Balanced(),
        "qpfs": QPFS(),
        "maxrel": QuadraticMaxRel(),
    },
)
get_objective = OBJECTIVES.get_any
