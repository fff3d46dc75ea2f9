"""What every source of entropies can be asked for."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.information.backends._reductions import Scan, scan_tiles
from bestk.information.measures import Measure, Query


@dataclass(frozen=True)
class PickRule:
    """How features are scored while they are picked one by one: the struct PickRule of picks.c.

    Each pick says a number of every feature, the measure of the pair; what the picks say is
    gathered, and a score is ``relevance_weight * relevance + pair_weight * gathered``.
    """

    relevance_weight: float

    pair_weight: float

    largest_pair: float
    """What a pick says is at most this."""

    smallest_divisor: float
    """Quotients are of at least this."""

    takes_mean: bool
    """Whether the mean over the picks is taken of what they say."""

    takes_quotient: bool
    """Whether the score is relevance divided by what the picks say."""

    takes_minimum: bool
    """Whether the least is gathered of what the picks say, and not the sum."""

    def values(self) -> Floats:
        """The fields in the order of C; flags are 0 or 1."""
        return np.array(astuple(self), np.float64)


class PairSource(ABC):
    """Entropies of a table: of single features at once, of pairs when asked.

    A subclass sets the three attributes and writes ``fill``; all else follows from it. A source
    that has a quicker way to one of the other results overrides that method.
    """

    is_discrete: bool
    """Whether entropies are of counts, and not of densities."""

    singles: tuple[Floats, Floats, float]
    """H(x) and H(x, y) of each feature, and H(y), in nats."""

    copies: Floats
    """I(x; x') of each feature and a copy of it: H(x) where entropies are of counts."""

    @abstractmethod
    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``.

        ``out``: ``[row, column]``, of 32-bit or 64-bit floats.
        """

    def fill_tables(self, measure: Measure, width: int, out: Array) -> None:
        """Write the pairs of each table, where several stand side by side.

        Each table has ``width`` columns. ``out``: ``[feature, column of its table]``.
        """
        for start in range(0, len(out), width):
            features = np.arange(start, start + width)
            self.fill(Query(measure, features, features), out[start : start + width])

    def row_sums(self, query: Query) -> Floats | None:
        """Sums of a measure over all other features; None: add up what ``fill`` gives."""
        return None

    def pick(
        self, query: Query, rule: PickRule, relevance: Floats, k: int, given: Sequence[int]
    ) -> tuple[Indices, Floats] | None:
        """Select k features greedily: their places, those ``given`` first, and their scores.

        None: the caller asks for the rows that it needs. ``query``: what a pick says of a feature.
        """
        return None

    def scan(self, query: Query, groups: Indices, count: int) -> Scan:
        """The best partner of each feature in each group, and the ``count`` best pairs.

        ``query``: a symmetric measure of all pairs. ``groups``: the group of each feature.
        """
        return scan_tiles(self, query, groups, count)

    def rank(self, query: Query, order: Indices, count: int) -> tuple[Indices, Floats] | None:
        """The ``count`` pairs of the largest measure at [i, j], i before j in that order of all.

        And the measure of each, largest first; ties go to the lowest features. Each pair has the
        lower feature first, whichever comes first in the order. None: the caller counts the
        features in that order.
        """
        return None

    def mi_by_chance(self) -> Floats | None:
        """The mean of I(xi; y) over all permutations of y; None: it is taken from chi-square."""
        return None
