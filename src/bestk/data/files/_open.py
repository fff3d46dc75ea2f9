"""From the name of a file to the table in it."""

from pathlib import Path

from bestk.data.files._arrow import arrow
from bestk.data.files._binary import ArrowSource, ParquetSource
from bestk.data.files._source import Source
from bestk.data.files._text import TextSource

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
    """The suffix that says what a file holds, or an error that lists those known.

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
    raise ValueError(f"{path} has {came}; a table is one of {', '.join(FORMATS)}")


def output_suffix(path: Path) -> str:
    """The suffix of a table that can be written here."""
    suffix = suffix_of(path)
    if FORMATS[suffix] in ("parquet", "arrow"):
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
        raise ValueError(f"{path} is a folder; give the name of a file")
    suffix = suffix_of(path)
    with path.open("rb") as file:
        if not file.read(1):
            raise ValueError(f"{path} is empty; a table has a line of names and rows below it")
    source: Source
    if FORMATS[suffix] == "text":
        source = TextSource.open(path, tabs=".tsv" in suffix, zipped=suffix.endswith(".gz"))
    else:
        source = (ParquetSource if FORMATS[suffix] == "parquet" else ArrowSource).open(path)
    if not source.types:
        raise ValueError(f"{path} has no column with a name")
    return source
