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
from functools import cached_property

import numpy as np

from bestk._typing import Floats, Indices
from bestk.information import Covariances, Entropies
from bestk.information.measures import INTERACTION
from bestk.information.scan import MAX_PAIR_PVALUE, PAIR_ROWS
from bestk.native.threads import spans

NOISE, NOISE_ROWS = 0.03, 50.0  # variance of the noise of a column: 0.03 + 50 / rows
SMALLEST_VARIANCE = 1e-12
MAX_SCANNED_PAIRS = 2**23  # pairs whose synergy is estimated to find some to start from
MAX_STRIP_PAIRS = 2**20  # of them, where a scan of all pairs follows
MAX_STARTING_PAIRS = 64
SCAN_SECONDS = 1.0  # for a scan of all pairs, if there is no time limit
WORK_PER_SECOND = 1e12  # pairs of columns times rows, about, on two cores
STRIP_ROWS = 256


class Forward:
    """What features and pairs of a table are worth before any is selected."""

    def __init__(
        self, entropies: Entropies, covariances: Covariances, scan_seconds: float = SCAN_SECONDS
    ) -> None:
        self.entropies, self.covariances = entropies, covariances
        self._scan_seconds = scan_seconds
        self.noise = NOISE + NOISE_ROWS / covariances.n_samples
        n = covariances.n_features
        self.certain = entropies.certain_mi()
        levels = 5.0 if entropies.levels is None else entropies.levels
        columns = np.broadcast_to(levels + 1j * entropies.share, n)
        kinds, self._kind = np.unique(columns, return_inverse=True)
        # of a column of a kind with one of another
        self._chances = self._chance_of(kinds.real, kinds.imag)
        self.variances = np.array([covariances.total, covariances.within]) + self.noise

    def interaction(self, items: Sequence[int] | Indices) -> Floats:
        """The interaction of some columns with every column; of few columns all at once."""
        if self._are_few:
            return self._whole_interaction[items]
        return self.entropies.measure(INTERACTION, items, signed=True)

    @cached_property
    def _whole_interaction(self) -> Floats:
        return self.entropies.measure(INTERACTION, None, signed=True)

    @property
    def _are_few(self) -> bool:
        """Whether the interaction of every pair is measured to find some to start from."""
        return self.entropies.n_features**2 <= MAX_SCANNED_PAIRS

    def pair_synergies(self, pairs: list[tuple[int, int]]) -> Floats:
        """What the columns of each pair tell only together."""
        i, j = np.array(pairs, np.int64).reshape(-1, 2).T
        if self._are_few:
            return self._synergies_of(i, j, self._whole_interaction[i, j])
        (rows, at_i), (columns, at_j) = (np.unique(some, return_inverse=True) for some in (i, j))
        found = self.entropies.measure(INTERACTION, rows, columns, signed=True)
        return self._synergies_of(i, j, found[at_i, at_j])

    def _synergies_of(self, i: Indices, j: Indices, found: Floats) -> Floats:
        """What columns tell only together, by their interaction."""
        covariances = np.array(self.covariances.pairs(i, j))
        gaussian = gaussian_interaction(covariances, self.variances[:, j], self.variances[:, i])
        chance = self._chances[self._kind[i], self._kind[j]]
        return np.maximum(found - np.maximum(gaussian, 0.0) - chance, 0.0)

    def chance(self, j: int) -> Floats:
        """About the largest interaction that chance gives column j with any of the columns."""
        return self._chances[self._kind[j]][self._kind]

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
        strips = self._can_scan and not self._are_few
        most = min(MAX_SCANNED_PAIRS, MAX_STRIP_PAIRS) if strips else MAX_SCANNED_PAIRS
        items = np.arange(n)
        if not self._are_few:
            items = np.sort(np.argsort(-relevance, kind="stable")[: max(1, most // n)])
        partner, (best, found) = np.empty(len(items), np.int64), np.empty((2, len(items)))
        for first, last in spans(len(items), STRIP_ROWS):
            some, each = items[first:last], np.arange(last - first)
            strip = self.interaction(some)
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
        if known == self.entropies.n_features or not self._can_scan:
            return []
        found = self.entropies.find_synergy(MAX_STARTING_PAIRS)  # type: ignore[misc]
        return [(int(i), int(j)) for i, j in found.pairs[found.pvalues < MAX_PAIR_PVALUE]]

    @property
    def _can_scan(self) -> bool:
        size = self.covariances.n_features, self.covariances.n_samples
        return self.entropies.find_synergy is not None and can_scan(*size, self._scan_seconds)


def can_scan(n_features: int, n_samples: int, seconds: float) -> bool:
    """Whether a scan of all pairs of columns takes about so many seconds at most."""
    return n_features**2 * (n_samples + PAIR_ROWS) <= seconds * WORK_PER_SECOND


def gaussian_interaction(covariances: Floats, left: Floats, right: Floats) -> Floats:
    """The interaction of columns by their covariances and variances, in total and within y."""
    r = covariances**2 / (left * right)
    parts = np.log1p(-np.minimum(r, 1.0 - SMALLEST_VARIANCE))
    return np.asarray(0.5 * (parts[..., 0, :] - parts[..., 1, :]))
