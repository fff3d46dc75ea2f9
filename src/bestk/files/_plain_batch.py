"""Some rows of some columns as numpy has them, for who has no pyarrow."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.files._arrow import arrow
from bestk.files._batch import Coded


@dataclass(frozen=True)
class PlainBatch:
    """Numbers side by side, and columns that are held as codes: text, or what has few values.

    Examples
    --------
    >>> text = (np.array([0, -1], np.int32), ["red"])
    >>> batch = PlainBatch([np.dtype(float), np.dtype(str)], np.array([[1.5], [2.0]]), {1: text})
    >>> batch.known(1), batch.spelled(1)
    (array([ True, False]), ['red', None])
    """

    types: list[np.dtype[Any]]
    numbers: NDArray[Any]  # the columns that are not coded, in their order; NaN where missing
    codes: dict[int, Coded]

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return len(self.numbers)

    def known(self, column: int) -> NDArray[np.bool_]:
        """Where a column is neither missing nor NaN."""
        if column in self.codes:
            return self.codes[column][0] >= 0
        return ~np.isnan(self._number(column))

    def keep(self, rows: NDArray[np.bool_]) -> "PlainBatch":
        """Some of the rows."""
        codes = {j: (codes[rows], levels) for j, (codes, levels) in self.codes.items()}
        return PlainBatch(self.types, self.numbers[rows], codes)

    def matrix(self, columns: list[int]) -> NDArray[Any]:
        """Columns of numbers and booleans, a row per row, NaN where missing."""
        if not self.codes.keys().isdisjoint(columns):
            return np.column_stack([self.values(j) for j in columns])
        places = self._places(columns)
        whole = places == list(range(self.numbers.shape[1]))
        return self.numbers if whole else self.numbers[:, places]

    def values(self, column: int) -> NDArray[Any]:
        """A column of numbers or booleans; NaN where missing."""
        if column in self.codes:
            values, known = self.integers(column)
            return values if known.all() else np.where(known, values, np.nan)
        number = self._number(column)
        return number.astype(np.uint8) if self.types[column].kind == "b" else number

    def integers(self, column: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """A column of whole numbers to the last digit, 0 where missing; and where it is not."""
        codes, levels = self.codes[column]
        gap = np.zeros(1, self.types[column])
        return np.append(np.array(levels, self.types[column]), gap)[codes], codes >= 0

    def coded(self, column: int) -> Coded:
        """A column of text."""
        return self.codes[column]

    def spelled(self, column: int) -> list[str | None]:
        """A column as text, None where missing."""
        if column in self.codes:
            codes, levels = self.codes[column]
            return [None if code < 0 else str(levels[code]) for code in codes.tolist()]
        return [str(value) for value in self._number(column).tolist()]

    def record(self, names: list[str]) -> Any:
        """All of it as pyarrow has it."""
        arrays = [
            arrow().array(self.spelled(j) if type_.kind == "U" else self.values(j))
            for j, type_ in enumerate(self.types)
        ]
        return arrow().RecordBatch.from_arrays(arrays, names)

    def _number(self, column: int) -> NDArray[Any]:
        return np.asarray(self.numbers[:, self._places([column])[0]])

    def _places(self, columns: list[int]) -> list[int]:
        """Where columns stand among those that are not coded."""
        order = (j for j in range(len(self.types)) if j not in self.codes)
        place = {j: at for at, j in enumerate(order)}
        return [place[j] for j in columns]
