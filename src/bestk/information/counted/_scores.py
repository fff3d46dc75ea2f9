"""Normal scores of values that come later, from the ranks of those in a sample."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.blocks.levels import ends, strips
from bestk.information._scores import normal_scores
from bestk.native import kernels
from bestk.native.threads import run_tiles, threads

Floats = NDArray[np.float64]
VALUE_COST = 5e-8  # seconds for a value
KNOTS = 4096  # of the distribution of a column, where only a sample of it is known


class Scorer:
    """Normal scores of new values, from the ranks of those in a sample.

    Values of the sample get their own scores, those between them scores in between. Of a sample
    that is not the whole table some thousand quantiles are kept.
    """

    def __init__(self, sample: Floats, n_rows: int) -> None:
        scores = normal_scores(sample, "rank")
        self.one = 2.0 ** ((52 - int(np.ceil(np.log2(n_rows)))) // 2)
        step = self.one / scores.one
        knots, heights = [], []
        for values, z in zip(sample.T, scores.values, strict=True):
            known, at = np.unique(values, return_index=True)
            at = at[: len(known) - int(np.isnan(known[-1:]).sum())]
            if len(sample) < n_rows and len(at) > KNOTS:
                at = at[np.linspace(0, len(at) - 1, KNOTS).astype(np.int64)]
            knots.append(values[at])
            heights.append(z[at] * step)
        self._starts = ends(np.array([len(some) for some in knots]))
        self._knots, self._heights = np.concatenate(knots), np.concatenate(heights)

    def scores(self, values: NDArray[Any]) -> Floats:
        """Scores of a block, one row per feature, in whole numbers."""
        out = np.empty(values.shape[::-1])
        columns = np.ascontiguousarray(values.T, dtype=np.float64)

        def work(span: tuple[int, int]) -> None:
            some, given = columns[slice(*span)], (self._starts[span[0] :], self._knots)
            kernels.interpolate(some, *some.shape, *given, self._heights, out[slice(*span)])

        with threads(seconds=VALUE_COST * out.size):
            run_tiles(work, strips(*columns.shape))
        return out
