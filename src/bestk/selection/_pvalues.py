"""P-values of columns given their best partner, and by permutations of the target."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bestk._typing import Floats, Indices
from bestk.data.codes import Codes
from bestk.data.table import Table
from bestk.data.target import Target
from bestk.information.coding import PAIR_ROWS, pair_bins
from bestk.information.scan import DiscreteTable, scan_pairs
from bestk.selection.look import likelihood_pvalues

POOLED_TAIL = 20  # permuted values beyond which tails are extrapolated
MAX_PERMUTATIONS = 50
MAX_PERMUTED_WORK = 1e12  # pairs of columns times rows, in all permutations: a second or two


class InPairs(NamedTuple):
    """Each column given its best partner."""

    pvalues: Floats
    partners: Indices
    information: Floats  # I(xi; y | partner), in nats

    @classmethod
    def none(cls, n: int) -> "InPairs":
        """Columns without partners."""
        return cls(np.ones(n), np.full(n, -1), np.zeros(n))


def pair_pvalues(looks: Sequence[Codes], target: Target, backend: str = "auto") -> InPairs:
    """The smallest p-value of each column given a partner, times the number of looks at pairs."""
    found = [_look_at_pairs(DiscreteTable.of(codes, target, backend)) for codes in looks]
    pvalues, partners, information = map(np.stack, zip(*found, strict=True))
    best, every = pvalues.argmin(axis=0), np.arange(pvalues.shape[1])
    lowest = len(pvalues) * pvalues[best, every]
    return InPairs(lowest, partners[best, every], information[best, every])


def _look_at_pairs(table: DiscreteTable) -> InPairs:
    """P-values of each column given its best partner, times the number of partners.

    If xi is independent of xj and y, 2 m I(xi; y | xj) = 2 m I(xi; y) + 2 m interaction is
    chi-square. The best partner is sought among the columns of each number of levels.
    """
    kinds, groups = np.unique(table.levels, return_inverse=True)
    scan = scan_pairs(table.entropies, groups)
    given = np.maximum(table.entropies.mi() + scan.best, 0.0)  # of copies it is a rounding error
    degrees = np.outer(kinds, table.levels - 1) * (table.n_classes - 1)
    p = likelihood_pvalues(2 * table.n_samples * given, degrees)
    p[(kinds < 2)[:, np.newaxis] | (scan.partners < 0)] = np.inf  # constants are no partners
    best, every = p.argmin(axis=0), np.arange(len(groups))
    lowest = np.minimum(1.0, p[best, every]) * max(1, (table.levels > 1).sum() - 1)
    return InPairs(lowest, scan.partners[best, every], given[best, every])


def calibrate(p: Floats, null: Floats, tests: int) -> Floats:
    """P-values from the smaller of some tests: their share among those of permuted targets."""
    if not len(null):
        return np.minimum(1.0, tests * p)
    null = np.sort(null)
    share = (1 + np.searchsorted(null, p, side="right")) / (1 + len(null))
    edge = min(POOLED_TAIL, len(null)) - 1
    slope = (edge + 2) / (1 + len(null)) / max(null[edge], 1e-300)
    return np.where(p < null[edge], np.minimum(p * max(slope, tests), share), share)


def affordable_permutations(table: Table, n_classes: int, pairs: bool) -> int:
    """How often y is permuted if nobody says."""
    n, rows = table.n_features, table.n_samples + PAIR_ROWS
    cells = sum((bins - 1) ** 2 for bins in pair_bins(n, table.n_samples, n_classes))
    work = n * rows * (n * cells if pairs else PAIR_ROWS)
    return min(MAX_PERMUTATIONS, int(MAX_PERMUTED_WORK / work))
