"""Gaussian information of a table that comes in blocks: sums of products of scores add up."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._memory import gib, memory_to_use
from bestk.data.blocks.levels import Levels, ends, read_classes, strips
from bestk.data.blocks.sample import Sample
from bestk.data.table import Table
from bestk.information._gaussian import GaussianSource
from bestk.information._scores import HALF_LOG, Explained, Part, normal_scores
from bestk.native import kernels
from bestk.native.threads import run_tiles, threads

Floats = NDArray[np.float64]
SCORE_COST = 5e-8  # seconds for a value
MAX_KNOTS = 4096  # of the distribution of a column, where only a sample of it is known


class GaussianSums:
    """Sums over all rows of the scores of columns, and of their products."""

    def __init__(
        self, n_rows: int, one: float, sums: Floats, products: Floats, explained: Explained
    ) -> None:
        self.n_rows, self.one, self.sums, self.explained = n_rows, one, sums, explained
        self.squares, self._products = np.diag(products).copy(), products

    def products(self, rows: Part, columns: Part) -> Floats:
        """Sums of products of the scores of some columns with those of others."""
        return np.array(self._products[rows][:, columns], order="C")


class ProductSums:
    """Sums of products of the scores of all columns, and of those with the target."""

    def __init__(self, sample: Sample, columns: NDArray[np.int64], continuous: bool) -> None:
        values = np.asarray(sample.table.keep(columns).numeric()[0], np.float64)
        n = len(columns)
        needed = 16.0 * n * n  # and once more for those of a block
        if needed > (most := memory_to_use()):
            raise MemoryError(
                f"products of all pairs of {n} columns need {gib(needed)} GiB and may take "
                f"{gib(most)}; leave out columns"
            )
        self.n_rows = sample.n_rows
        self.scorer = Scorer(values, self.n_rows)
        self.sums, self.products = np.zeros(n), np.zeros((n, n))
        self._number = Number(sample.y, self.n_rows, n) if continuous else None
        self._classes = Classes(n)

    def add(self, table: Table, y: NDArray[Any]) -> None:
        """Add a block."""
        z = self.scorer.scores(table.numeric()[0])
        self.sums += z.sum(axis=1)
        self.products += z @ z.T
        (self._number or self._classes).add(z, y)

    def source(self, correction: str | None) -> GaussianSource:
        """The entropies of all columns and their pairs."""
        explained = (self._number or self._classes).explain(self.sums)
        one, sums, products = self.scorer.one, self.sums, self.products
        return GaussianSource(
            GaussianSums(self.n_rows, one, sums, products, explained), correction=correction
        )


class Classes:
    """Sums of the scores of each class."""

    def __init__(self, n_features: int) -> None:
        self._levels = Levels(["y"])
        self._sizes = np.zeros(0, np.int64)
        self._sums = np.zeros((0, n_features))

    def add(self, z: Floats, y: NDArray[Any]) -> None:
        """Add a block."""
        codes, labels = read_classes(y, len(y))
        places = self._levels.learn([labels])[0]
        more = len(self._levels.places[0]) - len(self._sizes)
        self._sizes = np.append(self._sizes, np.zeros(more, np.int64))
        self._sums = np.concatenate([self._sums, np.zeros((more, len(z)))])
        for label, place in enumerate(places):
            here = codes == label
            self._sizes[place] += here.sum()
            self._sums[place] += z[:, here].sum(axis=1)

    def explain(self, sums: Floats) -> Explained:
        """What the classes explain."""
        labels = list(self._levels.places[0])
        if len(labels) < 2:
            raise ValueError(f"y has one class only, {labels[0]}; at least two are needed")
        order = sorted(range(len(labels)), key=labels.__getitem__)
        sizes, m = self._sizes[order], self._sizes.sum()
        entropy = float(np.log(m) - (sizes * np.log(sizes)).sum() / m)
        return Explained(entropy, len(sizes), 1.0 / sizes, self._sums[order])


class Number:
    """Products of scores with those of a number."""

    def __init__(self, sample: NDArray[Any], n_rows: int, n_features: int) -> None:
        self._n_rows = n_rows
        self._scorer = Scorer(np.asarray(sample, np.float64)[:, None], n_rows)
        self._total = self._squares = 0.0
        self._products = np.zeros(n_features)

    def add(self, z: Floats, y: NDArray[Any]) -> None:
        """Add a block."""
        scores = self._scorer.scores(np.asarray(y, np.float64)[:, None])[0]
        self._total += scores.sum()
        self._squares += scores @ scores
        self._products += z @ scores

    def explain(self, sums: Floats) -> Explained:
        """What the number explains."""
        if self._squares == 0.0:
            raise ValueError("y is constant; at least two different values are needed")
        each = 1.0 / self._n_rows
        spread = self._squares - self._total * self._total * each
        entries = np.array([sums, self._products - sums * self._total * each])
        return Explained(float(HALF_LOG), 2, np.array([each, 1.0 / spread]), entries)


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
            if len(sample) < n_rows and len(at) > MAX_KNOTS:
                at = at[np.linspace(0, len(at) - 1, MAX_KNOTS).astype(np.int64)]
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

        with threads(seconds=SCORE_COST * out.size):
            run_tiles(work, strips(*columns.shape))
        return out
