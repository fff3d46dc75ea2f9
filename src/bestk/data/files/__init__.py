"""Tables in files: read in pieces, so that they need little memory, and cut to some columns.

CSV and TSV (also ``.gz``), Parquet, Feather and Arrow IPC files are read by pyarrow, which comes
with ``pip install 'bestk[cli]'``.
"""

from bestk.data.files._arrow import WrongTypeError
from bestk.data.files._load import Loaded, count_rows, load
from bestk.data.files._open import (
    FORMATS,
    check_names,
    find_columns,
    open_source,
    output_suffix,
    suffix_of,
)
from bestk.data.files._sources import Source
from bestk.data.files._write import Formulas, copy_columns, replacing

__all__ = [
    "FORMATS",
    "Formulas",
    "Loaded",
    "Source",
    "WrongTypeError",
    "check_names",
    "copy_columns",
    "count_rows",
    "find_columns",
    "load",
    "open_source",
    "output_suffix",
    "replacing",
    "suffix_of",
]
