"""A first look at rows: a sample of their numbers, drawn without regard to how blocks are cut."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.table import Table, as_array
from bestk.data.whole import beyond, is_long, refuse_merged

SAMPLE_ROWS, SAMPLE_BYTES = 100_000, 2**30
FEWEST_ROWS = 1_000  # whatever they take


@dataclass(frozen=True)
class Sample:
    """What a pass over the rows has found."""

    n_rows: int  # of the table
    names: Any
    numeric: NDArray[np.int64]  # the columns that are numbers in all blocks
    values: NDArray[np.float64]  # of these, in the rows of the sample
    y: NDArray[Any]
    most: int  # rows that a sample may have
    exact: dict[int, NDArray[Any]] = field(default_factory=dict)  # columns that float64 rounds

    @property
    def is_whole(self) -> bool:
        """Whether the sample is the whole table, in its order."""
        return self.n_rows == len(self.y)

    def numbers(self, columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """The values of some numeric columns; refused where they are merged."""
        for j in columns.tolist():
            if j in self.exact:
                known = [value for value in self.exact[j].tolist() if value == value]
                refuse_merged(known, f"column {self.names[j]!r}")
        return self.values[:, np.isin(self.numeric, columns)]


class Reservoir:
    """Rows of a table, each as likely as any other to be among those that are kept.

    The first rows are all kept; row t then takes the place of a random one with probability
    ``size / t``. Tables of at most ``rows`` rows are kept whole.

    Examples
    --------
    >>> from bestk.data.table import read_table
    >>> reservoir = Reservoir(seed=0, rows=2)
    >>> for start in range(0, 100, 10):
    ...     rows = np.arange(start, start + 10.0)
    ...     reservoir.add(read_table(rows[:, None]), rows % 2)
    >>> sample = reservoir.finish()
    >>> sample.n_rows, sample.values.ravel()
    (100, array([..., ...]))
    """

    def __init__(self, seed: int, rows: int = SAMPLE_ROWS) -> None:
        self._random = np.random.default_rng(seed)
        self._most = rows
        self.n_rows = 0

    def add(self, table: Table, y: NDArray[Any]) -> None:
        """Look at a block."""
        if self.n_rows == 0:
            self._begin(table)
        self._numeric &= table.kinds == "numeric"
        rows = np.arange(self.n_rows, self.n_rows + table.n_samples)
        late = rows >= self._most
        slots = rows.copy()
        slots[late] = self._random.random(int(late.sum())) * (rows[late] + 1)
        chosen = np.flatnonzero(slots < self._most)
        if len(chosen):
            self._put(slots[chosen], table, chosen, y)
        self.n_rows += table.n_samples

    def finish(self) -> Sample:
        """The sample."""
        size = min(self.n_rows, self._most)
        values = self._values[:size]
        if not (still := self._numeric[self._columns]).all():
            values = values[:, still]
        numeric = np.flatnonzero(self._numeric)
        y = as_array(self._y[:size].tolist())
        exact = {j: some[:size] for j, some in self._exact.items()}
        return Sample(self.n_rows, self._names, numeric, values, y, self._most, exact)

    def _begin(self, table: Table) -> None:
        self._names = table.names
        self._numeric = table.kinds == "numeric"
        self._columns = np.flatnonzero(self._numeric)
        width = max(1, len(self._columns))
        self._most = max(min(FEWEST_ROWS, self._most), min(self._most, SAMPLE_BYTES // (8 * width)))
        self._values = np.empty((self._most, len(self._columns)))  # pages are used as rows come
        self._y = np.empty(self._most, dtype=object)
        self._exact: dict[int, NDArray[Any]] = {}

    def _put(
        self, slots: NDArray[np.int64], table: Table, rows: NDArray[np.int64], y: NDArray[Any]
    ) -> None:
        self._y[slots] = y[rows]
        for block in table.blocks:
            here = self._numeric[block.columns]
            if here.any():
                values = block.values[rows][:, np.flatnonzero(here)]
                values = values.toarray() if hasattr(values, "toarray") else values
                self._note_exact(slots, block.columns[here], values)
                with np.errstate(over="ignore"):  # what float64 has no room for is infinite
                    values = values.astype(self._values.dtype, copy=False)
                places = np.searchsorted(self._columns, block.columns[here])
                if np.array_equal(places, np.arange(len(self._columns))):
                    self._values[slots] = values  # whole rows go faster
                else:
                    self._values[np.ix_(slots, places)] = values

    def _note_exact(
        self, slots: NDArray[np.int64], columns: NDArray[np.intp], values: NDArray[Any]
    ) -> None:
        """Keep columns as Python's numbers from where float64 rounds them."""
        for at in beyond(values) if is_long(values.dtype) else ():
            if (j := int(columns[at])) not in self._exact:
                before = self._values[:, np.searchsorted(self._columns, j)]
                self._exact[j] = before.astype(object)
        for j, exact in self._exact.items():
            if len(here := np.flatnonzero(columns == j)):
                exact[slots] = values[:, here[0]]
