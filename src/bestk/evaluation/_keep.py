"""A file of finished folds, from which a study that was cut off goes on."""

import hashlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from bestk.evaluation._curves import Row
from bestk.table import Table

WANTED = "a file of finished folds"


class Kept:
    """The rows of finished folds, a line each; the first line says of which study.

    A line is added when a fold ends. After a sudden end the last may be cut short: it is cut away
    at the next start, and its fold is done again.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "folds.jsonl")
    ...     Kept(path, "a study").add(0, [Row("maxrel", 1, 0, 0.25, 4, 0.1, (2,))])
    ...     Kept(path, "a study").folds
    {0: [Row(method='maxrel', k=1, fold=0, error=0.25, n_test=4, seconds=0.1, support=(2,))]}
    """

    def __init__(self, path: str | os.PathLike[str], study: str) -> None:
        self.path = Path(path)
        self.folds: dict[int, list[Row]] = {}
        whole = self._whole_lines()
        if not whole:
            self._append({"study": study})
        for number, line in enumerate(whole):
            self._read(line, study if number == 0 else None)

    def add(self, fold: int, rows: list[Row]) -> None:
        """Keep the rows of a fold, in the file first; those of a fold that is there stay."""
        if fold not in self.folds:
            self._append({"fold": fold, "rows": [asdict(row) for row in rows]})
            self.folds[fold] = rows

    def _whole_lines(self) -> list[str]:
        if self.path.is_dir():
            raise ValueError(f"{self.path} is a folder; give the name of {WANTED}")
        text = self.path.read_bytes() if self.path.exists() else b""
        end = text.rfind(b"\n") + 1
        if text and not text.startswith(b'{"study"'[: len(text)]):
            raise ValueError(f"{self.path} is not {WANTED}; give another name")
        if end < len(text):
            os.truncate(self.path, end)
        return text[:end].decode("utf-8", "replace").splitlines()

    def _read(self, line: str, study: str | None) -> None:
        try:
            entry = json.loads(line)
            if study is None:
                rows = [Row(**row | {"support": tuple(row["support"])}) for row in entry["rows"]]
                self.folds.setdefault(int(entry["fold"]), rows)
            elif entry["study"] != study:
                raise LookupError
        except LookupError as error:
            raise ValueError(
                f"{self.path} holds folds of another table, other options or another version; "
                "give another name, or delete it"
            ) from error
        except (ValueError, TypeError) as error:
            raise ValueError(f"{self.path} is damaged; give another name, or delete it") from error

    def _append(self, entry: dict[str, Any]) -> None:
        line = json.dumps(entry, separators=(",", ":")) + "\n"
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


def fingerprint(table: Table, arrays: Iterable[Any], options: Iterable[Any]) -> str:
    """A text that is the same for the same data and options, in any process.

    Examples
    --------
    >>> from bestk.table import read_table
    >>> table = read_table([[1.0, 2.0], [3.0, 4.0]])
    >>> fingerprint(table, [], ["k=1"]) == fingerprint(table, [], ["k=2"])
    False
    """
    seen = hashlib.sha256()
    for block in table.blocks:
        seen.update(f"{block.kind} {block.values.dtype} {block.categories}".encode())
        for columns, values in block.strips():
            seen.update(columns.tobytes())
            seen.update(np.ascontiguousarray(values).tobytes())
    for array in arrays:
        told = np.asarray(array)
        seen.update(repr(told.tolist()).encode() if told.dtype == object else told.tobytes())
    for option in [*table.names, *options]:
        text = repr(option.get_params()) if isinstance(option, BaseEstimator) else repr(option)
        seen.update(re.sub(r" at 0x[0-9a-f]+", "", text).encode() + b"\0")
    return seen.hexdigest()
