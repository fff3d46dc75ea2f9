"""Ranks of methods over many data sets, and tests of their differences."""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, f, rankdata, studentized_range, wilcoxon

Floats = NDArray[np.float64]
ALPHA = 0.05  # level of Nemenyi's test


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of treatments over data sets, 1 for the least error, and what they prove.

    References
    ----------
    J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.
    """

    names: tuple[str, ...]
    n_sets: int
    mean: Floats
    chi_square: float
    pvalue: float  # Friedman's, by chi square
    f_statistic: float
    f_pvalue: float  # by Iman and Davenport
    critical_difference: float  # Nemenyi's
    errors: Floats

    @cached_property
    def wilcoxon(self) -> dict[tuple[str, str], float]:
        """P-values of pairs, adjusted by Holm."""
        return wilcoxon_holm(list(self.names), self.errors)

    @property
    def order(self) -> list[str]:
        """Names, best first."""
        return [self.names[i] for i in np.argsort(self.mean, kind="stable")]

    def rank(self, name: str) -> float:
        """The mean rank of a treatment."""
        return float(self.mean[self.names.index(name)])

    def groups(self) -> list[tuple[str, ...]]:
        """Largest runs of treatments, best first, whose ranks differ by less than the critical."""
        order, found = self.order, list[tuple[str, ...]]()
        for first in range(len(order)):
            limit = self.rank(order[first]) + self.critical_difference
            run = tuple(name for name in order[first:] if self.rank(name) < limit)
            if len(run) > 1 and (not found or run[-1] != found[-1][-1]):
                found.append(run)
        return found


def rank_treatments(names: list[str], errors: Floats) -> Ranks:
    """Rank treatments, the columns of ``errors``, within each data set, its rows.

    With N sets, k treatments and mean ranks R: chi2 = 12 N / (k (k + 1)) (sum R^2 - k (k + 1)^2
    / 4), corrected for ties; F = (N - 1) chi2 / (N (k - 1) - chi2); the critical difference is
    q sqrt(k (k + 1) / (6 N)), q the studentised range over the root of 2.
    """
    errors = np.asarray(errors, float)
    n, k = errors.shape
    if n < 2 or k < 2 or len(names) != k:
        raise ValueError(
            f"ranks need two sets and two treatments or more, not shape {errors.shape}"
        )
    ranks = np.apply_along_axis(rankdata, 1, errors)
    mean = ranks.mean(axis=0)
    ties = sum(
        float((count**3 - count).sum())
        for count in (np.unique(row, return_counts=True)[1] for row in ranks)
    )
    plain = 12 * n / (k * (k + 1)) * (float((mean**2).sum()) - k * (k + 1) ** 2 / 4)
    share = 1 - ties / (n * (k**3 - k))
    statistic = plain / share if share > 0 else 0.0
    rest = n * (k - 1) - statistic
    f_statistic = (n - 1) * statistic / rest if rest > 0 else np.inf
    q = studentized_range.ppf(1 - ALPHA, k, np.inf) / np.sqrt(2)
    return Ranks(
        tuple(names), n, mean, statistic, float(chi2.sf(statistic, k - 1)), float(f_statistic),
        float(f.sf(f_statistic, k - 1, (k - 1) * (n - 1))),
        float(q * np.sqrt(k * (k + 1) / (6 * n))), errors,
    )  # fmt: skip


def wilcoxon_holm(names: list[str], errors: Floats) -> dict[tuple[str, str], float]:
    """Wilcoxon's signed-rank test of every pair, adjusted for their number by Holm."""
    pairs = list(combinations(range(len(names)), 2))
    raw = [_wilcoxon(errors[:, a] - errors[:, b]) for a, b in pairs]
    adjusted = holm(raw)
    return {(names[a], names[b]): p for (a, b), p in zip(pairs, adjusted, strict=True)}


def _wilcoxon(differences: Floats) -> float:
    """The p-value, exact if no two differences are equal or zero; permutations would take long."""
    if not np.any(differences):
        return 1.0
    tied = 0 in differences or len(np.unique(np.abs(differences))) < len(differences)
    return float(wilcoxon(differences, method="approx" if tied else "exact").pvalue)


def holm(pvalues: list[float]) -> list[float]:
    """P-values adjusted by Holm's steps: the i-th smallest of c times (c - i + 1), never falling.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(pvalues, kind="stable")
    adjusted, largest = np.empty(len(pvalues)), 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(pvalues) - place) * pvalues[i]))
        adjusted[i] = largest
    return [float(p) for p in adjusted]
