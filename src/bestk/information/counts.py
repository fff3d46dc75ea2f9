"""PairCounts: the contingency counts of all pairs of features, which add up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from itertools import pairwise
from typing import Any, Self

import numpy as np

from bestk._memory import gib, memory_to_use
from bestk._typing import Array, Indices
from bestk.data.blocks import refuse_other_columns
from bestk.data.codes import Codes, Label, Levels, ends
from bestk.data.frames import as_array, read_table
from bestk.data.table import Table
from bestk.data.target import Target, read_labels
from bestk.information import _cells as cells
from bestk.information._fixed_point import Correction
from bestk.information.backends._packed import pack
from bestk.information.entropies import Entropies, largest_by_chance
from bestk.native import kernels
from bestk.native.threads import run_tiles, threads

# rows that are counted together: each time visits all counts
MAX_WAITING_ROWS, MAX_WAITING_BYTES = 2**16, 2**27
MAX_PLANES, MAX_ROWS = 2**16, 2**31 - 1
PACK_COST, WORD_COST = 1e-9, 1.5e-11  # seconds: for a value, for a word of two planes


class PairCounts:
    """Counts of rows with each level of xi, each level of xj and each class, for all pairs.

    Levels and classes may be new in any block: they are known by their labels. Counts are whole
    numbers and exact, so it does not matter how the rows are cut into blocks, nor in what order
    these are added: the entropies are those of the whole table, to the last bit.

    With P the number of levels of all features less one for each, and C classes, counts take
    ``2 P (P + 1) C`` bytes.

    Parameters
    ----------
    classes : array-like, default=None
        Classes that will come; room is made for them at once.
    memory : float, default=None
        Bytes that the counts may take; None: half of the machine's memory.

    Examples
    --------
    >>> counts = PairCounts().add([[0, "red"], [1, "blue"]], ["no", "yes"])
    >>> counts = counts.add([[2, "red"], [1, "blue"]], ["no", "maybe"])
    >>> counts.n_samples, counts.levels.tolist(), counts.classes
    (4, [3, 2], ['maybe', 'no', 'yes'])
    >>> counts.entropies().mi().round(3)
    array([0.693, 0.693])
    """

    def __init__(self, classes: Iterable[Label] | None = None, memory: float | None = None) -> None:
        self.memory = memory_to_use() if memory is None else memory
        self.n_samples = 0
        self._levels: Levels | None = None
        self._classes = Levels(["y"])
        self._sizes = np.zeros(0, np.int64)
        self._feature = np.empty(0, np.int64)  # of each plane, in order of appearance
        self._cells: Array = np.empty(0, np.int32)
        self._waiting: list[tuple[Array, Indices]] = []
        self._lent = False  # whether entropies read the counts as they are now
        if classes is not None:
            self._classes.learn([read_labels(classes, len(as_array(classes)))[1].tolist()])

    def add(self, X: Any, y: Any) -> Self:
        """Count a block of rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Whole numbers from 0 up, booleans, strings or categories; missing values are a level.
        y : array-like of shape (n_rows,)
            Their classes.

        Returns
        -------
        self
        """
        if _n_rows(X) == 0:
            return self
        table = read_table(X)
        levels = self._levels = self._same_columns(table.names)
        codes, labels = read_labels(y, table.n_samples)
        number = np.array(self._classes.learn([labels.tolist()])[0])
        self._waiting.append((levels.encode(table), number[codes]))
        self.n_samples += table.n_samples
        waiting = sum(v.shape[1] for v, _ in self._waiting)
        if waiting >= min(MAX_WAITING_ROWS, MAX_WAITING_BYTES // table.n_features):
            self._count_waiting()
        return self

    def keep(self, features: Indices) -> PairCounts:
        """The same without some features, which have one level each."""
        levels = self._known()
        self._count_waiting()
        kept = copy(self)
        self._lent, kept._lent, kept._waiting = True, True, []
        kept._levels = Levels([levels.names[i] for i in features])
        kept._levels.places = [levels.places[i] for i in features]
        kept._feature = np.searchsorted(features, self._feature)
        return kept

    @property
    def n_features(self) -> int:
        """Number of features; 0 before the first block."""
        return 0 if self._levels is None else len(self._levels.names)

    @property
    def names(self) -> Sequence[str]:
        """Names of the features."""
        return self._known().names

    @property
    def levels(self) -> Indices:
        """Number of levels of each feature so far."""
        return self._known().counts

    @property
    def classes(self) -> list[Label]:
        """The classes so far, in order."""
        return sorted(self._classes.places[0])

    def source(self, correction: Correction | None = None) -> cells.CountedPairs:
        """The entropies of pairs, for :class:`bestk.Entropies`."""
        self._known()
        self._count_waiting()
        self._lent = True
        labels = list(self._classes.places[0])
        seen = [c for c, size in enumerate(self._sizes) if size]
        if len(seen) < 2:
            came = f"one class only, {labels[seen[0]]}" if seen else "no classes"
            raise ValueError(f"y has {came}; at least two are needed")
        in_order = self._sizes[sorted(seen, key=lambda c: labels[c])]
        return cells.CountedPairs(self._snapshot(), in_order, correction)

    def entropies(
        self, correction: Correction | None = None, n_jobs: int | None = None
    ) -> Entropies:
        """What :meth:`bestk.Entropies.count` gives for all rows at once, to the last bit."""
        with threads(n_jobs):
            source, chance = self.source(correction), None
            if correction == "chance":
                chance = largest_by_chance(self.levels, self.n_samples, len(self._sizes))
            return Entropies(*source.singles, source, correction is not None, n_jobs, chance=chance)

    def _known(self) -> Levels:
        if self._levels is None:
            raise ValueError("nothing is counted yet; add a block of rows first")
        return self._levels

    def _same_columns(self, names: Sequence[str]) -> Levels:
        if self._levels is None:
            return Levels(names)
        refuse_other_columns(list(names), list(self._levels.names))
        return self._levels

    def _count_waiting(self) -> None:
        """Count the rows that wait, all at once."""
        if not self._waiting or self._levels is None:
            return
        self._grow()
        levels, names = self._levels.counts, self._levels.names
        values = np.concatenate([values for values, _ in self._waiting], axis=1)
        values -= 1  # the first level, which has no plane, becomes the largest number
        y = np.concatenate([classes for _, classes in self._waiting])
        sizes = np.bincount(y, minlength=len(self._sizes))
        self._waiting.clear()
        order = np.argsort(levels, kind="stable")
        first, planes = self._planes(order)
        words = values.shape[1] / 32 + len(sizes)
        seconds = PACK_COST * values.size + first[-1] ** 2 * (WORD_COST * words + 1e-9 * len(sizes))
        with threads(seconds=seconds) as n_threads:
            target = Target(y, np.arange(len(sizes)), sizes)
            packed = pack(Codes(values, levels, names), target, order, MAX_PLANES)
            add = kernels.add_block.bind(
                packed.bits, packed.bits_at, packed.n_planes, len(packed.n_planes), packed.words,
                len(sizes), first, len(order), planes, self._cells,
            )  # fmt: skip
            groups = list(pairwise(cells.group_features(first, n_threads).tolist()))
            run_tiles(lambda group: add(*group), groups)
        self._sizes += sizes

    def _planes(self, order: Indices) -> tuple[Indices, Indices]:
        """Planes of the features in some order: where those of each begin, and which they are."""
        lengths = self._known().counts - 1
        starts, by_feature = ends(lengths), np.argsort(self._feature, kind="stable")
        first = ends(lengths[order])
        shift = np.repeat(starts[order] - first[:-1], lengths[order])
        return first, by_feature[shift + np.arange(first[-1])]

    def _grow(self) -> None:
        """Make room for the levels and classes that are known by now; lent counts stay."""
        if self._lent:
            self._cells, self._sizes, self._lent = self._cells.copy(), self._sizes.copy(), False
        levels = self._known().counts
        have = np.bincount(self._feature, minlength=len(levels))
        new = np.repeat(np.arange(len(levels)), levels - 1 - have)
        n_planes, n_classes = len(self._feature) + len(new), len(self._classes.places[0])
        if self.n_samples > MAX_ROWS:
            raise ValueError(f"{self.n_samples} rows, and at most {MAX_ROWS} can be counted")
        needed = bytes_of_counts(n_planes, n_classes)
        if needed > self.memory:
            raise MemoryError(
                f"counts of all pairs, with {n_planes} levels beyond the first of each feature and "
                f"{n_classes} classes, need {gib(needed)} GiB and may take {gib(self.memory)}; "
                "leave out columns, cut numbers into fewer levels, or join rare levels and classes"
            )
        before = len(self._sizes)
        if n_classes > before:
            pairs = self._cells.size // max(1, before)
            wider = np.zeros(pairs * n_classes, np.int32)
            wider.reshape(pairs, n_classes)[:, :before] = self._cells.reshape(pairs, before)
            self._cells = wider
            self._sizes = np.append(self._sizes, np.zeros(n_classes - before, np.int64))
        self._feature = np.append(self._feature, new)
        # adds zeros at the end, where the system can without a copy
        self._cells.resize(n_planes * (n_planes + 1) // 2 * n_classes, refcheck=False)

    def _snapshot(self) -> cells.PlaneCounts:
        """The counts as they are now, planes in the order of features."""
        each = np.arange(len(self._feature))
        by_pair = self._cells.reshape(-1, len(self._sizes))
        margins = by_pair[cells.place_of(each, each)].astype(np.int64)
        planes = self._planes(np.arange(self.n_features))
        return cells.PlaneCounts(*planes, margins, self._sizes, self._cells)


def bytes_of_counts(n_planes: int, n_classes: int) -> float:
    """Memory for the counts of pairs, with so many levels beyond the first of each feature.

    Examples
    --------
    >>> bytes_of_counts(n_planes=1000, n_classes=2)
    4004000.0
    """
    return n_planes * (n_planes + 1) / 2 * n_classes * 4


def _n_rows(X: Any) -> int | None:
    shape = (X.n_samples,) if isinstance(X, Table) else getattr(X, "shape", None)
    return int(shape[0]) if shape else None
