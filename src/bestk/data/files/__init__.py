"""Tables in files: read in pieces, so that they need little memory, and cut to some columns.

CSV and TSV (also ``.gz``), Parquet, Feather and Arrow IPC files are read by pyarrow, which comes
with ``pip install 'bestk[cli]'``.
"""

from bestk.data.files._load import Loaded, load, open_source, read_parts
from bestk.data.files._sources import (
    FORMATS,
    DatasetSource,
    Source,
    WrongTypeError,
    check_names,
    find_columns,
    suffix_of,
)
from bestk.data.files._write import Formulas, copy_columns, replacing

__all__ = [
    "FORMATS",
    "DatasetSource",
    "Formulas",
    "Loaded",
    "Source",
    "WrongTypeError",
    "check_names",
    "copy_columns",
    "find_columns",
    "load",
    "open_source",
    "read_parts",
    "replacing",
    "suffix_of",
]
