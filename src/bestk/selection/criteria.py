"""Greedy criteria: one loop, a few lines for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bestk._typing import Floats, Indices
from bestk.information import Entropies

LEAST_REDUNDANCY = 1e-12  # nats; less is rounding, and relevance decides


class Criterion:
    """Scores every feature from its relevance and from what each picked feature says of it.

    After each pick j, ``pair`` gives a number for every feature; ``gather`` joins it to what the
    picks before gave, and ``score`` makes the criterion of relevance, what was gathered, and the
    number of picks. The first pick is the feature of the largest relevance.
    """

    name: ClassVar[str]
    gather: ClassVar[Any] = np.add  # or np.minimum
    uses_pairs: ClassVar[bool] = True

    def pair(self, entropies: Entropies, j: int) -> Floats:
        """What pick j says of every feature."""
        raise NotImplementedError

    def score(self, relevance: Floats, gathered: Floats, size: int) -> Floats:
        """The criterion of every feature, after ``size`` picks."""
        return gathered


@dataclass(frozen=True)
class MaxRel(Criterion):
    """Maximal relevance (MIM): the largest ``I(xi; y)`` (Lewis 1992)."""

    name: ClassVar[str] = "maxrel"
    uses_pairs: ClassVar[bool] = False

    def score(self, relevance: Floats, gathered: Floats, size: int) -> Floats:
        """Relevance, whatever was picked."""
        return relevance


@dataclass(frozen=True)
class MIFS(Criterion):
    """MI feature selection: ``I(xi; y) - beta * sum I(xi; xj)`` (Battiti 1994)."""

    beta: float = 1.0
    name: ClassVar[str] = "mifs"

    def pair(self, entropies: Entropies, j: int) -> Floats:
        """``I(xi; xj)``."""
        return entropies.pair_mi([j])[0]

    def score(self, relevance: Floats, gathered: Floats, size: int) -> Floats:
        """Relevance less a fixed share of redundancy."""
        return relevance - self.beta * gathered


@dataclass(frozen=True)
class MRMR(Criterion):
    """Minimal redundancy, maximal relevance: ``I(xi; y) - mean I(xi; xj)`` (Peng et al. 2005).

    ``difference``: ``I(xi; y) - mean I(xi; xj)``; ``quotient``: ``I(xi; y) / mean I(xi; xj)``.
    """

    form: str = "difference"
    name: ClassVar[str] = "mrmr"

    def pair(self, entropies: Entropies, j: int) -> Floats:
        """``I(xi; xj)``."""
        return entropies.pair_mi([j])[0]

    def score(self, relevance: Floats, gathered: Floats, size: int) -> Floats:
        """Relevance against the mean redundancy."""
        if self.form == "difference":
            return relevance - gathered / size
        if self.form != "quotient":
            raise ValueError(f"unknown form {self.form!r}; choose 'difference' or 'quotient'")
        return relevance / np.maximum(gathered / size, LEAST_REDUNDANCY)


@dataclass(frozen=True)
class CIFE(Criterion):
    """Conditional infomax: ``I(xi; y) - sum (I(xi; xj) - I(xi; xj | y))`` (Lin and Tang 2006)."""

    name: ClassVar[str] = "cife"

    def pair(self, entropies: Entropies, j: int) -> Floats:
        """``I(xi; xj | y) - I(xi; xj)``."""
        return interaction(entropies, j)

    def score(self, relevance: Floats, gathered: Floats, size: int) -> Floats:
        """Relevance and the interactions with all picks."""
        return relevance + gathered


@dataclass(frozen=True)
class ICAP(Criterion):
    """Interaction capping: ``I(xi; y) - sum max(0, I(xi; xj) - I(xi; xj | y))`` (Jakulin 2005)."""

    name: ClassVar[str] = "icap"

    def pair(self, entropies: Entropies, j: int) -> Floats:
        """The interaction where it is a loss."""
        return np.minimum(interaction(entropies, j), 0.0)

    def score(self, relevance: Floats, gathered: Floats, size: int) -> Floats:
        """Relevance less the losses."""
        return relevance + gathered


@dataclass(frozen=True)
class JMI(Criterion):
    """Joint mutual information: ``sum I(xi, xj; y)`` (Yang and Moody 1999)."""

    name: ClassVar[str] = "jmi"

    def pair(self, entropies: Entropies, j: int) -> Floats:
        """``I(xi, xj; y)``."""
        return entropies.joint_mi([j])[0]


@dataclass(frozen=True)
class JMIM(Criterion):
    """Joint mutual information maximization: ``min I(xi, xj; y)`` (Bennasar et al. 2015)."""

    name: ClassVar[str] = "jmim"
    gather: ClassVar[Any] = np.minimum

    def pair(self, entropies: Entropies, j: int) -> Floats:
        """``I(xi, xj; y)``."""
        return entropies.joint_mi([j])[0]


@dataclass(frozen=True)
class CMIM(Criterion):
    """Conditional mutual information maximization: ``min I(xi; y | xj)`` (Fleuret 2004)."""

    name: ClassVar[str] = "cmim"
    gather: ClassVar[Any] = np.minimum

    def pair(self, entropies: Entropies, j: int) -> Floats:
        """``I(xi; y | xj)``."""
        return entropies.cmi([j])[0]


@dataclass(frozen=True)
class DISR(Criterion):
    """Double input symmetrical relevance: ``sum I(xi, xj; y) / H(xi, xj, y)`` (Meyer 2006)."""

    name: ClassVar[str] = "disr"

    def pair(self, entropies: Entropies, j: int) -> Floats:
        """``I(xi, xj; y) / H(xi, xj, y)``."""
        return normalised(entropies, j)


@dataclass(frozen=True)
class NJMIM(Criterion):
    """Normalized JMIM: ``min I(xi, xj; y) / H(xi, xj, y)`` (Bennasar et al. 2015)."""

    name: ClassVar[str] = "njmim"
    gather: ClassVar[Any] = np.minimum

    def pair(self, entropies: Entropies, j: int) -> Floats:
        """``I(xi, xj; y) / H(xi, xj, y)``."""
        return normalised(entropies, j)


def interaction(entropies: Entropies, j: int) -> Floats:
    """``I(xi; xj | y) - I(xi; xj)`` for every i."""
    from bestk.information.measures import INTERACTION

    return entropies.measure(INTERACTION, [j], signed=True)[0]


def normalised(entropies: Entropies, j: int) -> Floats:
    """``I(xi, xj; y) / H(xi, xj, y)`` for every i; it needs entropies that are counted."""
    if not entropies.is_discrete:
        raise ValueError(
            "DISR and NJMIM divide by H(xi, xj, y), which only discrete features have; use "
            "information='discrete', or a criterion that does not divide, such as 'jmi'"
        )
    return entropies.joint_mi([j])[0] / entropies.xxy([j])[0]


def pick_greedily(
    criterion: Criterion, entropies: Entropies, k: int, include: Sequence[int] = ()
) -> tuple[Indices, Floats]:
    """Pick k features one by one, after those to include, and say how each scored.

    The best score wins, the lowest index on a tie; the first is the most relevant one. Only a
    column of pairs is counted for each pick.
    """
    relevance = entropies.mi()
    score, gathered = relevance, np.empty(0)
    free = np.ones(entropies.n_features, dtype=bool)
    picked: list[int] = []
    scores = np.empty(k)
    for step in range(k):
        best = (
            include[step] if step < len(include) else int(np.argmax(np.where(free, score, -np.inf)))
        )
        scores[step] = score[best]
        picked.append(int(best))
        free[best] = False
        if step + 1 < k and criterion.uses_pairs:
            column = criterion.pair(entropies, picked[-1])
            gathered = criterion.gather(gathered, column) if step else column
            score = criterion.score(relevance, gathered, step + 1)
    return np.array(picked, np.int64), scores


CRITERIA: dict[str, Criterion] = {
    criterion.name: criterion
    for criterion in (
        MaxRel(), MRMR(), JMI(), MIFS(), CIFE(), CMIM(), DISR(), ICAP(), JMIM(), NJMIM()
    )
}  # fmt: skip


def get_criterion(criterion: str | Criterion) -> Criterion:
    """The criterion of that name, or the one given."""
    if not isinstance(criterion, str):
        return criterion
    if criterion not in CRITERIA:
        known = ", ".join(CRITERIA)
        raise ValueError(f"unknown criterion {criterion!r}; choose one of {known}")
    return CRITERIA[criterion]
