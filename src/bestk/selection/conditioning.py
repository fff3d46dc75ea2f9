"""What columns gain given the selected ones: conditional variances, redundancy and synergy."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestk._typing import Floats, Indices
from bestk.information.entropies import SMALLEST_VARIANCE, subtract_doubt
from bestk.native.threads import spans

COPY = 1.0 - 1e-9  # squared correlation of columns that are copies
KEPT = 1e-3  # of its relevance, by a column that others make redundant
STEP_ENTRIES = 2**15  # of rows of selected columns that stay in the cache


class _Stack:
    """Arrays of one shape, in the order in which they came."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._room, self._n = np.empty((8, *shape)), 0

    @property
    def items(self) -> Floats:
        """All arrays."""
        return self._room[: self._n]

    def push(self, item: Floats) -> None:
        """Add an array."""
        if self._n == len(self._room):
            self._room = np.concatenate([self._room, np.empty_like(self._room)])
        self._room[self._n] = item
        self._n += 1


class State:
    """Variances of columns given the selected ones, and limits of gains, of tables of one shape."""

    def __init__(self, forwards: Sequence[Any]) -> None:
        self._forwards, self._each = forwards, np.arange(len(forwards))
        n, self._noise = forwards[0].covariances.n_features, forwards[0].noise
        self._starts = n * np.arange(2 * len(forwards)).reshape(-1, 2, 1)
        self._certain = np.array([forward.certain for forward in forwards])
        self._least, self._is_certain = KEPT * self._certain, self._certain > 0
        self._relevance = np.array([forward.relevance for forward in forwards])
        chance = np.array([forward.chance for forward in forwards])
        self._chance = np.maximum(chance, SMALLEST_VARIANCE)
        self._alone = np.array([forward.variances for forward in forwards])  # in total, within y
        self._spread = self._alone[:, 0] - self._noise
        self._variances, self._gaussian = self._alone.copy(), _half_log(self._alone)
        shape = self._certain.shape
        self._limit, self._selected = np.full(shape, np.inf), np.zeros(shape, bool)
        self._rows = _Stack(self._alone.shape)  # of each selected column
        self._synergy = np.zeros(shape)  # the best with a selected column
        self._synergies = _Stack(shape)  # of each selected column that has any,
        self._bests = _Stack((shape[0], 1))  # and its best so far

    def gains(self) -> Floats:
        """What each column of each table gains; -inf if it is selected."""
        change = _half_log(np.maximum(self._variances, SMALLEST_VARIANCE))
        change -= self._gaussian  # negative: redundancy; positive: others remove noise from it
        raised = subtract_doubt(self._relevance + np.maximum(change, 0.0), self._chance)
        alone = np.where(change > 0, raised, self._certain + change)
        alone = np.maximum(np.minimum(alone, self._limit), self._least)
        gains = np.where(self._is_certain, alone, raised)
        if len(self._synergies.items):
            more = self._synergies.items - self._bests.items
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
        rest[self._each, :, items] += self._noise
        places = self._starts + items[:, np.newaxis, np.newaxis]  # in total and within y
        self._subtract_explained(rest, places)
        rest /= np.sqrt(np.maximum(self._variances.take(places), SMALLEST_VARIANCE))
        self._variances -= rest * rest
        self._rows.push(rest)
        own = self._each[:, np.newaxis], items[:, np.newaxis]
        if len(bests := self._bests.items):
            np.maximum(bests, self._synergies.items[:, *own], out=bests)
        if synergy.any():
            self._synergies.push(synergy)
            self._bests.push(self._synergy[own])
            np.maximum(self._synergy, synergy, out=self._synergy)
        if shared.any():
            left = np.where(shared > 0, self._certain - shared, np.inf)
            np.minimum(self._limit, left, out=self._limit)
        self._selected[own] = True

    def _subtract_explained(self, rest: Floats, places: Indices) -> None:
        """Subtract from covariances what each selected column explains, one after the other."""
        rows = self._rows.items
        if not len(rows):
            return
        own = rows.reshape(len(rows), -1)[:, places]
        for part in spans(rest.shape[-1], max(1, STEP_ENTRIES // own.size)):
            here = (..., slice(*part))
            terms = np.concatenate([rest[here][np.newaxis], own * rows[here]])
            np.subtract.reduce(terms, axis=0, out=rest[here])


def _half_log(variances: Floats) -> Floats:
    """Gaussian information from variances in total and within y."""
    return np.asarray(0.5 * np.log(variances[..., 0, :] / variances[..., 1, :]))
