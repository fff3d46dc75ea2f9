"""The default method: relevance minus redundancy with all selected features, plus synergy.

:class:`bestk.selection.methods.Joint` has the formula. Gaussian information is exact for any number
of columns: what many columns share is subtracted once, and what they add to a column, beyond
chance, is added. A penalty on pairs penalises copies too little, or prefers noise to them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import cycle
from time import perf_counter
from typing import Any

import numpy as np

from bestk._typing import Floats, Indices
from bestk.information import Covariances, Entropies
from bestk.information.entropies import SMALLEST_VARIANCE
from bestk.information.measures import INTERACTION
from bestk.information.reading import MAX_PAIR_PVALUE, MAX_SCANNED_PAIRS, can_scan, has_few_rows
from bestk.native.threads import spans
from bestk.problem.solution import Solution
from bestk.selection.conditioning import State
from bestk.selection.targets import JoinedEntropies

NOISE, NOISE_ROWS = 0.03, 50.0  # variance of the noise of a column: 0.03 + 50 / rows
MAX_STRIP_PAIRS = 2**20  # of them, where a scan of all pairs follows
MAX_STARTING_PAIRS = 64
STRIP_ROWS = 256


class Forward:
    """What features and pairs of a table are worth before any is selected."""

    def __init__(
        self, entropies: Entropies, covariances: Covariances, time_limit: float | None = None
    ) -> None:
        self.entropies, self.covariances = entropies, covariances
        self.noise = NOISE + NOISE_ROWS / covariances.n_samples
        n = covariances.n_features
        self._are_few = n**2 <= MAX_SCANNED_PAIRS  # then the interaction of every pair is measured
        in_time = can_scan(n, covariances.n_samples, time_limit)
        self._can_scan = in_time and entropies.find_synergy is not None
        self.relevance, self.certain = entropies.settled_mi(), entropies.certain_mi()
        self.curved = entropies.curved_mi()
        self.chance = np.zeros(n) if entropies.chance is None else entropies.chance
        levels = 5.0 if entropies.levels is None else entropies.levels
        columns = np.broadcast_to(levels + 1j * entropies.share, n)
        kinds, self.kind = np.unique(columns, return_inverse=True)
        # about the largest interaction of a column of a kind with one of another by chance
        self.chances = self._chance_of(kinds.real, kinds.imag)
        self.variances = np.array([covariances.total, covariances.within]) + self.noise

    def interaction(self, items: Sequence[int] | Indices) -> Floats:
        """The interaction of some columns with every column; of few columns all at once."""
        if self._are_few:
            return self._whole_interaction[items]
        return self.entropies.measure(INTERACTION, items, signed=True)

    @cached_property
    def _whole_interaction(self) -> Floats:
        return self.entropies.measure(INTERACTION, None, signed=True)

    def note_interactions(self, items: Sequence[int]) -> None:
        """Keep the interactions of selected columns, which describe them later."""
        known = self.entropies.interactions
        items = [item for item in items if item not in known]
        known.update(zip(items, self.interaction(items), strict=True))

    def effects(self, j: int) -> tuple[Floats, Floats]:
        """What every column shares with one, and tells only together with it."""
        found, chance = self.interaction([j])[0], self.chances[self.kind[j], self.kind]
        self.entropies.interactions[j] = found
        synergy = np.zeros_like(found)
        if (found > chance).any():
            synergy = self._synergies_of(slice(None), j, found, self.covariances.column(j))
            synergy[j] = 0.0
        return np.maximum(-found - chance, 0.0), synergy

    def pair_synergies(self, pairs: list[tuple[int, int]]) -> Floats:
        """What the columns of each pair tell only together."""
        i, j = np.array(pairs, np.int64).reshape(-1, 2).T
        (rows, at_i), (columns, at_j) = (np.unique(some, return_inverse=True) for some in (i, j))
        found = self.entropies.measure(INTERACTION, rows, columns, signed=True)[at_i, at_j]
        return self._synergies_of(i, j, found, self.covariances.pairs(i, j))

    def _synergies_of(self, i: Any, j: Any, found: Floats, covariances: Any) -> Floats:
        """What columns tell only together, by their interaction and their covariances."""
        left, right = self.variances[:, j], self.variances[:, i]
        r = np.array(covariances) ** 2 / (left.reshape(2, -1) * right)
        total, within = np.log1p(-np.minimum(r, 1.0 - SMALLEST_VARIANCE))
        gaussian = 0.5 * (total - within)  # the interaction of normal columns
        chance = self.chances[self.kind[i], self.kind[j]]
        return np.maximum(found - np.maximum(gaussian, 0.0) - chance, 0.0)

    def _chance_of(self, levels: Floats, share: Floats) -> Floats:
        n = self.covariances.n_features
        log_pairs = float(np.log(max(2.0, n * (n - 1) / 2)))
        pairs = np.multiply.outer(levels - 1.0, levels - 1.0)
        degrees = np.maximum(pairs, 1.0) * max(1, self.covariances.n_groups - 1)
        limit = np.sqrt(degrees * log_pairs) + log_pairs
        return np.asarray(limit * np.multiply.outer(share, share) / self.covariances.n_samples)

    def starting_pairs(self) -> dict[tuple[int, int], float]:
        """Pairs with the largest synergy, no column twice."""
        relevance = self.entropies.mi()
        n = len(relevance)
        items = np.arange(n)
        if not self._are_few:
            pairs = min(MAX_SCANNED_PAIRS, MAX_STRIP_PAIRS) if self._can_scan else MAX_SCANNED_PAIRS
            items = np.sort(np.argsort(-relevance, kind="stable")[: max(1, pairs // n)])
        partner, (best, found) = np.empty(len(items), np.int64), np.empty((2, len(items)))
        for first, last in spans(len(items), STRIP_ROWS):
            some, each = items[first:last], np.arange(last - first)
            strip = self.interaction(some)
            excess = strip - self.chances[self.kind[some]][:, self.kind]
            excess[each, some] = 0.0
            partner[first:last] = most = excess.argmax(axis=1)
            best[first:last], found[first:last] = excess[each, most], strip[each, most]
        order = np.argsort(-best, kind="stable")[: 4 * MAX_STARTING_PAIRS]
        order = order[best[order] > 0]
        i, j = items[order], partner[order]
        likely = list(zip(i.tolist(), j.tolist(), strict=True))
        worth = self._synergies_of(i, j, found[order], self.covariances.pairs(i, j)).tolist()
        if scanned := self._scanned_pairs(len(items)):
            likely, worth = likely + scanned, worth + self.pair_synergies(scanned).tolist()
        synergies, used = dict[tuple[int, int], float](), set[int]()
        for pair, synergy in zip(likely, worth, strict=True):
            if synergy > 0 and not used & {*pair}:
                synergies[pair] = synergy
                used |= {*pair}
            if len(synergies) == MAX_STARTING_PAIRS:
                break
        return synergies

    def _scanned_pairs(self, known: int) -> list[tuple[int, int]]:
        """Significant pairs, from a scan of all unless their columns are known or time is short."""
        if known == self.entropies.n_features or not self._can_scan:
            return []
        found = self.entropies.find_synergy(MAX_STARTING_PAIRS)  # type: ignore[misc]
        return [(int(i), int(j)) for i, j in found.pairs[found.pvalues < MAX_PAIR_PVALUE]]


@dataclass(frozen=True)
class _Step:
    """A feature that was added, and what it gained."""

    added: int
    gain: float
    # for the first of a pair: the best single feature and its gain, where no second one fits
    instead: tuple[int, float] | None = None


class _Steps:
    """The features of a table, added one by one or in pairs, each time those that gain most."""

    def __init__(self, pairs: dict[tuple[int, int], float], include: Sequence[int]) -> None:
        self._pairs, self._include = pairs, include
        self.steps: list[_Step] = []
        self._second: int | None = None  # of a pair whose first feature is added

    def take(self, gains: Floats, k: int) -> int:
        """The next of k features, those to include first, by what each gains."""
        n, second, self._second = len(self.steps), self._second, None
        best, instead = int(np.argmax(gains)), None
        item, gain = best, float(gains[best])
        if n < len(self._include):
            item = int(self._include[n])
            gain = float(gains[item])
        elif second is not None:
            item, first = second, self.steps[-1]
            gain = 0.5 * (first.gain + float(gains[item]))
            self.steps[-1] = replace(first, gain=gain)
        elif n + 2 <= k and (pair := self._best_pair(gains)) is not None:
            instead, (item, self._second) = (best, gain), pair
            gain = float(gains[item])
        self.steps.append(_Step(item, gain, instead))
        return item

    def _best_pair(self, gains: Floats) -> tuple[int, int] | None:
        """Two features whose mean gain, synergy included, exceeds that of any one; or None."""
        best, most = None, float(gains.max())
        for (i, j), synergy in self._pairs.items():  # the gain of a selected feature is -inf
            mean = 0.5 * (gains[i] + gains[j] + synergy)
            if mean > most:
                best, most = (i, j), mean
        return best


def find_forwards(parts: Sequence[Entropies], time_limit: float | None) -> list[Forward]:
    """What features of each table are worth; none if rows are few, or there are only counts."""
    found = [part.covariances for part in parts]
    if any(c is None or has_few_rows(c.n_samples, c.n_features) for c in found):
        return []
    return [Forward(part, part.covariances, time_limit) for part in parts]


def _starting_pairs(
    forwards: Sequence[Forward], joined: JoinedEntropies | None
) -> list[dict[tuple[int, int], float]]:
    """Pairs to start from in each table; for several targets those with synergy for any."""
    if joined is None:
        return [forward.starting_pairs() for forward in forwards]
    if joined.worst:  # gains are logarithms
        return [{}]
    pairs = list(dict.fromkeys(pair for own in forwards for pair in own.starting_pairs()))
    total = np.sum([own.pair_synergies(pairs) for own in forwards], axis=0)
    return [dict(zip(pairs, total.tolist(), strict=True))]


def add_features(
    forwards: Sequence[Forward], k: int, include: Sequence[int],
    joined: JoinedEntropies | None = None,
) -> list[list[_Step]]:  # fmt: skip
    """Add k features of each table, or the same for several targets, those to include first."""
    each = [_Steps(pairs, include) for pairs in _starting_pairs(forwards, joined)]
    state, totals = State(forwards, k), np.zeros(len(forwards))
    for left in reversed(range(k)):
        gains = state.gains()
        rows = gains if joined is None else joined.join(totals, gains)[np.newaxis]
        items = np.array([own.take(row, k) for own, row in zip(each, rows, strict=True)])
        if joined is not None:
            items = np.full(len(forwards), items[0])
            totals += gains[:, items[0]]
        if left:
            state.add(items)
    for forward, own in zip(forwards, cycle(each), strict=False):
        forward.note_interactions([step.added for step in own.steps])
    return [own.steps for own in each]


def forward_paths(
    forwards: Sequence[Forward], ks: Sequence[int], include: Sequence[int],
    joined: JoinedEntropies | None = None,
) -> list[list[Solution]]:  # fmt: skip
    """Features of each table, or of one with several targets, for every k, by contribution."""
    start, each = perf_counter(), add_features(forwards, max(ks), include, joined)
    n, seconds = forwards[0].entropies.n_features, (perf_counter() - start) / (len(ks) * len(each))
    return [[_solution(steps, k, n, len(include), seconds) for k in ks] for steps in each]


def _solution(steps: list[_Step], k: int, n: int, included: int, seconds: float) -> Solution:
    """The features of the first k steps."""
    support = np.array([step.added for step in steps[:k]], np.int64)
    gains = np.array([step.gain for step in steps[:k]])
    if (instead := steps[k - 1].instead) is not None:
        support[-1], gains[-1] = instead
    order, value = np.argsort(-gains, kind="stable"), float(gains.sum())
    bound = value if k in {n, included, 1} else np.inf  # one choice, or the best of single ones
    details = {"contribution": gains[order], "bound": "greedy"}
    return Solution(support[order], value, bound, "joint", seconds, details=details)
