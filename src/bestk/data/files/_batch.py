"""Some rows of some columns of a file, as pyarrow has read them."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.dates import days
from bestk.data.files._arrow import arrow

Coded = tuple[NDArray[np.int32], list[Any]]  # -1 where missing, and what the codes stand for


@dataclass(frozen=True)
class ArrowBatch:
    """A record batch of pyarrow; columns are known by their place."""

    batch: Any

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return int(self.batch.num_rows)

    def known(self, column: int) -> NDArray[np.bool_]:
        """Where a column is neither missing nor NaN."""
        missing = arrow("compute").is_null(self.batch.column(column), nan_is_null=True)
        return ~np.asarray(missing.to_numpy(zero_copy_only=False), dtype=bool)

    def keep(self, rows: NDArray[np.bool_]) -> "ArrowBatch":
        """Some of the rows."""
        return ArrowBatch(self.batch.filter(arrow().array(rows)))

    def matrix(self, columns: list[int]) -> NDArray[Any]:
        """Columns of numbers and booleans, a row per row, NaN where missing."""
        arrays = [_plain(self.batch.column(j)) for j in columns]
        chosen = arrow().RecordBatch.from_arrays(arrays, [str(j) for j in columns])
        return np.asarray(chosen.to_tensor(null_to_nan=True).to_numpy())

    def values(self, column: int) -> NDArray[Any]:
        """A column of numbers or booleans, none of them missing."""
        return np.asarray(_plain(self.batch.column(column)).to_numpy(zero_copy_only=False))

    def integers(self, column: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """A column of whole numbers to the last digit, 0 where missing; and where it is not."""
        values = self.batch.column(column)
        if arrow("types").is_decimal(values.type):
            try:
                values = values.cast("int64")
            except arrow().ArrowInvalid as error:
                name = self.batch.schema.field(column).name
                raise ValueError(
                    f"column {name!r} has decimals of 2**63 or more; exclude it, or write it as "
                    "strings"
                ) from error
        return values.fill_null(0).to_numpy(zero_copy_only=False), self.known(column)

    def coded(self, column: int) -> Coded:
        """A column of text or categories."""
        words = _plain(self.batch.column(column))
        coded = words if hasattr(words, "indices") else words.dictionary_encode()
        codes = coded.indices.cast("int32").fill_null(-1).to_numpy(zero_copy_only=False)
        return codes, coded.dictionary.to_pylist()

    def spelled(self, column: int) -> list[str | None]:
        """A column as text, None where missing."""
        words = self.batch.column(column)
        if hasattr(words, "dictionary_decode"):
            words = words.dictionary_decode()
        spelled: list[str | None] = words.cast("string").to_pylist()
        return spelled


def _plain(column: Any) -> Any:
    """A column in one of the few types that we read on; dates and durations as days."""
    is_ = arrow("types")
    if is_.is_time(column.type):
        column = column.cast("time64[us]").cast("int64").cast("duration[us]")
    if is_.is_temporal(column.type):
        return arrow().array(days(column.to_numpy(zero_copy_only=False)), from_pandas=True)
    wanted = _plain_type(column.type)
    return column.cast(wanted) if wanted else column


@lru_cache(maxsize=256)
def _plain_type(type_: Any) -> str | None:
    """What to cast a type to, if anything."""
    is_ = arrow("types")
    if is_.is_string_view(type_):
        return "string"
    if is_.is_boolean(type_):
        return "uint8"
    odd = is_.is_decimal(type_) or is_.is_null(type_) or is_.is_float16(type_)
    return "float64" if odd else None
