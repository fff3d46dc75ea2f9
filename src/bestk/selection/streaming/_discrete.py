"""Blocks made discrete: numbers cut at points that a sample of the rows has shown."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.blocks.sample import Sample
from bestk.data.table import Block, Table
from bestk.selection.reading import Reading, cut_target, get_discretizer, split_numbers

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Discrete:
    """What makes codes of a block, and classes of its targets."""

    numeric: Indices  # the columns to be cut
    discretizer: Any  # fitted on them, or None
    target: Any = None  # a fitted discretiser of a continuous target

    def table(self, table: Table) -> Table:
        """The block with codes for its numbers."""
        if self.discretizer is None:
            return table
        kinds = table.kinds[self.numeric]
        if (odd := np.flatnonzero(kinds != "numeric")).size:
            name = table.names[self.numeric[odd[0]]]
            raise ValueError(
                f"column {name!r} holds numbers in one block and is {kinds[odd[0]]} in another; "
                "give it one type throughout"
            )
        (part,), rest = split_numbers(table, self.numeric, together=True)
        try:
            codes = self.discretizer.transform(part.values)
        except ValueError:
            table.numeric()  # names a column of infinite values
            raise
        return Table(table.n_samples, table.names, (*rest, Block(part.columns, "numeric", codes)))

    def classes(self, y: NDArray[Any]) -> NDArray[Any]:
        """The class of each row."""
        if self.target is None:
            return y
        return np.asarray(self.target.transform(np.asarray(y, np.float64).reshape(-1, 1))[:, 0])


def fit_discrete(reading: Reading, sample: Sample, numeric: Indices) -> Discrete:
    """Fit discretisers on a sample; ``numeric`` are those of its columns to be cut."""
    continuous, discrete = reading.is_continuous(sample.y), reading.discretizer is None
    if (discrete := discrete or not len(numeric)) and not continuous:
        return Discrete(np.empty(0, np.int64), None)  # the counts show whether there are classes
    target = reading.classes(sample.y, len(sample.y))  # refuses what is no target at all
    cut = cut_target(np.asarray(sample.y, np.float64)) if continuous else None
    if discrete:
        return Discrete(np.empty(0, np.int64), None, cut)
    values = sample.numbers(numeric)
    if np.isinf(values).any():
        block = Block(np.arange(len(numeric)), "numeric", values)
        Table(len(values), [sample.names[j] for j in numeric], (block,)).numeric()
    fitted = get_discretizer(reading.discretizer).fit(values, target.codes)
    return Discrete(numeric, fitted, cut)
