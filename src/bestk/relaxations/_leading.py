"""The nearest positive semidefinite matrix of a given trace, by its few leading eigenvectors."""

from contextlib import suppress

import numpy as np
from scipy.linalg import eigh

from bestk.relaxations.rounding import Floats

FEW = 0.12  # share of the spectrum below which a part of it is cheaper than the whole
LARGE = 600  # above it, a subspace that follows the matrix is cheaper than a new decomposition
DEGREE = 8  # products with the matrix to turn the subspace


class Leading:
    """Projections on {R psd, trace R = t} of a matrix that moves little from call to call."""

    def __init__(self, expected: int) -> None:
        self.expected = expected  # eigenvalues that the next projection may need
        self.basis: Floats | None = None  # leading eigenvectors of the last matrix
        self.exact = True  # whether the last projection was, to rounding

    def project(self, A: Floats, trace: float) -> tuple[Floats, Floats, float]:
        """Weights and vectors with R = vectors diag(weights) vectors', and their level.

        The weights are the eigenvalues above the level, less the level, which is such that they
        add up to the trace.
        """
        while True:
            values, vectors = self._largest(A)
            excess = np.cumsum(values) - trace
            count = int(np.flatnonzero(values * np.arange(1, len(values) + 1) > excess)[-1]) + 1
            if count < len(values) or len(values) == len(A):
                break
            self.expected, self.basis = 2 * self.expected, None
        self.expected = max(count + 10, count * 6 // 5)
        self.basis = vectors[:, : self.expected] if len(A) > LARGE else None
        level = float(excess[count - 1] / count)
        return values[:count] - level, vectors[:, :count], level

    def _largest(self, A: Floats) -> tuple[Floats, Floats]:
        """The largest eigenvalues, descending, with their vectors: those expected, or more."""
        n = len(A)
        self.exact = self.basis is None or self.expected >= FEW * n
        if self.basis is not None and not self.exact:
            return self._followed(A, self.basis)
        if self.expected < FEW * n:
            # a part of a spectrum with many equal values is more than LAPACK can do at times
            with suppress(np.linalg.LinAlgError):
                some = (n - self.expected, n - 1)
                values, vectors = eigh(A, subset_by_index=some, driver="evx", check_finite=False)
                return values[::-1], vectors[:, ::-1]
        values, vectors = eigh(A, driver="evd", check_finite=False)
        return values[::-1], vectors[:, ::-1]

    def _followed(self, A: Floats, basis: Floats) -> tuple[Floats, Floats]:
        """The leading eigenpairs from those of a matrix nearby, by a polynomial that favours them.

        References
        ----------
        Y. Zhou, Y. Saad, "A Chebyshev-Davidson algorithm for large symmetric eigenproblems",
        SIAM J. Matrix Anal. Appl. 29, 2007.
        """
        low = _lowest(A)
        cut = float(np.einsum("ij,ij->j", basis, A @ basis).min())
        missing = self.expected - basis.shape[1]
        if missing > 0:
            fresh = np.random.default_rng(0).normal(size=(len(A), missing))
            basis = np.hstack([basis, fresh / np.sqrt(len(A))])
        return _rotated(A, _filtered(A, basis, low, max(cut, low / 2)))


def _lowest(A: Floats, steps: int = 12) -> float:
    """A little below the smallest eigenvalue, by the Lanczos method."""
    v = np.random.default_rng(0).normal(size=len(A))
    v /= np.linalg.norm(v)
    before, link = np.zeros_like(v), 0.0
    diagonal, beside = [], []
    for _ in range(steps):
        w = A @ v - link * before
        diagonal.append(float(w @ v))
        w -= diagonal[-1] * v
        link = float(np.linalg.norm(w))
        beside.append(link)
        before, v = v, w / (link or 1.0)
    T = np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
    return float(np.linalg.eigvalsh(T)[0]) - link


def _filtered(A: Floats, X: Floats, low: float, cut: float) -> Floats:
    """Chebyshev polynomial of A on [low, cut], which is large above the cut, times X."""
    half, centre = (cut - low) / 2, (cut + low) / 2
    before, now = X, (A @ X - centre * X) / half
    for _ in range(DEGREE - 1):
        before, now = now, (2 / half) * (A @ now - centre * now) - before
        size = float(np.abs(now).max())
        before, now = before / size, now / size
    return now


def _rotated(A: Floats, X: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues of A on the space of X, descending, and vectors that belong to them."""
    basis = np.linalg.qr(X)[0]
    values, turn = np.linalg.eigh(basis.T @ (A @ basis))
    return values[::-1], basis @ turn[:, ::-1]
