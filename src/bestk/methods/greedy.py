"""Greedy criteria: one loop, a few lines for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np

from bestk._typing import Floats, Indices
from bestk.bqp.problem import top_k
from bestk.errors import ParameterError, Registry
from bestk.information import Entropies, Measure, Query
from bestk.information.backends import PickRule
from bestk.information.joined import JoinedEntropies
from bestk.information.measures import CMI, INTERACTION, JOINT_MI, PAIR_MI, TRIPLE_ENTROPY
from bestk.native.threads import threads

AnyEntropies = Entropies | JoinedEntropies

# Rows of pairs that are counted before they are needed have at most so many values in all: 32 MiB.
MAX_KEPT_VALUES = 2**22

# At most so many rows of pairs are counted before they are needed.
MAX_AHEAD = 12

# Relevance is divided by at least this redundancy, in nats. A smaller one is a rounding error, and
# relevance alone decides.
LEAST_REDUNDANCY = 1e-12


@dataclass(frozen=True)
class Criterion:
    """Scores every feature from its relevance and from what each picked feature says of it.

    After each pick j, ``pair`` gives a number for every feature, ``gather`` joins it to what the
    picks before gave, and ``score`` makes the criterion. The first pick has the largest relevance.
    """

    measure: ClassVar[Measure | None] = None
    """The measure of a feature and a pick that ``pair`` gives."""

    largest_pair: ClassVar[float] = np.inf
    """A larger value of the measure counts as this one."""

    gather: ClassVar[Any] = np.add
    """How the values of several picks are joined: np.add, np.minimum, or another ufunc."""

    weights: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """The weight of the relevance of a feature, and that of the joined values of its pairs."""

    is_mean: ClassVar[bool] = False
    """Whether the joined values are divided by the number of picks."""

    is_quotient: ClassVar[bool] = False
    """Whether relevance is divided by the joined values, in place of a weighted sum of both."""

    uses_pairs: ClassVar[bool] = True
    """Whether picks change the scores of other features."""

    @property
    def name(self) -> str:
        """The name in ``CRITERIA`` and in solutions."""
        return type(self).__name__.lower()

    def pair(self, entropies: "Entropies | Tally", j: int) -> Floats:
        """The measure of every feature with pick j, of shape (n_features,)."""
        assert self.measure is not None
        is_signed = self.measure is INTERACTION
        row = entropies.measure(self.measure, [j], signed=is_signed)[0]
        return np.minimum(row, self.largest_pair)

    def score(self, relevance: Floats, gathered: Floats, size: int) -> Floats:
        """The criterion of every feature, after ``size`` picks.

        ``gathered``: the joined values of the pairs of each feature with all picks.
        """
        if self.is_mean:
            gathered = gathered / size
        if self.is_quotient:
            return relevance / np.maximum(gathered, LEAST_REDUNDANCY)
        weight_of_relevance, weight_of_pairs = self.weights
        return weight_of_relevance * relevance + weight_of_pairs * gathered


class MaxRel(Criterion):
    """Maximal relevance (MIM): the largest ``I(xi; y)`` (Lewis 1992)."""

    uses_pairs: ClassVar[bool] = False


@dataclass(frozen=True)
class MIFS(Criterion):
    """MI feature selection: ``I(xi; y) - beta * sum I(xi; xj)`` (Battiti 1994)."""

    beta: float = 1.0
    measure: ClassVar[Measure | None] = PAIR_MI

    @property
    def weights(self) -> tuple[float, float]:  # type: ignore[override]
        """Relevance less a fixed share of redundancy."""
        return 1.0, -self.beta


@dataclass(frozen=True)
class MRMR(Criterion):
    """Minimal redundancy, maximal relevance: ``I(xi; y) - mean I(xi; xj)`` (Peng et al. 2005).

    ``difference``: ``I(xi; y) - mean I(xi; xj)``; ``quotient``: ``I(xi; y) / mean I(xi; xj)``.
    """

    form: str = "difference"
    measure: ClassVar[Measure | None] = PAIR_MI
    weights: ClassVar[tuple[float, float]] = (1.0, -1.0)
    is_mean: ClassVar[bool] = True

    @property
    def is_quotient(self) -> bool:  # type: ignore[override]
        """Which of the forms it is."""
        if self.form not in ("difference", "quotient"):
            raise ParameterError(f"unknown form {self.form!r}; choose 'difference' or 'quotient'")
        return self.form == "quotient"


class CIFE(Criterion):
    """Conditional infomax: ``I(xi; y) - sum (I(xi; xj) - I(xi; xj | y))`` (Lin and Tang 2006)."""

    measure: ClassVar[Measure | None] = INTERACTION
    weights: ClassVar[tuple[float, float]] = (1.0, 1.0)


class ICAP(CIFE):
    """Interaction capping: ``I(xi; y) - sum max(0, I(xi; xj) - I(xi; xj | y))`` (Jakulin 2005)."""

    # Only losses count.
    largest_pair: ClassVar[float] = 0.0


class JMI(Criterion):
    """Joint mutual information: ``sum I(xi, xj; y)`` (Yang and Moody 1999)."""

    measure: ClassVar[Measure | None] = JOINT_MI


class JMIM(JMI):
    """Joint mutual information maximization: ``min I(xi, xj; y)`` (Bennasar et al. 2015)."""

    gather: ClassVar[Any] = np.minimum


class CMIM(Criterion):
    """Conditional mutual information maximization: ``min I(xi; y | xj)`` (Fleuret 2004)."""

    measure: ClassVar[Measure | None] = CMI
    gather: ClassVar[Any] = np.minimum


class DISR(Criterion):
    """Double input symmetrical relevance: ``sum I(xi, xj; y) / H(xi, xj, y)`` (Meyer 2006)."""

    measure: ClassVar[Measure | None] = JOINT_MI

    def pair(self, entropies: "Entropies | Tally", j: int) -> Floats:
        """``I(xi, xj; y) / H(xi, xj, y)``; it needs entropies that are counted."""
        if not entropies.is_discrete:
            raise ParameterError(
                "DISR and NJMIM divide by H(xi, xj, y), which only discrete features have; use "
                "information='discrete', or a criterion that does not divide, such as 'jmi'"
            )
        information = super().pair(entropies, j)
        entropy = entropies.measure(TRIPLE_ENTROPY, [j], signed=True)[0]
        return information / entropy


class NJMIM(DISR):
    """Normalized JMIM: ``min I(xi, xj; y) / H(xi, xj, y)`` (Bennasar et al. 2015)."""

    gather: ClassVar[Any] = np.minimum


class Tally:
    """The scores of all features for one target, given those picked.

    Rows of pairs are counted for several features at once: at most ``ahead`` rows wait, of the
    features that are likely to be picked next.
    """

    def __init__(self, criterion: Criterion, entropies: Entropies, k: int, ahead: int) -> None:
        """Start with no picks.

        Parameters
        ----------
        criterion : Criterion
            What scores the features.
        entropies : Entropies
            Relevance and pairs of the features, for the target.
        k : int
            How many features will be picked.
        ahead : int
            How many rows of pairs may be counted before they are needed.
        """
        relevance = entropies.mi()
        self.score = relevance
        self._relevance = relevance
        self._gathered = relevance
        self._criterion = criterion
        self._entropies = entropies
        self._picked: list[int] = []
        self._n_needed = k - 1
        self._ahead = min(ahead, MAX_KEPT_VALUES // entropies.n_features)
        self._waiting: dict[Measure, dict[int, Floats]] = {}

    def add(self, j: int) -> None:
        """Pick a feature."""
        criterion = self._criterion
        if not criterion.uses_pairs:
            return
        self._picked.append(j)
        row = criterion.pair(self, j)
        if len(self._picked) == 1:
            self._gathered = row.copy()
        else:
            # The sum is written in place, because fresh memory takes longer than the sum itself.
            criterion.gather(self._gathered, row, out=self._gathered)
        self.score = criterion.score(self._relevance, self._gathered, len(self._picked))

    def measure(self, measure: Measure, rows: Sequence[int], signed: bool) -> Floats:
        """The row of a feature that was picked, the only one of ``rows``."""
        (j,) = rows
        waiting = self._waiting.setdefault(measure, {})
        if j not in waiting:
            features = [j, *self._likely(list(waiting))]
            counted = self._entropies.measure(measure, features, signed=signed)
            waiting.update(zip(features, counted, strict=True))
        return waiting.pop(j)[np.newaxis]

    def __getattr__(self, name: str) -> Any:
        """Whatever else of the entropies a criterion of a user asks for."""
        return getattr(self._entropies, name)

    def _likely(self, waiting: list[int]) -> list[int]:
        """Features that may be picked next, beside those whose rows wait."""
        n_picks_left = self._n_needed - len(self._picked)
        room = min(self._ahead, n_picks_left) - len(waiting)
        if room <= 0:
            return []
        counted = [*self._picked, *waiting]
        n_not_counted = len(self.score) - len(counted)
        score = self.score.copy()
        score[counted] = -np.inf
        return top_k(score, min(room, n_not_counted)).tolist()


def _pick_at_once(
    criterion: Criterion, entropies: AnyEntropies, k: int, include: Sequence[int]
) -> tuple[Indices, Floats] | None:
    """Run the whole greedy loop in C; None for criteria and sources that have no kernel."""
    measure = criterion.measure
    if measure is None or not isinstance(entropies, Entropies):
        return None
    kind = type(criterion)
    has_own_formula = kind.pair is not Criterion.pair or kind.score is not Criterion.score
    if has_own_formula or criterion.gather not in (np.add, np.minimum):
        return None
    relevance_weight, pair_weight = criterion.weights
    rule = PickRule(
        relevance_weight=relevance_weight,
        pair_weight=pair_weight,
        largest_pair=criterion.largest_pair,
        smallest_divisor=LEAST_REDUNDANCY,
        takes_mean=criterion.is_mean,
        takes_quotient=criterion.is_quotient,
        takes_minimum=criterion.gather is np.minimum,
    )
    is_signed = entropies.signed or measure is INTERACTION
    query = Query(measure, lowest=-np.inf if is_signed else 0.0)
    with threads(entropies.n_jobs):
        return entropies.source.pick(query, rule, entropies.mi(), k, include)


def pick_greedily(
    criterion: Criterion,
    entropies: AnyEntropies,
    k: int,
    include: Sequence[int] = (),
    labels: Indices | None = None,
) -> tuple[Indices, Floats]:
    """Pick k features, or groups by the sum of the scores of their features.

    Parameters
    ----------
    include : sequence of int
        Features, or groups, that are picked first.
    labels : array of shape (n_features,) or None
        The group of each feature, or -1; None: each feature is its own.

    Returns
    -------
    picked : array of shape (k,)
        Features or groups, in the order in which they were picked.
    scores : array of shape (k,)
        The score of each when it was picked.
    """
    if labels is None:
        picked_at_once = _pick_at_once(criterion, entropies, k, include)
        if picked_at_once is not None:
            return picked_at_once
    # Scores of single features do not say which group is next, so that none is counted ahead.
    ahead = 0
    if labels is None:
        ahead = min(MAX_AHEAD, k // 4)
    tallies = [Tally(criterion, of_target, k, ahead) for of_target in entropies.of_targets]
    is_ranking = not criterion.uses_pairs and labels is None and not len(include)
    if is_ranking and len(tallies) == 1:
        best = top_k(tallies[0].score, k)
        return best, tallies[0].score[best]
    totals = np.zeros(len(tallies))
    scores = np.empty(k)
    picked = np.empty(k, np.int64)
    for step in range(k):
        gains = np.array([_group_sums(tally.score, labels) for tally in tallies])
        if isinstance(entropies, JoinedEntropies):
            joined = entropies.join(totals, gains)
        else:
            joined = gains[0].copy()
        joined[picked[:step]] = -np.inf
        item = int(np.argmax(joined))
        if step < len(include):
            item = int(include[step])
        picked[step] = item
        scores[step] = joined[item]
        totals += gains[:, item]
        if step + 1 == k:
            break
        members = [item]
        if labels is not None:
            members = np.flatnonzero(labels == item).tolist()
        for tally, j in product(tallies, members):
            tally.add(j)
    return picked, scores


def _group_sums(score: Floats, labels: Indices | None) -> Floats:
    """The sum of the scores of each group; the scores themselves without groups."""
    if labels is None:
        return score
    in_a_group = labels >= 0
    sums = np.bincount(labels[in_a_group], score[in_a_group])
    return np.asarray(sums, np.float64)


ALL = (
    MaxRel(),
    MRMR(),
    JMI(),
    MIFS(),
    CIFE(),
    CMIM(),
    DISR(),
    ICAP(),
    JMIM(),
    NJMIM(),
)
CRITERIA: Registry[Criterion] = Registry(
    "criterion", {criterion.name: criterion for criterion in ALL}
)
get_criterion = CRITERIA.get_any
