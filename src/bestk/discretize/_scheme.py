"""A column cut into intervals, each of which knows the best place for its next cut."""

from typing import NamedTuple

import numpy as np

from bestk._kernels import kernel
from bestk._sorting import Floats, Ints, Runs, midpoint

TIE = 1e-12  # scores closer than this, relative to their scale, are equal


class Scheme(NamedTuple):
    """Interval ``i`` holds the values ``edge[i]:edge[i + 1]`` of the sorted column.

    Its best cut, ``cut[i]``, parts value ``cut[i] - 1`` from the next and is worth ``gain[i]``
    (``-inf`` if there is none to make). The scores and the counts are room for finding it.
    """

    edge: Ints
    cut: Ints
    gain: Floats
    score: Floats
    score_right: Floats
    left: Ints
    right: Ints


@kernel
def new_scheme(n_samples: int, n_classes: int) -> Scheme:
    """Make room for as many intervals as there are samples."""
    return Scheme(
        np.empty(n_samples + 2, np.int64),
        np.empty(n_samples + 1, np.int64),
        np.empty(n_samples + 1, np.float64),
        np.empty(n_samples + 1, np.float64),
        np.empty(n_samples + 1, np.float64),
        np.empty(n_classes, np.int64),
        np.empty(n_classes, np.int64),
    )


@kernel
def split(scheme: Scheme, n_bins: int, i: int) -> None:
    """Make the best cut of interval ``i``; the gains of ``i`` and ``i + 1`` become stale."""
    for t in range(n_bins, i, -1):
        scheme.edge[t + 1] = scheme.edge[t]
        scheme.cut[t] = scheme.cut[t - 1]
        scheme.gain[t] = scheme.gain[t - 1]
    scheme.edge[i + 1] = scheme.cut[i]


@kernel
def write_cuts(scheme: Scheme, n_cuts: int, runs: Runs, room: Floats) -> None:
    """Put the cuts, midway between the values that they part, at the head of ``room``."""
    for t in range(n_cuts):
        at = scheme.edge[t + 1]
        room[t] = midpoint(runs.value[at - 1], runs.value[at])


@kernel
def first_largest(values: Floats, tie: float) -> int:
    """Return the first place whose value is within ``tie`` of the largest."""
    largest = -np.inf
    for v in values:
        largest = v if v > largest else largest
    for i, v in enumerate(values):
        if v >= largest - tie:
            return i
    return 0
