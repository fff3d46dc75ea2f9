"""A file of finished folds, from which a study that was cut off goes on."""

import hashlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np

from bestk.data.table import Table
from bestk.evaluation._curves import Row

WANTED = "a file of finished folds"
OURS = re.compile(rb'\{"study":"[0-9a-f]{64}"\}\n')
FIRST = b'{"study":"' + 64 * b"0" + b'"}\n'
OTHER = (
    "holds folds of another table, other options or another version; give another name, or "
    "delete it"
)


class Kept:
    """The rows of finished folds, a line each; the first line says of which study.

    A line is added when a fold ends. After a sudden end the last may be cut short: it is cut away
    at the next start, and its fold is done again.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "folds.jsonl")
    ...     Kept(path, 64 * "0").add(0, [Row("maxrel", 1, 0, 0.25, 4, 0.1, (2,))])
    ...     Kept(path, 64 * "0").folds
    {0: [Row(method='maxrel', k=1, fold=0, error=0.25, n_test=4, seconds=0.1, support=(2,))]}
    """

    def __init__(self, path: Path, study: str) -> None:
        self.path = path
        self.folds: dict[int, list[Row]] = {}
        first = _line({"study": study})
        text = path.read_bytes() if path.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        if text and not text.startswith(first) and not first.startswith(text):
            raise ValueError(f"{path} {OTHER}")
        for line in whole.splitlines(keepends=True):
            if line != first:  # two that start at once may both write it
                self._read(line)
        if whole != text:
            os.truncate(path, len(whole))
        if not whole:
            self._append(first)

    def add(self, fold: int, rows: list[Row]) -> None:
        """Keep the rows of a fold, in the file first; those of a fold that is there stay."""
        if fold not in self.folds:
            self._append(_line({"fold": fold, "rows": [asdict(row) for row in rows]}))
            self.folds[fold] = rows

    def _read(self, line: bytes) -> None:
        try:
            entry = json.loads(line)
            rows = [Row(**row | {"support": tuple(row["support"])}) for row in entry["rows"]]
            self.folds.setdefault(int(entry["fold"]), rows)
        except (LookupError, ValueError, TypeError) as error:
            damaged = f"{self.path} is damaged; give another name, or delete it"
            raise ValueError(damaged) from error

    def _append(self, line: bytes) -> None:
        try:
            with self.path.open("ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error


def check_path(keep: Any) -> Path:
    """The path of a file that may be added to: a new one, or one of ours."""
    try:
        path = Path(keep)
    except TypeError as error:
        raise ValueError(f"keep must be the path of a file, not {keep!r}") from error
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give the name of {WANTED}")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is no plain file; give the name of {WANTED}")
    if not path.exists():
        if not path.parent.is_dir():
            raise ValueError(f"there is no folder {path.parent} for {WANTED}; make it first")
        return path
    with path.open("rb") as file:
        start = file.read(len(FIRST))
    if not OURS.fullmatch(start + FIRST[len(start) :]):  # a sudden end may have cut it short
        raise ValueError(f"{path} is not {WANTED}; give another name")
    return path


def _line(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"


def fingerprint(table: Table, arrays: Iterable[Any], options: Iterable[Any]) -> str:
    """A text that is the same for the same data and options, in any process.

    Examples
    --------
    >>> from bestk.data.table import read_table
    >>> table = read_table([[1.0, 2.0], [3.0, 4.0]])
    >>> fingerprint(table, [], ["k=1"]) == fingerprint(table, [], ["k=2"])
    False
    """
    seen = hashlib.sha256()
    for block in table.blocks:
        seen.update(joblib.hash((block.kind, block.values.dtype.str, block.categories)).encode())
        for columns, values in block.strips():
            seen.update(columns.tobytes())
            seen.update(np.ascontiguousarray(values).tobytes())
    try:
        told = joblib.hash([list(table.names), *arrays, *options])
    except Exception as error:  # whatever the class of an option raises
        raise ValueError(
            f"keep cannot tell these options from others, because one cannot be pickled ({error}); "
            "name functions in a module instead of lambdas, or pass keep=None"
        ) from error
    seen.update(told.encode())
    return seen.hexdigest()
