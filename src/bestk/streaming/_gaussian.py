"""Gaussian information of a table that comes in blocks: sums of products of scores add up."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.information._gaussian import HALF_LOG, GaussianSource, Singles
from bestk.information._gaussian_chance import Chance
from bestk.information._gaussian_kernels import Side, correlate
from bestk.information._gaussian_target import inverse
from bestk.information._tiles import Part as Places
from bestk.streaming._levels import Levels, read_classes
from bestk.streaming._memory import gib, memory_to_use
from bestk.streaming._sample import Sample
from bestk.streaming._scores import Scorer
from bestk.table import Table

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Summary:
    """What is left of scores once their products are summed."""

    one: float
    counts: Floats  # samples of each feature
    known: None = None  # missing scores are 0


@dataclass(frozen=True)
class Given:
    """What a target explains, summed over all rows; see ``_gaussian_target``."""

    entropy: float
    groups: int
    weights: Floats
    entries: Floats  # (term, feature)


class GaussianSums(GaussianSource):
    """Gaussian entropies of a table of which only sums of products of scores are known."""

    def __init__(
        self, one: float, n_rows: int, given: Given, sums: Floats, products: Floats,
        correction: str | None,
    ) -> None:  # fmt: skip
        self.n_features = len(sums)
        self._n_rows, self._sums, self._products = n_rows, sums, products
        self._given: Any = given
        self._scores: Any = Summary(one, np.full(self.n_features, float(n_rows)))
        self._complete = np.ones(self.n_features, dtype=bool)
        self._noise, self._keep = (0.0, one**2), 1.0
        self._chance = Chance(n_rows, given.groups) if correction == "chance" else None
        self._single = self._estimate_singles()

    def _correlate(
        self, a: float, b: float, rows: Places, columns: Places, left: Side, right: Side
    ) -> tuple[tuple[Floats, Floats], Any]:
        """Shares of variance to take logarithms of, and what chance adds."""
        m, given = self._n_rows, self._given
        shares = np.array(self._products[rows][:, columns], order="C")
        parts = correlate(shares, left, right, 1.0 / m, given.weights, a, b)
        return parts, self._chance and self._chance.excess(m, given.groups)

    def _estimate_singles(self) -> Singles:
        given, counts, one = self._given, self._scores.counts, self._scores.one
        squares = np.diag(self._products).copy()
        total, within = squares - self._sums * self._sums * inverse(counts), squares.copy()
        for entry, weight in zip(given.entries, given.weights, strict=True):
            within -= entry * entry * weight
        for spread in (total, within):
            spread += self._noise[0] * counts + self._noise[1]
        unit, varies = counts * one**2, np.where(squares > 0, 1.0, 0.0)
        x = HALF_LOG + 0.5 * np.log(total / unit)
        xy = HALF_LOG + 0.5 * np.log(within / unit) + given.entropy
        if self._chance is not None:
            groups = np.array([float(given.groups)])
            xy += varies * self._chance.information(counts, groups)
        scale: Floats = 1.0 / np.sqrt(total)
        scale_within: Floats = 1.0 / np.sqrt(within)
        return Singles(self._sums, given.entries, scale, scale_within, varies, x, xy)


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

    def source(self, correction: str | None) -> GaussianSums:
        """The entropies of all columns and their pairs."""
        given = (self._number or self._classes).given(self.sums)
        return GaussianSums(
            self.scorer.one, self.n_rows, given, self.sums, self.products, correction
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

    def given(self, sums: Floats) -> Given:
        """What the classes explain."""
        labels = list(self._levels.places[0])
        if len(labels) < 2:
            raise ValueError(f"y has one class only, {labels[0]}; at least two are needed")
        order = sorted(range(len(labels)), key=labels.__getitem__)
        sizes, m = self._sizes[order], self._sizes.sum()
        entropy = float(np.log(m) - (sizes * np.log(sizes)).sum() / m)
        return Given(entropy, len(sizes), 1.0 / sizes, self._sums[order])


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

    def given(self, sums: Floats) -> Given:
        """What the number explains."""
        if self._squares == 0.0:
            raise ValueError("y is constant; at least two different values are needed")
        each = 1.0 / self._n_rows
        spread = self._squares - self._total * self._total * each
        entries = np.array([sums, self._products - sums * self._total * each])
        return Given(HALF_LOG, 2, np.array([each, 1.0 / spread]), entries)
