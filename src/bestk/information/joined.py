"""Information about several targets: measures of the same columns with each are added up."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from bestk._typing import Floats
from bestk.information.entropies import Entropies, PairMeasures
from bestk.information.measures import Measure

# For the smallest of several objectives: information below this part of the entropy of a target
# counts nearly in proportion, and more of it counts less and less.
SMALL_PART = 0.01


@dataclass(frozen=True)
class JoinedEntropies(PairMeasures):
    """Entropies of the same columns with several targets."""

    parts: tuple[Entropies, ...]
    """Those with each target."""

    worst: bool
    """Whether the smallest objective of all targets counts, and not their sum."""

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.parts[0].n_features

    @property
    def is_discrete(self) -> bool:
        """Whether entropies are of counts, and so never negative."""
        return self.parts[0].is_discrete

    @property
    def of_targets(self) -> tuple[Entropies, ...]:
        """The entropies with each target."""
        return self.parts

    @property
    def units(self) -> Floats:
        """Factors of the objectives: the smallest is that relative to the entropy of a target."""
        return np.array([1.0 / part.y if self.worst else 1.0 for part in self.parts])

    def join(self, totals: Floats, gains: Floats) -> Floats:
        """What features add to the objective of all targets.

        Parameters
        ----------
        totals : array of shape (n_targets,)
            What the selected features have added to the objective of each target.
        gains : array of shape (n_targets, n_features)
            What each feature would add to that of each target.
        """
        if not self.worst:
            return np.asarray(gains.sum(axis=0))
        # The logarithm of 1 + 100 v, with v relative to the entropy of a target: a target of which
        # little is known gains most.
        units = self.units[:, np.newaxis]
        before = np.maximum(totals, 0.0)[:, np.newaxis]
        after = before + gains.clip(0.0)
        logarithms = np.log1p(units * after / SMALL_PART) - np.log1p(units * before / SMALL_PART)
        losses = units * np.minimum(gains, 0.0)
        return np.asarray((logarithms + losses).sum(axis=0))

    def mi(self) -> Floats:
        """The sum of ``I(xi; y)`` over targets."""
        return np.sum([part.mi() for part in self.parts], axis=0)

    def measure(
        self,
        measure: Measure,
        rows: Iterable[int] | None = None,
        columns: Iterable[int] | None = None,
        dtype: DTypeLike = np.float64,
        signed: bool = False,
    ) -> Floats:
        """The sum of a measure over targets."""
        of_targets = [part.measure(measure, rows, columns, dtype, signed) for part in self.parts]
        return np.sum(of_targets, axis=0)
