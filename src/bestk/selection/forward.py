"""Joint forward selection, step by step, from one table or from several of the same shape."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from bestk._typing import Floats, Indices
from bestk.problem.solution import Solution
from bestk.selection.joint import SMALLEST_VARIANCE, Forward, gaussian_interaction

KEPT = 1e-3  # of its relevance, by a column that others make redundant


@dataclass(frozen=True)
class _Step:
    """A feature that was added, and what it gained."""

    added: int
    gain: float
    # for the first of a pair: the best single feature and its gain, where no second one fits
    instead: tuple[int, float] | None = None


class _Steps:
    """The features of a table, added one by one or in pairs, each time those that gain most."""

    def __init__(self, forward: Forward, include: Sequence[int]) -> None:
        self._pairs, self._include = forward.starting_pairs(), include
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


class State:
    """Variances of the columns of some tables given the selected ones, and limits of their gains.

    The tables have the same shape, and a feature of each is added at a time.
    """

    def __init__(self, forwards: Sequence[Forward]) -> None:
        self._forwards, self._each = forwards, np.arange(len(forwards))
        n, self._noise = forwards[0].covariances.n_features, forwards[0].noise
        self._starts = n * np.arange(2 * len(forwards)).reshape(-1, 2, 1)
        self._certain = np.array([forward.certain for forward in forwards])
        self._alone = np.array([forward.variances for forward in forwards])  # in total, within y
        self._variances, self._gaussian = self._alone.copy(), _half_log(self._alone)
        groups = np.array([[forward.covariances.n_groups] for forward in forwards])
        degrees = np.log(n) * np.maximum(1, groups - 1)
        # about the largest increase by chance
        self._chance = degrees / forwards[0].covariances.n_samples
        shape = self._certain.shape
        self._limit, self._selected = np.full(shape, np.inf), np.zeros(shape, bool)
        self._rows: list[Floats] = []
        self._synergy = np.zeros(shape)  # the best with a selected column
        self._synergies: list[tuple[Floats, Floats]] = []  # of a selected one, and its best so far

    def gains(self) -> Floats:
        """What each column of each table gains; -inf if it is selected."""
        certain = self._certain
        change = _half_log(np.maximum(self._variances, SMALLEST_VARIANCE))
        change -= self._gaussian  # negative: redundancy; positive: others remove noise from it
        added = np.maximum(change - self._chance, 0.0)
        change = np.where(change > 0, added, change)
        alone = np.maximum(np.minimum(certain + change, self._limit), KEPT * certain)
        alone = np.where(certain > 0, alone, certain + added)
        raised = sum((np.maximum(row - best, 0.0) for row, best in self._synergies), 0.0)
        gains = alone + 0.5 * (self._synergy + raised)
        return np.where(self._selected, -np.inf, gains)

    def add(self, items: Indices) -> None:
        """Condition on a column of each table."""
        shared, synergy, rest = self.pairs(items)
        rest[self._each, :, items] += self._noise
        places = self._starts + items[:, np.newaxis, np.newaxis]  # in total and within y
        for row in self._rows:
            rest -= row.take(places) * row
        rest /= np.sqrt(np.maximum(self._variances.take(places), SMALLEST_VARIANCE))
        self._variances -= rest * rest
        self._rows.append(rest)
        own = self._each[:, np.newaxis], items[:, np.newaxis]
        self._synergies = [(row, np.maximum(best, row[own])) for row, best in self._synergies]
        if synergy.any():
            self._synergies.append((synergy, self._synergy[own]))
            np.maximum(self._synergy, synergy, out=self._synergy)
        left = np.where(shared > 0, self._certain - shared, np.inf)
        np.minimum(self._limit, left, out=self._limit)
        self._selected[own] = True

    def pairs(self, items: Indices) -> tuple[Floats, Floats, Floats]:
        """What columns share with one of each table about y, and tell only together with it.

        Both are beyond chance, and the latter beyond covariances, which are the third result.
        """
        each = list(zip(self._forwards, items.tolist(), strict=True))
        found = np.array([forward.interaction([j])[0] for forward, j in each])
        chance = np.array([forward.chance(j) for forward, j in each])
        columns = np.array([forward.covariances.column(j) for forward, j in each])
        for (forward, j), row in zip(each, found, strict=True):
            forward.entropies.interactions[j] = row
        synergy = np.zeros(found.shape)
        if (found > chance).any():
            own = self._alone.take(self._starts + items[:, np.newaxis, np.newaxis])
            gaussian = gaussian_interaction(columns, self._alone, own)
            synergy = np.maximum(found - np.maximum(gaussian, 0.0) - chance, 0.0)
            synergy[self._each, items] = 0.0
        return np.maximum(-found - chance, 0.0), synergy, columns


def _half_log(variances: Floats) -> Floats:
    """Gaussian information from variances in total and within y."""
    return np.asarray(0.5 * np.log(variances[..., 0, :] / variances[..., 1, :]))


def add_features(
    forwards: Sequence[Forward], state: State, k: int, include: Sequence[int]
) -> list[list[_Step]]:
    """Add k features of each table, those to include first."""
    each = [_Steps(forward, include) for forward in forwards]
    for _ in range(k):
        items = [own.take(gains, k) for own, gains in zip(each, state.gains(), strict=True)]
        state.add(np.array(items))
    return [own.steps for own in each]


def forward_paths(
    forwards: Sequence[Forward], state: State, ks: Sequence[int], include: Sequence[int]
) -> list[list[Solution]]:
    """Features of each table for every k, by contribution; all k share the steps."""
    start, each = perf_counter(), add_features(forwards, state, max(ks), include)
    n, seconds = forwards[0].entropies.n_features, (perf_counter() - start) / (len(ks) * len(each))
    return [[_solution(steps, k, n, len(include), seconds) for k in ks] for steps in each]


def _solution(steps: list[_Step], k: int, n: int, included: int, seconds: float) -> Solution:
    """The features of the first k steps."""
    support = np.array([step.added for step in steps[:k]], np.int64)
    gains = np.array([step.gain for step in steps[:k]])
    instead = steps[k - 1].instead
    if instead is not None:
        support[-1], gains[-1] = instead
    order = np.argsort(-gains, kind="stable")
    value = float(gains.sum())
    # one choice only, or the best of single features
    bound = value if k in {n, included, 1} else np.inf
    details = {"contribution": gains[order], "bound": "greedy"}
    return Solution(support[order], value, bound, "joint", seconds, details=details)
