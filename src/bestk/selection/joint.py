"""The default method: relevance minus redundancy with all selected features, plus synergy.

A column xi gains, given the selected columns S,

``I(xi; y) - doubt_i - max(G(xi; y) - G(xi; y | xS), max_j shared_ij) + synergy``

G is Gaussian information, exact for any number of columns: what many columns share is
subtracted once, and what they add to a column, beyond chance, is added. A penalty on pairs
cannot do that: either copies are not penalised enough, or columns without information are
preferred to them. ``shared_ij`` is what the estimate of pairs finds xi and xj to share about y
beyond chance, so that redundancy that is not Gaussian counts too. The doubt is the price of a
column whose relevance chance can explain. Redundancy takes away what a column has, and no more:
a redundant column still comes before one that may be noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from bestk._typing import Floats, Indices
from bestk.information import Covariances, Entropies
from bestk.information.measures import INTERACTION
from bestk.information.scan import MAX_PAIR_PVALUE, PAIR_ROWS
from bestk.native.threads import spans
from bestk.problem.solution import Solution

NOISE, NOISE_ROWS = 0.03, 50.0  # variance of the noise of a column: 0.03 + 50 / rows
SMALLEST_VARIANCE = 1e-12
KEPT = 1e-3  # of its relevance, by a column that others make redundant
MAX_SCANNED_PAIRS = 2**23  # pairs whose synergy is estimated to find some to start from
MAX_STRIP_PAIRS = 2**20  # of them, where a scan of all pairs follows
MAX_STARTING_PAIRS = 64
SCAN_SECONDS = 1.0  # for a scan of all pairs, if there is no time limit
WORK_PER_SECOND = 1e12  # pairs of columns times rows, about, on two cores
STRIP_ROWS = 256


@dataclass(frozen=True)
class _Step:
    """A feature that was added, and what it gained."""

    added: int
    gain: float
    # for the first of a pair: the best single feature and its gain, where no second one fits
    instead: tuple[int, float] | None = None


class Forward:
    """Features added one by one or in pairs, each time those that gain most."""

    def __init__(
        self, entropies: Entropies, covariances: Covariances, scan_seconds: float = SCAN_SECONDS
    ) -> None:
        self._entropies, self._covariances = entropies, covariances
        self._scan_seconds = scan_seconds
        self.noise = NOISE + NOISE_ROWS / covariances.n_samples
        n = covariances.n_features
        self.certain = entropies.certain_mi()
        levels = 5.0 if entropies.levels is None else entropies.levels
        columns = np.broadcast_to(levels + 1j * entropies.share, n)
        kinds, self._kind = np.unique(columns, return_inverse=True)
        # of a column of a kind with one of another
        self._chances = self._chance_of(kinds.real, kinds.imag)
        self._pairs: dict[int, tuple[Floats, Floats]] = {}

    def shared(self, j: int) -> Floats:
        """What each column shares with column j about the target, beyond chance."""
        return self._pair(j)[0]

    def synergy(self, j: int) -> Floats:
        """What each column and j tell only together, beyond covariances and chance."""
        return self._pair(j)[1]

    def _pair(self, j: int) -> tuple[Floats, Floats]:
        if j not in self._pairs:
            found, chance = self._interaction(np.array([j]))[0], self._chance(j)
            self._entropies.interactions[j] = found
            synergy = np.zeros(len(found))
            if (found > chance).any():
                gaussian = self._gaussian_interaction(self._covariances.column(j), slice(None), j)
                synergy = np.maximum(found - np.maximum(gaussian, 0.0) - chance, 0.0)
                synergy[j] = 0.0
            self._pairs[j] = np.maximum(-found - chance, 0.0), synergy
        return self._pairs[j]

    def _interaction(self, items: Indices) -> Floats:
        """The interaction of some columns with every column; of few columns all at once."""
        if self._are_few:
            return self._whole_interaction[items]
        return self._entropies.measure(INTERACTION, items, signed=True)

    @cached_property
    def _whole_interaction(self) -> Floats:
        return self._entropies.measure(INTERACTION, None, signed=True)

    @property
    def _are_few(self) -> bool:
        """Whether the interaction of every pair is measured to find some to start from."""
        return self._entropies.n_features**2 <= MAX_SCANNED_PAIRS

    def pair_synergies(self, pairs: list[tuple[int, int]]) -> Floats:
        """What the columns of each pair tell only together."""
        i, j = np.array(pairs, np.int64).reshape(-1, 2).T
        if self._are_few:
            return self._synergies_of(i, j, self._whole_interaction[i, j])
        (rows, at_i), (columns, at_j) = (np.unique(some, return_inverse=True) for some in (i, j))
        found = self._entropies.measure(INTERACTION, rows, columns, signed=True)
        return self._synergies_of(i, j, found[at_i, at_j])

    def _synergies_of(self, i: Indices, j: Indices, found: Floats) -> Floats:
        """What columns tell only together, by their interaction."""
        gaussian = self._gaussian_interaction(self._covariances.pairs(i, j), j, i)
        chance = self._chances[self._kind[i], self._kind[j]]
        return np.maximum(found - np.maximum(gaussian, 0.0) - chance, 0.0)

    def _gaussian_interaction(self, covariances: tuple[Floats, Floats], i: Any, j: Any) -> Floats:
        """The interaction of columns i and j by their covariances, in total and within y."""
        parts = []
        spreads = (self._covariances.total, self._covariances.within)
        for covariance, spread in zip(covariances, spreads, strict=True):
            r = covariance**2 / ((spread[i] + self.noise) * (spread[j] + self.noise))
            parts.append(np.log1p(-np.minimum(r, 1.0 - SMALLEST_VARIANCE)))
        return np.asarray(0.5 * (parts[0] - parts[1]))

    def _chance(self, j: int) -> Floats:
        """About the largest interaction that chance gives column j with any of the columns."""
        return self._chances[self._kind[j]][self._kind]

    def _chance_of(self, levels: Floats, share: Floats) -> Floats:
        n = self._covariances.n_features
        log_pairs = float(np.log(max(2.0, n * (n - 1) / 2)))
        pairs = np.multiply.outer(levels - 1.0, levels - 1.0)
        degrees = np.maximum(pairs, 1.0) * max(1, self._covariances.n_groups - 1)
        limit = np.sqrt(degrees * log_pairs) + log_pairs
        return np.asarray(limit * np.multiply.outer(share, share) / self._covariances.n_samples)

    def starting_pairs(self) -> dict[tuple[int, int], float]:
        """Pairs with the largest synergy, no column twice."""
        relevance = self._entropies.mi()
        n = len(relevance)
        strips = self._can_scan and not self._are_few
        most = min(MAX_SCANNED_PAIRS, MAX_STRIP_PAIRS) if strips else MAX_SCANNED_PAIRS
        items = np.sort(np.argsort(-relevance, kind="stable")[: max(1, most // n)])
        partner, (best, found) = np.empty(len(items), np.int64), np.empty((2, len(items)))
        for first, last in spans(len(items), STRIP_ROWS):
            some, each = items[first:last], np.arange(last - first)
            strip = self._interaction(some)
            excess = strip - self._chances[self._kind[some]][:, self._kind]
            excess[each, some] = 0.0
            partner[first:last] = most = excess.argmax(axis=1)
            best[first:last], found[first:last] = excess[each, most], strip[each, most]
        order = np.argsort(-best, kind="stable")[: 4 * MAX_STARTING_PAIRS]
        order = order[best[order] > 0]
        i, j = items[order], partner[order]
        likely = list(zip(i.tolist(), j.tolist(), strict=True))
        worth = self._synergies_of(i, j, found[order]).tolist()
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
        if known == self._entropies.n_features or not self._can_scan:
            return []
        found = self._entropies.find_synergy(MAX_STARTING_PAIRS)  # type: ignore[misc]
        return [(int(i), int(j)) for i, j in found.pairs[found.pvalues < MAX_PAIR_PVALUE]]

    @property
    def _can_scan(self) -> bool:
        size = self._covariances.n_features, self._covariances.n_samples
        return self._entropies.find_synergy is not None and can_scan(*size, self._scan_seconds)

    def new_state(self) -> "State":
        """Nothing is selected."""
        return State(self)

    def run(self, k: int, include: Sequence[int]) -> list[_Step]:
        """Add k features, those to include first."""
        pairs, steps, state = self.starting_pairs(), list[_Step](), self.new_state()
        for item in map(int, include):
            steps.append(_Step(item, float(state.gains()[item])))
            state.add(item)
        while len(steps) < k:
            gains = state.gains()
            best = int(np.argmax(gains))
            pair = self._best_pair(pairs, gains) if len(steps) + 2 <= k else None
            if pair is None:
                steps.append(_Step(best, float(gains[best])))
                state.add(best)
                continue
            state.add(pair[0])
            gain = 0.5 * float(gains[pair[0]] + state.gains()[pair[1]])
            state.add(pair[1])
            steps.append(_Step(pair[0], gain, instead=(best, float(gains[best]))))
            steps.append(_Step(pair[1], gain))
        return steps

    def _best_pair(
        self, pairs: dict[tuple[int, int], float], gains: Floats
    ) -> tuple[int, int] | None:
        """Two features whose mean gain, synergy included, exceeds that of any one; or None."""
        best, most = None, float(gains.max())
        for (i, j), synergy in pairs.items():  # the gain of a selected feature is -inf
            mean = 0.5 * (gains[i] + gains[j] + synergy)
            if mean > most:
                best, most = (i, j), mean
        return best


def can_scan(n_features: int, n_samples: int, seconds: float) -> bool:
    """Whether a scan of all pairs of columns takes about so many seconds at most."""
    return n_features**2 * (n_samples + PAIR_ROWS) <= seconds * WORK_PER_SECOND


class State:
    """Variances of all columns given the selected ones, and the limits of their gains."""

    def __init__(self, forward: Forward) -> None:
        self._forward, covariances = forward, forward._covariances
        self._columns, self._noise = covariances.column, forward.noise
        self._variances = np.array([covariances.total, covariances.within]) + self._noise
        self._gaussian = _half_log(*self._variances)  # of each column alone
        degrees = np.log(covariances.n_features) * max(1, covariances.n_groups - 1)
        self._chance = degrees / covariances.n_samples  # about the largest increase by chance
        self._limit = np.full(covariances.n_features, np.inf)
        self._rows: list[Floats] = []
        self._selected = np.zeros(covariances.n_features, bool)
        self._synergy = np.zeros(covariances.n_features)  # the best with a selected column
        self._synergies: list[tuple[Floats, float]] = []  # of a selected one, and its best so far

    def gains(self) -> Floats:
        """What each column gains; -inf if it is selected."""
        certain = self._forward.certain
        change = _half_log(*np.maximum(self._variances, SMALLEST_VARIANCE))
        change -= self._gaussian  # negative: redundancy; positive: others remove noise from it
        added = np.maximum(change - self._chance, 0.0)
        change = np.where(change > 0, added, change)
        alone = np.maximum(np.minimum(certain + change, self._limit), KEPT * certain)
        alone = np.where(certain > 0, alone, certain + added)
        raised = sum((np.maximum(row - best, 0.0) for row, best in self._synergies), 0.0)
        gains = alone + 0.5 * (self._synergy + raised)
        return np.where(self._selected, -np.inf, gains)

    def add(self, j: int) -> None:
        """Condition on column j."""
        rest = np.array(self._columns(j))  # in total and within y
        rest[:, j] += self._noise
        for row in self._rows:
            rest -= row[:, j, np.newaxis] * row
        rest /= np.sqrt(np.maximum(self._variances[:, j, np.newaxis], SMALLEST_VARIANCE))
        self._variances -= rest * rest
        self._rows.append(rest)
        synergy = self._forward.synergy(j)
        self._synergies = [(row, max(best, float(row[j]))) for row, best in self._synergies]
        if synergy.any():
            self._synergies.append((synergy, float(self._synergy[j])))
            np.maximum(self._synergy, synergy, out=self._synergy)
        shared = self._forward.shared(j)
        left = np.where(shared > 0, self._forward.certain - shared, np.inf)
        np.minimum(self._limit, left, out=self._limit)
        self._selected[j] = True


def _half_log(total: Floats, within: Floats) -> Floats:
    """Gaussian information from variances in total and within y."""
    return np.asarray(0.5 * np.log(total / within))


def forward_path(
    forward: Forward, n: int, ks: Sequence[int], include: Sequence[int]
) -> list[Solution]:
    """Some of n features for every k, by contribution; all k share the steps."""
    start = perf_counter()
    steps = forward.run(max(ks), include)
    seconds = (perf_counter() - start) / len(ks)
    found = []
    for k in ks:
        support = np.array([step.added for step in steps[:k]], np.int64)
        gains = np.array([step.gain for step in steps[:k]])
        instead = steps[k - 1].instead
        if instead is not None:
            support[-1], gains[-1] = instead
        order = np.argsort(-gains, kind="stable")
        value = float(gains.sum())
        # one choice only, or the best of single features
        bound = value if k in {n, len(include), 1} else np.inf
        details = {"contribution": gains[order], "bound": "greedy"}
        found.append(Solution(support[order], value, bound, "joint", seconds, details=details))
    return found
