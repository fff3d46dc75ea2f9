"""Block forward selection, the default: add what tells most about the target given the selected.

Each feature is a block of numeric columns (:mod:`bestk.information.blocks`), and a pair of features
with synergy is a block too. With T the covariances of block columns and W those given the target,
both given the selected features S, a block B of d columns is worth

    probability(B) * max(gain(B | S), redundant_share * gain(B))

where ``gain(B | S) = 1/2 log det T_B / det W_B - parameter_cost d q / (2 rows)``, q is the number
of parameters of the target, and ``probability(B)`` is that of a block being informative, from its
p-value (Sellke, Bayarri and Berger 2001) and the number of features that seem to be (Storey 2002).
A pair is worth half of it, as it takes two places, or the whole where one of its features is
selected already.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from time import perf_counter

import numpy as np
from scipy.special import chdtrc

from bestk._typing import Floats, Mask
from bestk.bqp.solution import Solution
from bestk.bqp.solvers import Effort
from bestk.information.block_information import BlockInformation
from bestk.information.constants import BlockConstants
from bestk.information.moments import ConditionalMoments
from bestk.information.synergy import Pair, pair_columns
from bestk.methods.method import Ints, Method, Solutions
from bestk.native.threads import threads

# The constants of ``method="auto"``.
DEFAULT_CONSTANTS = BlockConstants()

# The smallest p-value that is told from 0.
SMALLEST_PVALUE = 1e-300


def probability_informative(pvalues: Floats, odds_before: float) -> Floats:
    """The probability that a feature is informative, from its p-value.

    ``odds_before``: those of chance before the p-value is known. ``-e p log p`` bounds what it
    leaves of them (Sellke, Bayarri and Berger, "Calibration of p values for testing precise null
    hypotheses", The American Statistician 2001).
    """
    pvalues = np.maximum(pvalues, SMALLEST_PVALUE)
    below_1_over_e = np.minimum(pvalues, np.exp(-1.0))
    share_left = np.minimum(1.0, -np.e * pvalues * np.log(below_1_over_e))
    return np.asarray(1.0 / (1.0 + odds_before * share_left))


@dataclass(frozen=True)
class Step:
    """One feature that was selected."""

    feature: int
    gain: float
    """What it added to the information about the target, in nats; below 0: less than chance."""

    instead: "Step | None" = None
    """For the first feature of a pair: the best single feature, where there is no second place."""


class _Candidates:
    """What the features and pairs are worth for one target given those selected so far.

    Features come first, in their order, and then pairs, in the order in which they were added.
    """

    def __init__(
        self, information: BlockInformation, moments: ConditionalMoments, odds_of_chance: float
    ) -> None:
        """``odds_of_chance``: that a feature tells nothing, before it is measured."""
        self.constants = information.constants
        self.odds_of_chance = self.constants.odds_factor * odds_of_chance
        self.n_features = information.n_features
        self.moments = moments
        # The largest probability so far: a feature that was informative alone remains so.
        self.probability = np.zeros(self.n_features)
        self.largest_excess = np.full(self.n_features, -np.inf)
        self.gain_alone = np.empty(0)
        self._measure()
        self.gain_alone = np.maximum(self.gain, 0.0)

    def _measure(self) -> None:
        """Measure the gain of each block, and how many of its columns give it.

        Probabilities are raised where features have become clearer; pairs have theirs by a scan.
        """
        design = self.moments.design
        cost = self.constants.parameter_cost / (2.0 * design.effective_rows)
        values = self.moments.information()
        best, self.gain = values.best_prefixes(cost)
        self.columns_used = best - values.first + 1
        best_of_features = best[: self.n_features]
        statistics = 2.0 * design.effective_rows * values.information[best_of_features]
        self._update_probability(statistics, values.degrees[best_of_features])

    def _update_probability(self, statistics: Floats, degrees: Floats) -> None:
        """Raise the probability of features whose statistic is larger than it ever was.

        Statistics of unequal degrees of freedom are compared by what they have above their mean.
        """
        excess = statistics - degrees
        larger = np.flatnonzero(excess > self.largest_excess)
        self.largest_excess[larger] = excess[larger]
        pvalues = chdtrc(degrees[larger], np.maximum(statistics[larger], 0.0))
        probability = probability_informative(pvalues, self.odds_of_chance)
        self.probability[larger] = np.maximum(self.probability[larger], probability)

    def worth(self, pair_probability: Floats) -> Floats:
        """What each feature, and then each pair, is worth."""
        probability = np.concatenate([self.probability, pair_probability])
        least = self.constants.redundant_share * self.gain_alone
        return np.asarray(probability * np.maximum(self.gain, least))

    def select(self, candidate: int) -> None:
        """Condition on the block of a feature or a pair."""
        design = self.moments.design
        used = int(self.columns_used[candidate])
        self.moments.condition_on_block(design.columns_of(candidate)[:used])
        self._measure()


class ForwardSelection:
    """Selects features one by one, or pair by pair, for one target or for several together."""

    def __init__(self, information: BlockInformation, k: int, include: Sequence[int]) -> None:
        """Nothing is selected yet; ``include``: features to select before all others."""
        self.information = information
        self.k = k
        self.include = list(include)
        self.steps: list[Step] = []
        self.n_features = information.n_features
        self.selected = np.zeros(self.n_features, bool)
        if k > 1:
            candidates = find_pairs(information)
        else:
            candidates = FeaturesAndPairs([], information.moments())
        self.pairs = candidates.pairs
        self.targets = [
            _Candidates(information, moments, odds)
            for moments, odds in zip(
                candidates.moments, information.odds_of_chance.tolist(), strict=True
            )
        ]
        self.totals = np.zeros(len(self.targets))
        gains = np.sum([target.gain for target in self.targets], axis=0)
        # No single feature adds more than this: a bound of the objective of one feature.
        self.largest_single_gain = max(0.0, float(gains[: self.n_features].max()))

    def run(self) -> list[Step]:
        """Select k features."""
        while len(self.steps) < self.k:
            if len(self.steps) < len(self.include):
                self._select_single(self.include[len(self.steps)])
                continue
            worth = self._worth_for_each_place()
            best = int(np.argmax(worth))
            if best < self.n_features:
                self._select_single(best)
            else:
                self._select_pair(best, worth)
        return self.steps

    def _worth_for_each_place(self) -> Floats:
        """Worth for each place that a candidate takes; -inf where it takes none or too many."""
        n_features = self.n_features
        pvalues = np.array([pair.pvalue for pair in self.pairs])
        pair_probability = probability_informative(pvalues, odds_before=1.0)
        worth = self._join(np.array([target.worth(pair_probability) for target in self.targets]))
        places = np.ones(len(worth))
        places[:n_features][self.selected] = 0
        for number, pair in enumerate(self.pairs, n_features):
            places[number] = 2 - int(self.selected[pair.first]) - int(self.selected[pair.second])
        # Those that add nothing, now and alone, are ordered by how much they lack, and not by their
        # places in the table.
        gains = np.sum([target.gain for target in self.targets], axis=0)
        worth = np.where(worth > 0, worth, np.minimum(gains, 0.0))
        fits = (places > 0) & (places <= self.k - len(self.steps))
        return np.where(fits, worth / np.maximum(places, 1), -np.inf)

    def _join(self, worth: Floats) -> Floats:
        """What candidates are worth for all targets; ``worth`` has one row for each of them."""
        if len(worth) == 1:
            return np.asarray(worth[0])
        if not self.information.worst:
            return np.asarray(worth.sum(axis=0))
        # The logarithm of 1 + 100 v, with v relative to the entropy of a target: a target of which
        # little is known gains most.
        entropies = [min(target.entropy, 1.0) for target in self.information.targets]
        units = 100.0 / np.array(entropies)[:, np.newaxis]
        before = self.totals[:, np.newaxis]
        logarithms = np.log1p(units * (before + worth)) - np.log1p(units * before)
        return np.asarray(logarithms.sum(axis=0))

    def _gain(self, candidate: int) -> float:
        """What a candidate adds to the information about all targets."""
        return float(sum(target.gain[candidate] for target in self.targets))

    def _select_single(self, feature: int) -> None:
        self.steps.append(Step(feature, self._gain(feature)))
        self._condition_on(feature, [feature])

    def _select_pair(self, candidate: int, worth: Floats) -> None:
        pair = self.pairs[candidate - self.n_features]
        new = [j for j in (pair.first, pair.second) if not self.selected[j]]
        new.sort(key=lambda j: (-self.targets[0].gain_alone[j], j))
        single = int(np.argmax(worth[: self.n_features]))
        alone = Step(single, self._gain(single))
        gain = self._gain(candidate) / len(new)
        for place, feature in enumerate(new):
            instead = alone if len(new) == 2 and place == 0 else None
            self.steps.append(Step(feature, gain, instead))
        self._condition_on(candidate, new)

    def _condition_on(self, candidate: int, features: list[int]) -> None:
        """Condition on a candidate that has these features."""
        self.selected[features] = True
        for number, target in enumerate(self.targets):
            self.totals[number] += max(0.0, target.gain[candidate])
        if len(self.steps) == self.k:
            return
        for target in self.targets:
            target.select(candidate)


@dataclass(frozen=True)
class FeaturesAndPairs:
    """The features of a table, and then pairs of them, as blocks to choose from."""

    pairs: list[Pair]

    moments: list[ConditionalMoments]
    """Their covariances with nothing selected, for each target.

    The design of the moments has the features, and then a further one for each pair.
    """

    @property
    def n_features(self) -> int:
        """The number of features, without pairs."""
        return self.moments[0].design.n_features - len(self.pairs)

    def keep(self, kept: Mask) -> "FeaturesAndPairs":
        """All features, and some of the pairs."""
        places = np.append(np.arange(self.n_features), self.n_features + np.flatnonzero(kept))
        return FeaturesAndPairs(
            pairs=list(compress(self.pairs, kept)),
            moments=[moments.select_features(places) for moments in self.moments],
        )


def find_pairs(information: BlockInformation) -> FeaturesAndPairs:
    """The features, and the pairs of them that have synergy."""
    search = information.search
    pairs = [] if search is None else search.pairs
    if not pairs or search is None:
        return FeaturesAndPairs([], information.moments())
    design = information.design
    columns, blocks = pair_columns(design, search, pairs)
    with_pairs = design.with_columns(columns, blocks)
    moments = []
    for target, explained_of_features in zip(
        information.targets, information.explained, strict=True
    ):
        explained = np.hstack([explained_of_features, target.explain(columns, design.unit)])
        moments.append(ConditionalMoments(with_pairs, target, information.noise, explained))
    candidates = FeaturesAndPairs(pairs, moments)
    kept = pairs_that_tell_more(information, candidates)
    if design.adjustment is not None:
        # Pairs are found in counts, in which covariates are not adjusted for.
        pvalues = pvalues_of_pairs(candidates, search.table.n_features)
        kept &= pvalues < information.constants.added_pvalue
        adjusted_pairs = [
            replace(pair, pvalue=max(pair.pvalue, pvalue))
            for pair, pvalue in zip(pairs, pvalues.tolist(), strict=True)
        ]
        candidates = replace(candidates, pairs=adjusted_pairs)
    return candidates.keep(kept)


def pairs_that_tell_more(information: BlockInformation, candidates: FeaturesAndPairs) -> Mask:
    """Whether what pairs add beside both features tells a target more than it costs."""
    cost = information.constants.parameter_cost / (2.0 * information.design.effective_rows)
    tells_more = np.zeros(len(candidates.pairs), bool)
    for moments in candidates.moments:
        synergy, degrees = _beside_both(moments, candidates.pairs)
        tells_more |= synergy > cost * degrees
    return tells_more


def pvalues_of_pairs(candidates: FeaturesAndPairs, n_table: int) -> Floats:
    """How often chance makes products tell as much beside both features, in any pair of a table.

    For any of the targets. ``n_table``: the number of columns of the table, of which all pairs were
    looked at.
    """
    n_pairs = n_table * (n_table - 1) / 2
    pvalues = np.ones(len(candidates.pairs))
    for moments in candidates.moments:
        design = moments.design
        without_noise = ConditionalMoments(design, moments.target, 0.0, moments.explained)
        synergy, degrees = _beside_both(without_noise, candidates.pairs)
        statistics = 2.0 * design.effective_rows * np.maximum(synergy, 0.0)
        pvalues = np.minimum(pvalues, n_pairs * chdtrc(degrees, statistics))
    return pvalues


def _beside_both(moments: ConditionalMoments, pairs: Sequence[Pair]) -> tuple[Floats, Floats]:
    """The information of the products of pairs beside their features, and its parameters.

    The pairs are the last features of the design of the moments. A block has the columns of both
    features first.
    """
    sizes = np.diff(moments.design.starts)
    size_of_first = sizes[[pair.first for pair in pairs]]
    size_of_second = sizes[[pair.second for pair in pairs]]
    values = moments.information()
    last = values.last[-len(pairs) :]
    last_single = values.first[-len(pairs) :] + size_of_first + size_of_second - 1
    synergy = values.information[last] - values.information[last_single]
    return synergy, values.degrees[last] - values.degrees[last_single]


@dataclass(frozen=True)
class BlockForward(Method):
    """Block forward selection: add what tells most about the target given the selected features.

    A feature is a block of columns: a number is its normal score and, where it adds something, the
    square of the score; a category is indicators of its levels; missing values are an indicator.
    What blocks tell about the target is the information of jointly normal variables, less a cost
    for each parameter, times the probability that the feature is informative at all. A pair of
    features with significant synergy is a block, too.
    """

    constants: BlockConstants = DEFAULT_CONSTANTS

    information = "blocks"

    def pick(
        self, entropies: BlockInformation, ks: Ints, include: Ints, effort: Effort
    ) -> Solutions:
        """Pick features for every k of a list; the steps of the largest serve all."""
        start = perf_counter()
        with threads(entropies.n_jobs):
            selection = ForwardSelection(entropies, max(ks), include)
            selection.run()
        seconds = (perf_counter() - start) / len(ks)
        return [_solution(selection, k, seconds) for k in ks]


def _solution(selection: ForwardSelection, k: int, seconds: float) -> Solution:
    """The first k features; the first of a pair gives way if its second is not there."""
    steps = selection.steps[:k]
    n_included = len(selection.include)
    last = steps[-1]
    if last.instead is not None:
        steps = [*steps[:-1], last.instead]
    support = np.array([step.feature for step in steps], np.int64)
    gains = np.array([step.gain for step in steps])
    contribution = np.maximum(gains, 0.0)
    value = float(contribution.sum())
    useful = count_above_chance(gains)
    warnings: tuple[str, ...] = ()
    if max(useful, n_included) < len(steps) and useful > 0:
        first = ordinal(max(useful, n_included) + 1)
        warnings = (f"from the {first} feature on, nothing is added above chance; use a smaller k",)
    upper_bound = np.inf
    if len(steps) in {selection.n_features, n_included}:  # there is one choice only
        upper_bound = value
    elif len(steps) == 1:
        upper_bound = selection.largest_single_gain
    return Solution(
        support,
        value,
        upper_bound,
        "forward",
        seconds,
        details={
            "contribution": contribution,
            "bound": "greedy",
            "above_chance": useful,
        },
        warnings=warnings,
    )


def ordinal(number: int) -> str:
    """A number as an ordinal.

    Examples
    --------
    >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    last_two = number % 100
    suffixes = {1: "st", 2: "nd", 3: "rd"}
    suffix = "th" if 10 < last_two < 20 else suffixes.get(number % 10, "th")
    return f"{number}{suffix}"


def count_above_chance(gains: Floats) -> int:
    """How many features come before those of which none adds anything above chance."""
    adding = np.flatnonzero(gains > 0)
    return int(adding[-1]) + 1 if len(adding) else 0
