"""The table that a command reads: a file, or what is piped into it."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import click

STDIN = Path("-")
FOLDER = "bestk-stdin-"  # of the file that holds what was piped in
KINDS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\x1f\x8b": ".csv.gz",
}
WEB = re.compile(r"(https?|ftp|s3|gs):/")


class TableFile(click.Path):
    """The name of a file; ``-`` is standard input."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, allow_dash=True)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """A path; that of a copy of standard input, which can be read only once, and is twice."""
        path = super().convert(value, param, ctx)
        if path != STDIN or ctx is None or ctx.resilient_parsing:
            return path
        if sys.stdin is None or sys.stdin.isatty():
            self.fail("- is standard input, but nothing is piped into it; pass the name of a file")
        return keep_input(ctx)


def keep_input(ctx: Any) -> Path:
    """Copy standard input to a file that is gone when the command ends."""
    from shutil import copyfileobj
    from tempfile import TemporaryDirectory

    stream = sys.stdin.buffer
    start = stream.read(max(len(kind) for kind in KINDS))
    suffix = next((KINDS[kind] for kind in KINDS if start.startswith(kind)), ".csv")
    folder = ctx.find_root().with_resource(TemporaryDirectory(prefix=FOLDER))
    path = Path(folder, f"stdin{suffix}")
    with path.open("wb") as file:
        file.write(start)
        copyfileobj(stream, file)
    return path


def shown(path: Path) -> str:
    """A path as it was given.

    Examples
    --------
    >>> shown(Path("cells.csv")), shown(Path("/tmp/bestk-stdin-1/stdin.csv"))
    ('cells.csv', '-')
    """
    return str(STDIN if path.parent.name.startswith(FOLDER) else path)


def is_piped_in(path: Path, source: Path) -> bool:
    """Whether a file is the one that standard input reads from (``bestk select - < table.csv``)."""
    if shown(source) != str(STDIN):
        return False
    try:
        return os.path.samestat(os.fstat(sys.stdin.fileno()), path.stat())
    except (OSError, ValueError, AttributeError):  # what is piped in is no file
        return False


def hide_copies(message: str) -> str:
    """Write "standard input" where a message names the copy of it.

    Examples
    --------
    >>> hide_copies("/tmp/bestk-stdin-1/stdin.csv is empty")
    'standard input is empty'
    """
    return re.sub(rf"\S*{FOLDER}\w+\S(stdin\.\w+(\.gz)?)", "standard input", message)


def refuse_missing(path: Path) -> None:
    """Refuse a file that is not there, and say which may be meant."""
    if path.exists():
        return
    if WEB.match(str(path)):
        raise ValueError(f"{path} is a URL; download it first, for example with curl -LO")
    from difflib import get_close_matches

    folder = path.parent
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    near = get_close_matches(path.name, names, n=1, cutoff=0.7)
    advice = f"; did you mean {str(folder / near[0])!r}?" if near else ""
    raise ValueError(f"{path}: No such file or directory{advice}")


def need_target(ctx: Any, param: Any, value: str | None) -> str | None:
    """Refuse to go on without a target, and name the columns that it could be."""
    if value is None and not ctx.resilient_parsing:
        raise click.UsageError(which_target(ctx.params.get("file")), ctx)
    return value


def which_target(path: Path | None) -> str:
    """The question which column is to be predicted, with the last ones of a file."""
    asked = "missing option --target COL, the column to predict"
    if path is None:
        return asked
    from bestk.data.files import open_source

    refuse_missing(path)
    names = list(open_source(path).types)
    some = ", ".join(map(repr, names[-8:]))
    return f"{asked}; the {'last ' if len(names) > 8 else ''}columns of {path} are {some}"
