"""Block forward selection, the default: add what tells most about the target given the selected.

Each feature is a block of numeric columns (:mod:`bestk.information.blocks`), and a pair of features
with synergy is a block too. With T the covariances of block columns and W those given the target,
both given the selected features S, a block B of d columns is worth

    probability(B) * max(gain(B | S), redundant_share * gain(B))

where ``gain(B | S) = 1/2 log det T_B / det W_B - parameter_cost d q / (2 rows)``, q is the number of
parameters of the target, and ``probability(B)`` is that of a block being informative at all, from
its p-value and the number of features (Sellke, Bayarri and Berger 2001). A pair is worth the half,
as it takes two places, or the whole where one of its features is selected already.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from scipy.special import chdtrc

from bestk._typing import Floats, Indices
from bestk.information.block_information import BlockInformation
from bestk.information.blocks import Design
from bestk.information.moments import ConditionalMoments
from bestk.information.synergy import Pair, PairCounts, add_pairs, can_scan
from bestk.problem.solution import Solution

# The smallest p-value that is told from 0.
SMALLEST_PVALUE = 1e-300


def probability_informative(pvalues: Floats, n_features: int) -> Floats:
    """The probability that a feature is informative, at most, where one of all is beforehand.

    ``-e p log p`` bounds the odds of chance that a p-value p leaves (Sellke, Bayarri and Berger,
    "Calibration of p values for testing precise null hypotheses", The American Statistician 2001).
    """
    pvalues = np.maximum(pvalues, SMALLEST_PVALUE)
    below_1_over_e = np.minimum(pvalues, np.exp(-1.0))
    odds_of_chance = np.minimum(1.0, -np.e * pvalues * np.log(below_1_over_e))
    return np.asarray(1.0 / (1.0 + n_features * odds_of_chance))


@dataclass(frozen=True)
class Step:
    """One feature that was selected."""

    feature: int
    gain: float
    """What it added to the information about the target, in nats."""

    instead: "Step | None" = None
    """For the first feature of a pair: the best single feature, where there is no second place."""


@dataclass
class _Candidates:
    """What the features and pairs of one target are worth given those selected so far."""

    information: BlockInformation
    design: Design
    moments: ConditionalMoments
    pairs: list[Pair]

    def __post_init__(self) -> None:
        n_features = self.information.n_features
        # A pair is a feature of the design behind all others; its probability is known.
        self.probability = np.zeros(n_features)
        self.pair_probability = probability_informative(
            np.array([pair.pvalue for pair in self.pairs]), 1
        )
        self.columns_used = np.ones(len(self.design.blocks), np.int64)
        self.gain = np.zeros(len(self.design.blocks))
        self._measure()
        self.gain_alone = np.maximum(self.gain, 0.0)

    def _measure(self) -> None:
        """Measure the gain of each block, and the p-value that belongs to it."""
        constants = self.information.constants
        rows = self.design.effective_rows
        degrees_of_column = self.moments.target.degrees
        cost = constants.parameter_cost * degrees_of_column / (2.0 * rows)
        prefixes = np.array(self.design.prefixes)
        n_features = self.information.n_features
        for features, information in self.moments.information():
            sizes = np.arange(1, len(information) + 1)
            gains = information - cost * sizes[:, np.newaxis]
            gains[:-1, ~prefixes[features]] = -np.inf
            best = gains.argmax(axis=0)
            every = np.arange(len(features))
            self.gain[features] = gains[best, every]
            self.columns_used[features] = best + 1
            single = features < n_features
            statistic = 2.0 * rows * np.maximum(information[best, every], 0.0)
            degrees = (best + 1) * degrees_of_column
            pvalues = chdtrc(degrees[single], statistic[single])
            places = features[single]
            self.probability[places] = np.maximum(
                self.probability[places], probability_informative(pvalues, n_features)
            )

    def worth(self) -> Floats:
        """What each feature, and then each pair, is worth."""
        share = self.information.constants.redundant_share
        probability = np.concatenate([self.probability, self.pair_probability])
        return np.asarray(probability * np.maximum(self.gain, share * self.gain_alone))

    def select(self, candidate: int) -> None:
        """Condition on the block of a feature or a pair."""
        used = len(self.design.blocks[candidate])
        if self.design.prefixes[candidate]:
            used = int(self.columns_used[candidate])
        for column in self.design.blocks[candidate][:used].tolist():
            self.moments.condition_on(column)
        self._measure()


class ForwardSelection:
    """Selects features one by one, or pair by pair, for one target or for several together."""

    def __init__(
        self,
        information: BlockInformation,
        k: int,
        include: Sequence[int],
        time_limit: float | None,
    ) -> None:
        self.information = information
        self.k = k
        self.include = list(include)
        self.steps: list[Step] = []
        self.selected = np.zeros(information.n_features, bool)
        pairs, counts = self._find_pairs(time_limit)
        self.pairs = pairs
        design = information.design
        if pairs:
            design = add_pairs(design, counts, pairs, None)
        self.targets = [
            _Candidates(part, design, moments, pairs)
            for part, moments in zip(
                information.parts, information.moments(design), strict=True
            )
        ]
        self.totals = np.zeros(len(self.targets))

    def _find_pairs(self, time_limit: float | None) -> tuple[list[Pair], PairCounts | None]:
        """The pairs with synergy for any target, and what they were counted from."""
        information = self.information
        n_samples = information.design.n_samples
        if not information.count_pairs or self.k < 2:
            return [], None
        if not can_scan(information.n_features, n_samples, time_limit=time_limit):
            return [], None
        counts = [count() for count in information.count_pairs]
        pairs: dict[tuple[int, int], Pair] = {}
        for count in counts:
            for pair in count.strongest(information.constants):
                pairs.setdefault((pair.first, pair.second), pair)
        return list(pairs.values()), counts[0]

    def run(self) -> list[Step]:
        """Select k features."""
        while len(self.steps) < self.k:
            worth = np.array([target.worth() for target in self.targets])
            joined = self._join(worth)
            if len(self.steps) < len(self.include):
                self._select_single(self.include[len(self.steps)])
                continue
            joined = self._for_each_place(joined)
            best = int(np.argmax(joined))
            if best < self.information.n_features:
                self._select_single(best)
            else:
                self._select_pair(best, joined)
        return self.steps

    def _join(self, worth: Floats) -> Floats:
        """What candidates are worth for all targets; ``worth`` has one row for each of them."""
        if len(worth) == 1:
            return np.asarray(worth[0])
        if not self.information.worst:
            return np.asarray(worth.sum(axis=0))
        # The logarithm of 1 + 100 v, with v relative to the entropy of a target: a target of which
        # little is known gains most.
        units = np.array([1.0 / min(target.entropy, 1.0) for target in self.information.targets])
        before = np.log1p(100.0 * units * self.totals)[:, np.newaxis]
        after = np.log1p(100.0 * units[:, np.newaxis] * (self.totals[:, np.newaxis] + worth))
        return np.asarray((after - before).sum(axis=0))

    def _for_each_place(self, worth: Floats) -> Floats:
        """Worth for each place that a candidate takes; -inf where it takes none or too many."""
        n_features = self.information.n_features
        places = np.ones(len(worth))
        places[:n_features][self.selected] = 0
        for number, pair in enumerate(self.pairs, n_features):
            places[number] = 2 - int(self.selected[pair.first]) - int(self.selected[pair.second])
        fits = (places > 0) & (places <= self.k - len(self.steps))
        return np.where(fits, worth / np.maximum(places, 1), -np.inf)

    def _gain(self, candidate: int) -> float:
        """What a candidate adds to the information about all targets, at least 0."""
        return float(sum(max(0.0, target.gain[candidate]) for target in self.targets))

    def _select_single(self, feature: int) -> None:
        self.steps.append(Step(feature, self._gain(feature)))
        self._condition_on(feature, [feature])

    def _select_pair(self, candidate: int, worth: Floats) -> None:
        pair = self.pairs[candidate - self.information.n_features]
        new = [j for j in (pair.first, pair.second) if not self.selected[j]]
        gain = self._gain(candidate) / len(new)
        single = int(np.argmax(worth[: self.information.n_features]))
        alone = Step(single, self._gain(single))
        new.sort(key=lambda j: -self.targets[0].gain_alone[j])
        for place, feature in enumerate(new):
            instead = alone if len(new) == 2 and place == 0 else None
            self.steps.append(Step(feature, gain, instead))
        self._condition_on(candidate, new)

    def _condition_on(self, candidate: int, features: list[int]) -> None:
        for number, target in enumerate(self.targets):
            self.totals[number] += max(0.0, target.gain[candidate])
            if len(self.steps) < self.k:
                target.select(candidate)
        self.selected[features] = True


def select_forward(
    information: BlockInformation,
    ks: Sequence[int],
    include: Sequence[int] = (),
    time_limit: float | None = None,
) -> list[Solution]:
    """The features for every k, best first, those to include before all others."""
    start = perf_counter()
    selection = ForwardSelection(information, max(ks), include, time_limit)
    steps = selection.run()
    seconds = (perf_counter() - start) / len(ks)
    return [_solution(steps[:k], information.n_features, len(include), seconds) for k in ks]


def _solution(steps: list[Step], n_features: int, n_included: int, seconds: float) -> Solution:
    """The features of some steps; the first of a pair gives way if its second is not there."""
    last = steps[-1]
    if last.instead is not None:
        steps = [*steps[:-1], last.instead]
    support = np.array([step.feature for step in steps], np.int64)
    gains = np.array([step.gain for step in steps])
    value = float(gains.sum())
    # One choice only, or the best of single features, is certain.
    is_certain = len(steps) in {n_features, n_included, 1}
    return Solution(
        support,
        value,
        value if is_certain else np.inf,
        "forward",
        seconds,
        details={"contribution": gains, "bound": "greedy"},
    )
