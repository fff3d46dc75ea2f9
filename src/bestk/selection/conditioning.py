"""What columns gain given the selected ones: conditional variances, redundancy and synergy."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestk._typing import Floats, Indices
from bestk.information.entropies import SMALLEST_VARIANCE, subtract_doubt
from bestk.native import kernels

COPY = 1.0 - 1e-9  # squared correlation of columns that are copies
KEPT = 1e-3  # of its relevance, by a column that others make redundant


class State:
    """Variances of columns given up to k selected, and limits of gains, of tables of one shape."""

    def __init__(self, forwards: Sequence[Any], k: int) -> None:
        self._forwards, self._each = forwards, np.arange(len(forwards))
        self._noise = forwards[0].noise
        self._certain = np.array([forward.certain for forward in forwards])
        self._least, self._is_certain = KEPT * self._certain, self._certain > 0
        self._relevance = np.array([forward.relevance for forward in forwards])
        self._curved = np.array([forward.curved for forward in forwards])
        self._shared_curve = np.zeros_like(self._curved)  # the most with a selected column
        chance = np.array([forward.chance for forward in forwards])
        self._chance = np.maximum(chance, SMALLEST_VARIANCE)
        self._alone = np.array([forward.variances for forward in forwards])  # in total, within y
        self._spread = self._alone[:, 0] - self._noise
        self._variances, self._gaussian = self._alone.copy(), _half_log(self._alone)
        shape = self._certain.shape
        self._limit, self._selected = np.full(shape, np.inf), np.zeros(shape, bool)
        self._rows, self._n_rows = np.empty((k, *self._alone.shape)), 0  # of selected columns
        self._synergy = np.zeros(shape)  # the best with a selected column
        self._synergies, self._n_synergies = np.empty((k, *shape)), 0  # of those that have any,
        self._bests = np.empty((k, shape[0], 1))  # and the best of each so far

    def gains(self) -> Floats:
        """What each column of each table gains; -inf if it is selected."""
        change = _half_log(np.maximum(self._variances, SMALLEST_VARIANCE))
        change -= self._gaussian  # negative: redundancy; positive: others remove noise from it
        relevance = self._relevance - self._shared_curve
        raised = subtract_doubt(relevance + np.maximum(change, 0.0), self._chance)
        alone = np.where(change > 0, raised, self._certain - self._shared_curve + change)
        alone = np.maximum(np.minimum(alone, self._limit), self._least)
        gains = np.where(self._is_certain, alone, raised)
        if n := self._n_synergies:
            more = self._synergies[:n] - self._bests[:n]
            gains += 0.5 * (self._synergy + np.maximum(more, 0.0, out=more).sum(axis=0))
        gains[self._selected] = -np.inf
        return gains

    def add(self, items: Indices) -> None:
        """Condition on a column of each table."""
        each = list(zip(self._forwards, items.tolist(), strict=True))
        shared, synergy = np.array([own.effects(j) for own, j in each]).swapaxes(0, 1)
        rest = np.array([own.covariances.column(j) for own, j in each])
        # a copy adds nothing, also where what it shares is within the limit of chance
        spread = COPY * self._spread[self._each, items, np.newaxis] * self._spread
        self._limit[rest[:, 0] ** 2 > spread] = 0.0
        if self._curved[self._each, items].any():
            self._share_curves(items, rest[:, 0] ** 2)
        rest[self._each, :, items] += self._noise
        rows, n = self._rows[: self._n_rows], rest.shape[-1]
        kernels.condition(
            rows, len(rows), rest.size // n, n, items, SMALLEST_VARIANCE, rest, self._variances
        )
        self._rows[self._n_rows] = rest
        self._n_rows += 1
        own = self._each[:, np.newaxis], items[:, np.newaxis]
        if known := self._n_synergies:
            bests = self._bests[:known]
            np.maximum(bests, self._synergies[:known, *own], out=bests)
        if synergy.any():
            self._synergies[known], self._bests[known] = synergy, self._synergy[own]
            self._n_synergies += 1
            np.maximum(self._synergy, synergy, out=self._synergy)
        if shared.any():
            left = np.where(shared > 0, self._certain - shared, np.inf)
            np.minimum(self._limit, left, out=self._limit)
        self._selected[own] = True

    def _share_curves(self, items: Indices, covariances: Floats) -> None:
        """Note what squares of columns share with those of selected ones about y.

        Squares of normal columns of correlation r have correlation ``q = r**2``. A square whose
        information is that of a correlation e with y keeps that of ``(e - q d) / sqrt(1 - q**2)``
        beside one of correlation d.
        """
        own = self._each[:, np.newaxis], items[:, np.newaxis]
        spread = np.maximum(self._spread[own] * self._spread, SMALLEST_VARIANCE)
        q = np.minimum(covariances / spread, COPY)
        left = np.maximum(np.sqrt(self._curved) - q * np.sqrt(self._curved[own]), 0.0)
        shared = self._curved - left**2 / (1.0 - q**2)
        np.maximum(self._shared_curve, shared, out=self._shared_curve)


def _half_log(variances: Floats) -> Floats:
    """Gaussian information from variances in total and within y."""
    return np.asarray(0.5 * np.log(variances[..., 0, :] / variances[..., 1, :]))
