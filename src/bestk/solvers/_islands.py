"""Islands of the search: a population of choices, and the walk that improves its newest child."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bestk.native import kernels
from bestk.solvers._base import Floats

Masks = NDArray[np.uint8]
LOWEST = -np.finfo(np.float64).max
ROUNDING = 1e-13  # relative differences below this are none
CHOSEN, WALK_BEST, CHAMPION, POOL = range(4)  # rows of masks, as in tabu.c
VALUE, BEST, CROWN, WORTH = range(4)  # places in values
STEP, IDLE, N_TABU, BORN, YOUNG, SIZE, STALE, WAIT = range(8)  # places in counts


@dataclass(frozen=True)
class Island:
    """A population, the best choice it ever had, and the walk of its newest child.

    ``counts`` holds of the walk the steps made, those since its best, and the items under tabu;
    and the walks: ever, in this population, in the pool, since it changed, and since the champion
    did.
    """

    masks: Masks  # choice of the walk, its best one, the champion; then the pool
    gains: Floats  # Q_ii + 2 sum of Q_ij over the other chosen items j
    tabu: NDArray[np.int64]  # step at which the tabu on an item ends, or 0; items under tabu
    values: Floats  # of the choice of the walk, its best one, the champion; then of the pool
    counts: NDArray[np.int64]
    random: NDArray[np.uint64]

    @property
    def bests(self) -> list[tuple[float, Masks]]:
        """The champion and the best choice of the walk, each after its value."""
        values, masks = self.values, self.masks
        return [(values[CROWN], masks[CHAMPION]), (values[BEST], masks[WALK_BEST])]


@dataclass(frozen=True)
class Sea:
    """What all islands share."""

    Q: Floats
    least: Floats  # the least entry of each row of Q, off the diagonal
    k: int
    depth: int  # steps without a new best that end a walk
    patience: int  # walks without a new champion that end an island


def new_island(n: int, population: int, seed: int) -> Island:
    """An island without people."""
    return Island(
        masks=np.zeros((POOL + population, n), np.uint8),
        gains=np.zeros(n),
        tabu=np.zeros((2, n), np.int64),
        values=np.full(WORTH + population, LOWEST),
        counts=np.zeros(8, np.int64),
        random=np.array([seed], np.uint64),
    )


def advance(sea: Sea, isle: Island, starts: Masks, steps: int) -> None:
    """Let an island make so many steps more, or until its patience ends."""
    kernels.tabu_advance(
        sea.Q, sea.least, len(sea.Q), sea.k, sea.depth, sea.patience, steps,
        starts, len(starts), len(isle.masks) - POOL,
        isle.masks, isle.gains, isle.tabu, isle.values, isle.counts, isle.random,
    )  # fmt: skip


def least_entries(Q: Floats) -> Floats:
    """The least entry of each row, off the diagonal."""
    least = np.empty(len(Q))
    kernels.least_entries(Q, len(Q), least)
    return least
