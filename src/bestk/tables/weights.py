"""Weights of rows: importance weights, of which only the ratios count."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestk._cached import cached_property
from bestk._typing import Floats, Indices, Mask
from bestk.errors import DataError
from bestk.tables.frames import as_array

# Weights are multiples of 2**-40 of the largest one, or coarser where rows are so many that sums
# would not fit into 53 bits: their sums are exact, so that no order of the rows matters, and a
# constant factor is gone. A weight below half of that unit is 0.
WEIGHT_BITS = 40
EXACT_BITS = 52
# Shares of all weight closer than this, relative to it, are equal: weights such as 1/3 are rounded.
SAME_SHARE = 1e-9


@dataclass(frozen=True)
class RowWeights:
    """How much each row counts, relative to the row that counts most."""

    values: Floats
    """One for each row, from 0 to 1; not all equal."""

    @classmethod
    def of(cls, values: Floats) -> "RowWeights | None":
        """Weights of these ratios, finite and from 0 up; None where all rows count alike."""
        largest = values.max(initial=0.0)
        if not largest > 0:
            raise DataError("sample_weight is zero in all rows; give some row a weight above zero")
        if values.min(initial=largest) == largest:
            return None
        bits_of_sum = int(np.ceil(np.log2(len(values))))
        bits = min(WEIGHT_BITS, EXACT_BITS - bits_of_sum)
        units = np.rint(values / largest * 2.0**bits)
        return cls(units * 2.0**-bits)

    @cached_property
    def n_effective(self) -> int:
        """The effective number of rows, ``(sum w)^2 / sum w^2``, as a whole number."""
        return max(1, round(count_effective_rows(self.values)))

    @cached_property
    def scale(self) -> float:
        """Effective rows for each unit of weight."""
        return self.n_effective / float(self.values.sum())

    @property
    def in_rows(self) -> Floats:
        """The weights of the rows, such that their sum is the effective number of rows."""
        return self.values * self.scale

    @property
    def of_mean_one(self) -> Floats:
        """The weights of the rows, such that their sum is the number of rows that count."""
        n_counting = np.count_nonzero(self.values)
        return self.values * (n_counting / float(self.values.sum()))

    @property
    def counts(self) -> Mask:
        """Which rows count: those whose weight is not 0."""
        return self.values > 0

    def take(self, rows: Indices) -> "RowWeights | None":
        """The weights of some rows; None where all of these count alike."""
        return RowWeights.of(self.values[rows])


def read_weights(sample_weight: Any, n_samples: int) -> RowWeights | None:
    """Read a weight for each row; None where all rows count alike, or no weights are given."""
    if sample_weight is None:
        return None
    return RowWeights.of(check_weights(sample_weight, n_samples))


def check_weights(sample_weight: Any, n_samples: int) -> Floats:
    """A weight for each row, as given: finite numbers from 0 up, which may all be 0."""
    weights = as_array(sample_weight)
    if weights.shape != (n_samples,):
        raise DataError(
            f"sample_weight.shape == {weights.shape}, expected {(n_samples,)}: "
            "give a weight for each row"
        )
    casting: Any = "unsafe" if weights.dtype == object else "same_kind"
    try:
        weights = weights.astype(np.float64, casting=casting)
    except (TypeError, ValueError) as error:
        raise DataError(f"sample_weight holds {weights.dtype} values; give numbers") from error
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        raise DataError(
            f"sample_weight holds {weights[wrong][0]}; give finite numbers from 0 up, of which "
            "only the ratios count"
        )
    return weights


def count_effective_rows(weights: Floats) -> float:
    """(sum w)^2 / sum w^2: the equally weighted rows that would give estimates as certain."""
    total = float(weights.sum())
    return total * total / float(weights @ weights)


def effective_rows(weights: RowWeights | None, n_samples: int) -> int:
    """The effective number of rows; all of them where they count alike."""
    return n_samples if weights is None else weights.n_effective


def first_with_shares(up_to: Floats, n_bins: int) -> Indices:
    """The first places where sums that rise reach 1, 2, ... of ``n_bins`` parts of the last one."""
    wanted = np.arange(1, n_bins) * (up_to[-1] / n_bins)
    lowest = wanted * (1.0 - SAME_SHARE)
    return np.asarray(np.searchsorted(up_to, lowest))
