"""Tables in files: read in pieces, so that they need little memory, and cut to some columns.

CSV and TSV (also ``.gz``), Parquet, Feather and Arrow IPC files are read by pyarrow, which comes
with ``pip install 'bestk[cli]'``.
"""

from bestk.data.files._formulas import Formulas
from bestk.data.files._load import Loaded, count_rows, load
from bestk.data.files._open import FORMATS, open_source, output_suffix, suffix_of
from bestk.data.files._source import Source, check_names, find_columns
from bestk.data.files._write import copy_columns, replacing

__all__ = [
    "FORMATS",
    "Formulas",
    "Loaded",
    "Source",
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
