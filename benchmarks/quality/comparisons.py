"""One method against another over data sets: wins, differences, and how sure they are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, wilcoxon

from benchmarks.quality.bayes import Belief, signed_rank
from benchmarks.quality.results import Results
from experiments.statistics import Ranks, holm, rank_treatments

REGION = 1.0  # points of error that do not matter


@dataclass(frozen=True)
class Versus:
    """A method against another, on the sets that both have; negative differences are wins."""

    other: str
    n_sets: int
    wins: int
    ties: int
    losses: int
    difference: float  # mean, in points of error
    pvalue: float  # Wilcoxon's, adjusted by Holm for the number of others
    belief: Belief

    @property
    def score(self) -> str:
        """Wins, ties and losses."""
        return f"{self.wins}-{self.ties}-{self.losses}"


def against_each(
    results: Results,
    method: str,
    others: Sequence[str],
    sets: Sequence[str] | None = None,
    classifier: str | None = None,
) -> list[Versus]:
    """A method against each of the others; a data set counts once."""
    found = []
    for other in others:
        table = _rounded(results.table([method, other], sets, classifier))
        if len(table):
            found.append((other, table[:, 0] - table[:, 1]))
    adjusted = holm([_wilcoxon(differences) for _, differences in found])
    return [
        Versus(
            other,
            len(differences),
            int((differences < 0).sum()),
            int((differences == 0).sum()),
            int((differences > 0).sum()),
            float(differences.mean()),
            pvalue,
            signed_rank(differences, REGION),
        )
        for (other, differences), pvalue in zip(found, adjusted, strict=True)
    ]


def _wilcoxon(differences: NDArray[np.float64]) -> float:
    return float(wilcoxon(differences).pvalue) if np.any(differences) else 1.0


@dataclass(frozen=True)
class Standing:
    """Mean ranks of methods over data sets, 1 for the least error."""

    names: tuple[str, ...]
    n_sets: int
    mean: NDArray[np.float64]

    @property
    def order(self) -> list[str]:
        """Names, best first."""
        return [self.names[i] for i in np.argsort(self.mean, kind="stable")]

    def rank(self, name: str) -> float:
        """The mean rank of a method."""
        return float(self.mean[self.names.index(name)])


def ranks(
    results: Results,
    methods: Sequence[str],
    sets: Sequence[str] | None = None,
    classifier: str | None = None,
    k: int | None = None,
) -> Standing | None:
    """Methods ranked within each set; None where there are fewer than two sets or methods."""
    table = _rounded(results.table(methods, sets, classifier, k))
    if min(table.shape) < 2:
        return None
    return Standing(tuple(methods), len(table), rankdata(table, axis=1).mean(axis=0))


def tested(results: Results, methods: Sequence[str]) -> Ranks:
    """The same over all sets, with what it proves; not quick, as all pairs are tested."""
    return rank_treatments(list(methods), _rounded(results.table(methods)))


def _rounded(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Without the last digits, which depend on the order of sums and would tell ties apart."""
    return np.round(table, 9)
