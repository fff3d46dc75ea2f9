"""How sure it is that one method is better than another, by more than does not matter."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
PRIOR = 0.5  # weight of one more difference, of zero
SAMPLES = 20_000
CHUNK = 1000


@dataclass(frozen=True)
class Belief:
    """Probabilities that the differences are below the region of equivalence, in it, or above."""

    below: float
    within: float
    above: float

    def __str__(self) -> str:
        return f"{self.below:.2f} / {self.within:.2f} / {self.above:.2f}"


def signed_rank(
    differences: ArrayLike,
    region: float,
    seed: int = 0,
    samples: int = SAMPLES,
    prior: float = PRIOR,
) -> Belief:
    """The Bayesian signed-rank test of differences, one for each data set.

    With weights w of the differences z drawn from a Dirichlet distribution, one of them a
    difference of zero with the weight of the prior: a draw says *below* if the pairs with
    ``(z_i + z_j) / 2 < -region`` have more weight ``w_i w_j`` than those within the region and
    those above it.

    Parameters
    ----------
    differences : array-like
        Of the first method less the second, for each data set.
    region : float
        Differences from -region to region do not matter.
    seed, samples : int
        Where the draws come from, and how many there are.
    prior : float
        The weight of a difference of zero beside those found, each of which has weight one.

    References
    ----------
    A. Benavoli, G. Corani, F. Mangili, M. Zaffalon, F. Ruggeri, "A Bayesian Wilcoxon signed-rank
    test based on the Dirichlet process", ICML 2014; A. Benavoli, G. Corani, J. Demsar, M.
    Zaffalon, "Time for a change: a tutorial for comparing multiple classifiers through Bayesian
    analysis", JMLR 18, 2017.

    Examples
    --------
    >>> signed_rank([-3, -2, -4, -5, -3, -2, -6], region=1).below > 0.99
    True
    >>> print(signed_rank([0.1, -0.2, 0.3, 0.1, -0.1], region=1))
    0.00 / 1.00 / 0.00
    """
    z = np.append(0.0, np.asarray(differences, float))
    if not len(z) > 1 or not np.isfinite(z).all():
        raise ValueError(f"the test needs differences that are numbers, not {z[1:].tolist()}")
    walsh = (z[:, None] + z) / 2
    below, above = (walsh < -region).astype(float), (walsh > region).astype(float)
    rng, votes = np.random.default_rng(seed), np.zeros(3)
    for start in range(0, samples, CHUNK):
        weights = rng.dirichlet([prior, *np.ones(len(z) - 1)], min(CHUNK, samples - start))
        shares = np.column_stack([_weight(weights, below), _weight(weights, above)])
        shares = np.column_stack([shares[:, 0], 1 - shares.sum(axis=1), shares[:, 1]])
        most = shares == shares.max(axis=1, keepdims=True)
        votes += (most / most.sum(axis=1, keepdims=True)).sum(axis=0)
    return Belief(*(float(share) for share in votes / samples))


def _weight(weights: Floats, pairs: Floats) -> Floats:
    """The weight of the marked pairs in each draw."""
    return np.einsum("si,si->s", weights @ pairs, weights)
