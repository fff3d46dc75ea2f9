"""The default method: relevance, less what the selected features share about the target.

``F(S) = sum (I(xi; y) - doubt_i) - (sum G(xi; y) - G(xS; y)) + 1/2 sum max_j synergy_ij``

G is Gaussian information, exact for any number of columns, so that what many columns share is
subtracted once however many of them share it. A penalty on pairs cannot do that: either copies
are not penalised enough, or columns without any information are preferred to them. The doubt
is the price of a column whose relevance chance can explain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bestk.information import Entropies
from bestk.information._covariances import Covariances
from bestk.information._measures import INTERACTION
from bestk.problem.solution import Solution

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
NOISE, NOISE_ROWS = 0.03, 50.0  # variance of the noise of a column: 0.03 + 50 / rows
SMALLEST_VARIANCE = 1e-12
MAX_SCANNED_PAIRS = 2**23  # pairs whose synergy is estimated to find some to start from
MAX_STARTING_PAIRS = 64
STRIP_ROWS = 256


@dataclass(frozen=True)
class _Step:
    """A feature that was added, and the one that was best by itself."""

    added: int
    alone: int


class Forward:
    """Features added one by one or in pairs, each time those that add most to F."""

    def __init__(self, entropies: Entropies, covariances: Covariances) -> None:
        self._entropies, self._covariances = entropies, covariances
        self._relevance = entropies.mi()
        self.noise = NOISE + NOISE_ROWS / covariances.n_samples
        alone = _half_log(covariances.total + self.noise, covariances.within + self.noise)
        n = covariances.n_features
        self.certain = entropies.certain_mi()
        self.extra = self.certain - alone  # what is not in G(xS; y)
        self._levels: Floats = np.full(n, 5.0)
        if entropies.levels is not None:
            self._levels = entropies.levels.astype(np.float64)
        self._share = np.broadcast_to(entropies.share, n)
        self._log_pairs = float(np.log(max(2.0, n * (n - 1) / 2)))
        self._synergies: dict[int, Floats] = {}

    def synergy(self, j: int) -> Floats:
        """What each column and column j tell only together, beyond covariances and chance."""
        if j not in self._synergies:
            found = self._entropies.measure(INTERACTION, [j], signed=True)[0]
            total, within = self._covariances.column(j)
            seen = self._gaussian_interaction(j, total, within)
            found = np.maximum(found - np.maximum(seen, 0.0) - self._chance(j), 0.0)
            found[j] = 0.0
            self._synergies[j] = found
        return self._synergies[j]

    def _gaussian_interaction(self, j: int, total: Floats, within: Floats) -> Floats:
        parts = []
        for column, spread in (
            (total, self._covariances.total),
            (within, self._covariances.within),
        ):
            r = column**2 / ((spread + self.noise) * (spread[j] + self.noise))
            parts.append(np.log1p(-np.minimum(r, 1.0 - SMALLEST_VARIANCE)))
        return np.asarray(0.5 * (parts[0] - parts[1]))

    def _chance(self, j: int | Indices) -> Floats:
        """About the largest interaction that chance gives any of the pairs."""
        pairs = np.multiply.outer(self._levels[j] - 1.0, self._levels - 1.0)
        degrees = np.maximum(pairs, 1.0) * max(1, self._covariances.n_groups - 1)
        limit = np.sqrt(degrees * self._log_pairs) + self._log_pairs
        share = np.multiply.outer(self._share[j], self._share)
        return np.asarray(limit * share / self._covariances.n_samples)

    def starting_pairs(self) -> list[tuple[int, int]]:
        """Pairs with the largest synergy, no column twice."""
        n = len(self._relevance)
        wanted = min(n, max(1, MAX_SCANNED_PAIRS // n))
        items = np.sort(np.argsort(-self._relevance, kind="stable")[:wanted])
        best, partner = np.empty(len(items)), np.empty(len(items), np.int64)
        for start in range(0, len(items), STRIP_ROWS):
            some = items[start : start + STRIP_ROWS]
            found = self._entropies.measure(INTERACTION, some, signed=True) - self._chance(some)
            found[np.arange(len(some)), some] = 0.0
            partner[start : start + len(some)] = found.argmax(axis=1)
            best[start : start + len(some)] = found.max(axis=1)
        pairs, used = [], set[int]()
        for place in np.argsort(-best, kind="stable")[: 4 * MAX_STARTING_PAIRS]:
            i, j = int(items[place]), int(partner[place])
            if best[place] > 0 and not used & {i, j} and self.synergy(i)[j] > 0:
                pairs.append((i, j))
                used |= {i, j}
            if len(pairs) == MAX_STARTING_PAIRS:
                break
        return pairs

    def run(self, k: int, include: Sequence[int]) -> list[_Step]:
        """Add k features, those to include first."""
        pairs, steps = self.starting_pairs(), [_Step(int(i), int(i)) for i in include]
        state = _State(self._covariances, self.noise, len(self._relevance))
        for step in steps:
            state.add(step.added, self.synergy(step.added))
        while len(steps) < k:
            gains = self.extra + state.gains()
            gains[state.chosen] = -np.inf
            alone = int(np.argmax(gains))
            added = [alone]
            if len(steps) + 2 <= k:
                added = self._best_pair(pairs, gains, state) or added
            for feature in added:
                steps.append(_Step(feature, alone))
                state.add(feature, self.synergy(feature))
        return steps

    def _best_pair(
        self, pairs: list[tuple[int, int]], gains: Floats, state: "_State"
    ) -> list[int] | None:
        """Two features whose mean gain, synergy included, exceeds that of any one; or None."""
        best, worth = None, float(gains.max())
        for i, j in pairs:
            if state.chosen[i] or state.chosen[j]:
                continue
            mean = 0.5 * (gains[i] + gains[j] + self.synergy(i)[j])
            if mean > worth:
                best, worth = [i, j], mean
        return best

    def contributions(self, support: Indices) -> Floats:
        """What each feature adds, in the order in which it adds most; the sum is F."""
        places, synergy = np.arange(len(support)), np.zeros(len(support))
        if len(support) > 1:
            pairs = np.array([self.synergy(int(j))[support] for j in support])
            synergy = 0.5 * np.maximum(pairs, pairs.T).max(axis=1)
        fixed = self.extra[support] + synergy
        matrices = []
        for part in (0, 1):
            columns = [self._covariances.column(int(j))[part][support] for j in support]
            matrices.append(np.array(columns) + self.noise * np.eye(len(support)))
        left, out = np.ones(len(support), bool), np.empty(len(support))
        for _ in places:
            variances = [np.maximum(m.diagonal(), SMALLEST_VARIANCE) for m in matrices]
            gains = np.where(left, fixed + _half_log(*variances), -np.inf)
            best = int(np.argmax(gains))
            out[best], left[best] = gains[best], False
            matrices = [m - np.outer(m[best], m[best]) / m[best, best] for m in matrices]
        return out


class _State:
    """Variances of all columns given the chosen ones, and the best synergy of each chosen one."""

    def __init__(self, covariances: Covariances, noise: float, n: int) -> None:
        self._covariances, self._noise = covariances, noise
        self._variances = [covariances.total + noise, covariances.within + noise]
        self._rows: list[list[Floats]] = [[], []]
        self.chosen = np.zeros(n, bool)
        self._best = np.zeros(n)  # of each column with a chosen one
        self._synergies: list[tuple[Floats, float]] = []  # of a chosen one, and its best so far

    def gains(self) -> Floats:
        """What each column adds: Gaussian information, and synergy with those chosen."""
        joint = _half_log(*(np.maximum(v, SMALLEST_VARIANCE) for v in self._variances))
        raised = sum((np.maximum(row - best, 0.0) for row, best in self._synergies), 0.0)
        return np.asarray(joint + 0.5 * (self._best + raised))

    def add(self, j: int, synergy: Floats) -> None:
        """Condition on column j."""
        for column, variance, rows in zip(
            self._covariances.column(j), self._variances, self._rows, strict=True
        ):
            rest = column.copy()
            rest[j] += self._noise
            for row in rows:
                rest -= row[j] * row
            rest /= np.sqrt(max(variance[j], SMALLEST_VARIANCE))
            variance -= rest * rest
            rows.append(rest)
        self._synergies = [(row, max(best, float(row[j]))) for row, best in self._synergies]
        self._synergies.append((synergy, float(self._best[j])))
        np.maximum(self._best, synergy, out=self._best)
        self.chosen[j] = True


def _half_log(total: Floats, within: Floats) -> Floats:
    """Gaussian information from variances in total and within y."""
    return np.asarray(0.5 * np.log(total / within))


@dataclass(frozen=True)
class JointForward:
    """Forward selection by ``F(S)``, relevance less what all selected features share.

    Each step adds the feature, or the pair, with the largest gain of
    ``F(S) = sum (I(xi; y) - doubt_i) - (sum G(xi; y) - G(xS; y)) + 1/2 sum max_j synergy_ij``.

    I is the blended estimate. With c the largest relevance that chance gives any of the columns,
    ``doubt_i = 2 c exp(-I(xi; y) / c)``. G is the Gaussian information of all selected columns
    together, each with a little independent noise. The synergy of a pair is its interaction,
    less what covariances see of it and what chance gives the best of all pairs. Ties go to the
    lowest index.

    Examples
    --------
    >>> JointForward()
    JointForward()
    """

    name: ClassVar[str] = "joint"

    def path(
        self, entropies: Entropies, ks: Sequence[int], include: Sequence[int]
    ) -> list[Solution]:
        """The features for every k; they share the steps."""
        start = perf_counter()
        assert entropies.covariances is not None
        forward = Forward(entropies, entropies.covariances)
        steps = forward.run(max(ks), include)
        found = []
        for k in ks:
            support = np.array([step.added for step in steps[: k - 1]], np.int64)
            cut = k < len(steps) and steps[k].alone == steps[k - 1].alone  # a pair, its first only
            last = steps[k - 1].alone if cut else steps[k - 1].added
            support = np.append(support, last)
            parts = forward.contributions(support)
            order = np.argsort(-parts, kind="stable")
            found.append((support[order], parts[order]))
        seconds, n = (perf_counter() - start) / len(ks), entropies.n_features
        trivial = {n, len(include), 1}  # one choice only, or the best of single features
        return [
            Solution(
                support,
                value := float(parts.sum()),
                value if len(support) in trivial else np.inf,
                self.name,
                seconds,
                details={"contribution": parts, "bound": "greedy"},
            )
            for support, parts in found
        ]
