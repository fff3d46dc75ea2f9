"""Tables in files: read in pieces, so that they need little memory, and cut to some columns.

CSV and TSV (also ``.gz``), Parquet, Feather and Arrow IPC are read by pyarrow, which comes with
``pip install 'bestk[files]'``.
"""

from bestk.files._load import Loaded, load
from bestk.files._open import FORMATS, open_source, suffix_of
from bestk.files._source import Source, check_names, find_columns
from bestk.files._write import copy_columns, replacing

__all__ = [
    "FORMATS",
    "Loaded",
    "Source",
    "check_names",
    "copy_columns",
    "find_columns",
    "load",
    "open_source",
    "replacing",
    "suffix_of",
]
