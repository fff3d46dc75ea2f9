"""From the name of a file to the table in it, and to the columns that are asked for."""

from collections.abc import Iterable
from pathlib import Path

from bestk.data.files._arrow import arrow, role_of
from bestk.data.files._sources import ArrowSource, ParquetSource, Source
from bestk.data.files._text import TextSource
from bestk.errors import DataError, UnknownNameError

ACCEPTED = "a column holds numbers, booleans, text or dates"
FORMATS = {
    ".csv": "text",
    ".csv.gz": "text",
    ".tsv": "text",
    ".tsv.gz": "text",
    ".parquet": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
}


def suffix_of(path: Path) -> str:
    """The suffix that gives the format of a file, or an error that lists those known.

    Examples
    --------
    >>> suffix_of(Path("Data.CSV.gz"))
    '.csv.gz'
    """
    name = path.name.lower()
    for suffix in FORMATS:
        if name.endswith(suffix):
            return suffix
    came = f"the suffix {path.suffix!r}" if path.suffix else "no suffix"
    raise DataError(f"{path} has {came}; a table is one of {', '.join(FORMATS)}")


def output_suffix(path: Path) -> str:
    """The suffix of a table to write; an error where that needs pyarrow, and it is missing."""
    suffix = suffix_of(path)
    if FORMATS[suffix] != "text":
        arrow()
    return suffix


def open_source(path: str | Path) -> Source:
    r"""Open the table in a file, by its suffix; no more than its beginning is read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "flowers.csv")
    ...     _ = path.write_text("petal,name\n1.4,setosa\n4.7,versicolor\n")
    ...     {name: str(kind) for name, kind in open_source(path).types.items()}
    {'petal': 'double', 'name': 'string'}
    """
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path} is a folder; give the name of a file")
    suffix = suffix_of(path)
    with path.open("rb") as file:
        if not file.read(1):
            raise DataError(f"{path} is empty; a table has a line of names and rows below it")
    source: Source
    if FORMATS[suffix] == "text":
        source = TextSource.open(path, suffix)
    else:
        source = (ParquetSource if FORMATS[suffix] == "parquet" else ArrowSource).open(path)
    if not source.types:
        raise DataError(f"{path} has no column with a name")
    return source


def check_names(source: Source, names: Iterable[str]) -> None:
    """Refuse a name that no column has."""
    for name in names:
        if name not in source.types:
            raise UnknownNameError("column", name, source.types, source.path)


def find_columns(source: Source, target: str, exclude: Iterable[str] = ()) -> list[str]:
    """The features of a file; the names asked for must be there."""
    excluded = set(exclude)
    check_names(source, (target, *excluded))
    if target in excluded:
        raise DataError(f"column {target!r} is the target, and cannot be excluded as well")
    names = [name for name in source.types if name != target and name not in excluded]
    if not names:
        raise DataError(f"{source.path} has no column to select from beside {target!r}")
    for name in (*names, target):
        if role_of(source.types[name]) is None:
            came = source.types[name]
            raise DataError(f"column {name!r} holds {came} values; {ACCEPTED}: exclude it")
    return names
