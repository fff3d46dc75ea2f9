"""Gaussian information of a table that comes in blocks: sums of products of scores add up."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.blocks.levels import Levels, read_classes
from bestk.data.blocks.sample import Sample
from bestk.data.table import Table
from bestk.information._gaussian import GaussianSource
from bestk.information._scores import HALF_LOG, Explained, Part
from bestk.information.counted._scores import Scorer
from bestk.information.counted.memory import gib, memory_to_use

Floats = NDArray[np.float64]


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

    def __init__(self, sample: Sample, numeric: NDArray[np.int64], continuous: bool) -> None:
        values = sample.numbers(numeric)
        n = len(numeric)
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
