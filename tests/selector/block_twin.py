"""Block forward selection, slowly: dense covariances, and a determinant for each question."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2, norm, rankdata

from bestk.information.constants import BlockConstants
from bestk.information.synergy import Pair

# A column of less variance, or of which others leave less, is rounding.
SMALLEST_VARIANCE = 1e-6


def standardized(column):
    """Mean 0 and variance 1; constant columns are 0."""
    centered = column - column.mean()
    spread = centered.std()
    return centered / spread if spread > SMALLEST_VARIANCE else np.zeros(len(column))


def normal_scores(values, largest):
    """Normal quantiles of (rank - 1/2) / n of what is known; missing values have the mean, 0."""
    is_known = ~np.isnan(values)
    ranks = rankdata(values[is_known])
    quantiles = np.clip(norm.ppf((ranks - 0.5) / is_known.sum()), -largest, largest)
    scores = np.zeros(len(values))
    scores[is_known] = quantiles - quantiles.mean()
    return scores / scores.std() if scores.std() > 0 else scores


def target_columns(y, is_number, largest):
    """Uncorrelated columns of mean square 1 that span the target, and its number of parameters."""
    if is_number:
        return normal_scores(y, largest)[np.newaxis], 1
    classes, sizes = np.unique(y, return_counts=True)
    roots = np.sqrt(sizes / len(y))
    indicators = (y == classes[:, np.newaxis]) / roots[:, np.newaxis]
    return indicators, len(classes) - 1


@dataclass
class Twin:
    """A table as block columns, and what they tell about a target."""

    constants: BlockConstants
    basis: np.ndarray
    degrees: int

    def __post_init__(self):
        self.n_rows = self.basis.shape[1]
        self.columns = np.empty((0, self.n_rows))
        self.blocks = []
        self.has_prefixes = []
        self.parameters = np.empty(0)

    @classmethod
    def of(cls, X, y, *, categorical=(), is_number=False, constants=None):
        """The blocks of the columns of a matrix; those of ``categorical`` are codes."""
        constants = constants or BlockConstants()
        basis, degrees = target_columns(y, is_number, constants.largest_score)
        twin = cls(constants, basis, degrees)
        for j, values in enumerate(X.T):
            if j in categorical:
                twin.add_block(twin.category(values), has_prefixes=False)
            else:
                twin.add_block(*twin.number(values), has_prefixes=True)
        return twin

    def add_block(self, columns, parameters=None, *, has_prefixes, members=()):
        """A feature with these columns, or a pair with these and the blocks of its members."""
        parameters = np.ones(len(columns)) if parameters is None else parameters
        self.parameters = np.append(self.parameters, parameters)
        new = np.arange(len(self.columns), len(self.columns) + len(columns))
        self.columns = np.concatenate([self.columns, columns])
        self.blocks.append(np.concatenate([*(self.blocks[j] for j in members), new]).astype(int))
        self.has_prefixes.append(has_prefixes)

    def explained(self, columns):
        """Covariances of columns with those of the target."""
        return np.atleast_2d(columns) @ self.basis.T / self.n_rows

    def number(self, values):
        """The score of a number, and what else says more about the target; and their parameters."""
        scores = normal_scores(values, self.constants.largest_score)
        block = [scores]
        missing = np.isnan(values)
        if self.constants.min_level_rows <= missing.sum() < self.n_rows:
            block.append(standardized(missing))
        curve = self.curve(scores, missing)
        if curve is not None:
            block.append(curve)
        parameters = [1.0] * len(block)
        means, n_fitted = self.bins(scores, curve)
        parameters += [n_fitted / max(1, len(means))] * len(means)
        return np.array([*block, *means]), parameters

    def curve(self, scores, missing):
        """What is left of the square by a line in the score, if it is worth its parameters."""
        known = ~missing
        square = np.minimum(np.abs(scores), self.constants.largest_score) ** 2
        square = np.where(known, square - square[known].mean(), 0.0)
        square = square - scores * (square @ scores) / max(scores @ scores, 1.0)
        if square @ square / self.n_rows < 2.5e-3:
            return None
        curve = standardized(square)
        both = np.array([scores, curve])
        total = both @ both.T / self.n_rows
        explained = self.explained(both)
        within = total - explained @ explained.T
        information = 0.5 * np.log(within[0, 0] / np.linalg.det(within))
        cost = self.constants.parameter_cost * self.degrees / (2 * self.n_rows)
        return curve if information > cost else None

    def bins(self, scores, curve):
        """The mean target in bins, if it shows more than score and curve; and its parameters."""
        n_bins = min(self.constants.curve_bins, self.n_rows // 20)
        n_bins -= 1 - n_bins % 2
        if n_bins < 5:
            return [], 0
        limits = norm.ppf(np.arange(1, n_bins) / n_bins)
        place = np.searchsorted(limits, scores, side="right")
        smooth = [scores] if curve is None else [scores, curve]
        trace = -1.0 if self.degrees < len(self.basis) else 0.0
        means = np.zeros((len(self.basis), self.n_rows))
        for bin_number in np.unique(place):
            inside = place == bin_number
            sums = self.basis[:, inside].sum(axis=1)
            trace += (sums**2).sum() / inside.sum() / self.n_rows
            means[:, inside] = (sums / inside.sum())[:, np.newaxis]
        trace -= (self.explained(np.array(smooth)) ** 2).sum()
        n_fitted = len(np.unique(place)) - 1 - len(smooth)
        statistic = self.n_rows * max(trace, 0.0)
        if n_fitted <= 0:
            return [], 0
        if chi2.sf(statistic, n_fitted * self.degrees) >= self.constants.added_pvalue:
            return [], 0
        return [standardized(mean) for mean in means[: self.degrees]], n_fitted

    def category(self, codes):
        """Indicators of the frequent levels, but for the rarest where all are frequent."""
        levels, counts = np.unique(codes, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        order = order[counts[order] >= self.constants.min_level_rows][: self.constants.max_levels]
        if len(order) == len(levels):
            order = order[:-1]
        return np.array([standardized(codes == level) for level in levels[order]])

    def products(self, first, second):
        """Products of the centered indicators of all bins but the first of two features."""
        columns = []
        for a in np.unique(first)[1:]:
            for b in np.unique(second)[1:]:
                in_a = (first == a) - np.mean(first == a)
                in_b = (second == b) - np.mean(second == b)
                columns.append(standardized(in_a * in_b))
        return np.array(columns)

    @property
    def noise(self):
        """The variance of the noise of every column."""
        return self.constants.ridge + self.constants.ridge_rows / self.n_rows

    def covariances(self):
        """Of all block columns, in total and given the target, with their noise."""
        total = self.columns @ self.columns.T / self.n_rows
        explained = self.explained(self.columns)
        within = total - explained @ explained.T
        noise = self.noise * total**3
        return total + noise, within + noise

    def information(self, block, given):
        """Of the first 1, 2, ... columns of a block about the target given other columns."""
        total, within = self.covariances()
        gains = []
        for place, column in enumerate(block):
            before = [*given, *block[:place]]
            ratio = left_over(total, column, before) / left_over(within, column, before)
            gains.append(0.5 * np.log(ratio))
        return np.cumsum(gains)


def left_over(covariances, column, others):
    """The variance of a column given others; 1 where they determine it."""
    if column in others:
        return 1.0
    variance = _variance_given(covariances, column, others)
    return variance if variance > SMALLEST_VARIANCE else 1.0


def _variance_given(covariances, column, others):
    """The variance of a column given others, of which some may determine each other."""
    independent = []
    for other in others:
        if _variance(covariances, other, independent) > SMALLEST_VARIANCE:
            independent.append(other)
    return _variance(covariances, column, independent)


def _variance(covariances, column, others):
    """A ratio of determinants."""
    with_column = [*others, column]
    large = np.linalg.slogdet(covariances[np.ix_(with_column, with_column)])
    if large[0] <= 0:
        return 0.0
    small = np.linalg.slogdet(covariances[np.ix_(others, others)])[1] if others else 0.0
    return np.exp(large[1] - small)


def odds_of_chance(twin):
    """How many features tell nothing, for one that does: half of these have a p-value above 1/2."""
    n_features = len(twin.blocks)
    n_unlikely = 0
    for block, has_prefixes in zip(twin.blocks, twin.has_prefixes, strict=True):
        information = twin.information(block, [])
        degrees = twin.degrees * np.cumsum(twin.parameters[block])
        gains = information - twin.constants.parameter_cost * degrees / (2 * twin.n_rows)
        last = int(np.argmax(gains)) if has_prefixes else len(gains) - 1
        statistic = 2 * twin.n_rows * max(information[last], 0.0)
        n_unlikely += chi2.sf(statistic, degrees[last]) > 0.5
    n_informative = max(1.0, n_features - 2.0 * (n_unlikely + 1))
    return max(1.0, n_features / n_informative - 1.0)


def probability(pvalue, odds_before):
    """What a p-value leaves of the odds, by the bound of Sellke, Bayarri and Berger."""
    pvalue = max(pvalue, 1e-300)
    share_left = 1.0 if pvalue >= np.exp(-1) else min(1.0, -np.e * pvalue * np.log(pvalue))
    return 1 / (1 + odds_before * share_left)


def select_slowly(
    twin: Twin,
    k: int,
    pairs: Sequence[Pair] = (),
    levels: Callable[[int], np.ndarray] = lambda feature: np.empty(0),
):
    """The features, and what each adds; ``levels`` gives the bins of a feature in pairs."""
    n_features = len(twin.blocks)
    cost = twin.constants.parameter_cost / (2 * twin.n_rows)
    candidates = list(range(n_features))
    odds = twin.constants.odds_factor * odds_of_chance(twin)
    chances = {}
    excess = {}
    alone = {}
    members = {}
    selected, gains, given = [], [], []

    def measure(candidate):
        information = twin.information(twin.blocks[candidate], given)
        degrees = twin.degrees * np.cumsum(twin.parameters[twin.blocks[candidate]])
        worth = information - cost * degrees
        size = int(np.argmax(worth)) + 1 if twin.has_prefixes[candidate] else len(worth)
        return worth[size - 1], information[size - 1], degrees[size - 1], size

    def add(new_pairs):
        for pair in new_pairs:
            both = (pair.first, pair.second)
            candidate = len(twin.blocks)
            products = twin.products(*map(levels, both))
            twin.add_block(products, has_prefixes=False, members=both)
            # Nothing is selected here: what the products add to the two features.
            information = twin.information(twin.blocks[candidate], [])
            synergy = information[-1] - information[-len(products) - 1]
            if synergy <= cost * twin.degrees * len(products):
                continue
            members[candidate] = both
            chances[candidate] = probability(pair.pvalue, 1)
            candidates.append(candidate)

    def missing(candidate):
        return [j for j in members.get(candidate, (candidate,)) if j not in selected]

    add(pairs if k > 1 else ())
    while len(selected) < k:
        worths = {}
        for candidate in candidates:
            gain, information, degrees, _ = measure(candidate)
            alone.setdefault(candidate, max(gain, 0.0))
            if candidate < n_features:
                statistic = 2 * twin.n_rows * information
                # It rises with the statistic's excess over what chance gives.
                if statistic - degrees > excess.get(candidate, -np.inf):
                    excess[candidate] = statistic - degrees
                    now = probability(chi2.sf(max(statistic, 0), degrees), odds)
                    chances[candidate] = max(now, chances.get(candidate, 0.0))
            places = len(missing(candidate))
            if 0 < places <= k - len(selected):
                least = twin.constants.redundant_share * alone[candidate]
                worth = chances[candidate] * max(gain, least) / places
                worths[candidate] = worth if worth > 0 else min(gain, 0.0)
        best = max(worths, key=lambda candidate: (worths[candidate], -candidate))
        gain, *_, size = measure(best)
        new = sorted(missing(best), key=lambda j: (-alone[j], j))
        selected += new
        gains += [gain / len(new)] * len(new)
        given += [c for c in twin.blocks[best][:size] if c not in given]
    return selected, gains
