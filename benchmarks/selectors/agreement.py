"""Check that a selection follows its criterion, step by step, up to ties."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.counting.cases import Case
from benchmarks.selectors.contenders import Check
from bestk.information import Entropies
from bestk.methods.greedy import Criterion, pick_greedily
from bestk.tables.codes import encode

Floats = NDArray[np.float64]
TIE = 1e-5  # of the best score: fast-select takes less for equal


@dataclass(frozen=True)
class Linear(Criterion):
    """``I(xi; y) - beta * sum I(xi; xj) + gamma * sum I(xi; xj | y)``."""

    beta: float
    gamma: float
    name: ClassVar[str] = "linear"

    def __str__(self) -> str:
        more = f" + {self.gamma:g} sum I(xi; xj | y)" if self.gamma else ""
        return f"scores I(xi; y) - {self.beta:g} sum I(xi; xj){more}"

    def pair(self, entropies: Entropies, j: int) -> Floats:
        """What a pick takes off, and what it adds."""
        return self.gamma * entropies.pair_cmi([j])[0] - self.beta * entropies.pair_mi([j])[0]

    def score(self, relevance: Floats, gathered: Floats, size: int) -> Floats:
        """Relevance, and the sum over the picks."""
        return relevance + gathered


@dataclass(frozen=True)
class Agreement:
    """How picks compare with those of bestk by the same criterion."""

    common: int
    total: int
    lost: float  # largest share of the best score that a pick was below it, at its step

    @property
    def holds(self) -> bool:
        """Whether every pick was the best at its step, or tied with it."""
        return self.lost <= TIE

    def __str__(self) -> str:
        if not self.holds:
            return f"{self.common} of {self.total} picks as bestk, up to {self.lost:.2g} below best"
        ties = "" if self.common == self.total else ", the others tied"
        return f"{self.common} of {self.total} picks as bestk{ties}"


def agreement(check: Check, case: Case) -> Agreement:
    """Follow the picks, and see at each step how far below the best they are."""
    entropies = Entropies.count(encode(case.X[:, : check.n_features]), case.target)
    picks = np.asarray(check.picks(), np.int64)
    ours, _ = pick_greedily(check.criterion, entropies, len(picks))
    common = len(np.intersect1d(ours, picks))
    return Agreement(common, len(picks), shortfall(check.criterion, entropies, picks))


def shortfall(criterion: Criterion, entropies: Entropies, picks: NDArray[np.int64]) -> float:
    """The largest share of the best score that a pick was below it."""
    relevance = score = entropies.mi()
    gathered, free, lost = np.empty(0), np.ones(entropies.n_features, dtype=bool), 0.0
    for step, pick in enumerate(picks):
        best = score[free].max()
        lost = max(lost, float((best - score[pick]) / max(abs(best), TIE)))
        free[pick] = False
        column = criterion.pair(entropies, int(pick))
        gathered = criterion.gather(gathered, column) if step else column
        score = criterion.score(relevance, gathered, step + 1)
    return lost
