"""The reference backend, ``"numpy"`` in tests: slow, obvious, what every other must equal."""

from functools import cached_property

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.information.backends import PairSource
from bestk.information.measures import Correction, Query
from bestk.tables.codes import Codes
from bestk.tables.target import ClassTarget


class NumpyCounter(PairSource):
    """Entropies straight from their definition, one pair at a time."""

    name, is_discrete = "numpy", True

    def __init__(
        self, codes: Codes, target: ClassTarget, correction: Correction | None = None
    ) -> None:
        self.n_features = codes.n_features
        self._columns = codes.values.astype(np.int64)
        self._target = target
        self._correction = correction

    @cached_property
    def singles(self) -> tuple[Floats, Floats, float]:
        """H(x) and H(x, y) of each feature, and H(y)."""
        x = np.array([self._entropy(column) for column in self._columns])
        xy = np.array([self._entropy_with_class(column) for column in self._columns])
        return x, xy, self._entropy(self._target.codes)

    @cached_property
    def copies(self) -> Floats:
        """I(x; x') of each feature and a copy of it: H(x)."""
        return self.singles[0]

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        measure, every = query.measure, np.arange(self.n_features)
        x, xy, y = self.singles
        for r, i in enumerate(every if query.rows is None else query.rows):
            for c, j in enumerate(every if query.columns is None else query.columns):
                pair = self._columns[i] * (self._columns[j].max() + 1) + self._columns[j]
                value = (
                    measure.xx * self._entropy(pair)
                    + measure.xxy * self._entropy_with_class(pair)
                    + measure.xi * x[i]
                    + measure.xj * x[j]
                    + measure.xiy * xy[i]
                    + measure.xjy * xy[j]
                    + measure.y * y
                )
                out[r, c] = max(value, query.lowest)

    def _entropy(self, cells: Indices) -> float:
        """H = - sum p log p over the cells that occur."""
        counts = np.unique(cells, return_counts=True)[1]
        p = counts / counts.sum()
        plain = float(-(p * np.log(p)).sum())
        if self._correction == "miller-madow":
            return plain + (len(counts) - 1) / (2 * counts.sum())
        return plain

    def _entropy_with_class(self, cells: Indices) -> float:
        """H(cells, y); under ``"chance"`` plus the information that random labels would give."""
        y = self._target.codes
        plain = self._entropy(cells * self._target.n_classes + y)
        if self._correction == "chance":
            plain += self._entropy(cells) + self._entropy(y) - self._expected(cells)
        return plain

    def _expected(self, cells: Indices) -> float:
        """E[H(cells, y)] over all orders of the labels."""
        m = len(cells)
        totals = np.unique(cells, return_counts=True)[1]
        return float(np.log(m) - self._expected_cells[totals].sum() / m)

    @cached_property
    def _expected_cells(self) -> Floats:
        """E[sum over classes of n log n] for a cell of t samples, t = 0..m."""
        from scipy.stats import hypergeom  # slow to import

        m = len(self._target.codes)
        t, s = np.meshgrid(np.arange(m + 1), np.arange(m + 1), indexing="ij")
        n_log_n = s * np.log(np.maximum(s, 1))
        each = [hypergeom.pmf(s, m, size, t) * n_log_n for size in self._target.counts]
        return np.asarray(np.sum(each, axis=(0, 2)))
