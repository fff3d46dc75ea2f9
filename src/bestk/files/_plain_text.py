"""CSV and TSV files, read without pyarrow: slower, and to the same values."""

import csv
import gzip
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from io import TextIOWrapper
from itertools import chain, islice
from math import nan
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bestk._written import MISSING
from bestk.files._arrow import WrongTypeError, telling
from bestk.files._batch import Coded
from bestk.files._plain_batch import PlainBatch
from bestk.files._source import Report
from bestk.files._text import FALSE, TRUE, WANTED, TextSource

PIECE = 2**18  # values parsed at once: some 20 MB as text
LARGE = 10**8  # bytes of a file that pyarrow should rather read
SLOW = "read without pyarrow, which is faster: pip install 'bestk[cli]'"
Row = list[str]
Floats = NDArray[np.float64]
GAPS = frozenset(MISSING)
TRUTHS = dict.fromkeys(MISSING, nan) | dict.fromkeys(TRUE, 1.0) | dict.fromkeys(FALSE, 0.0)
NUMBER, BOOLEAN, TEXT = np.dtype(np.float64), np.dtype(bool), np.dtype(str)


@dataclass(frozen=True)
class PlainText(TextSource):
    """A file of lines that the csv module reads."""

    @classmethod
    def open(cls, path: Path, *, tabs: bool, zipped: bool) -> Self:
        """Read the names, and guess the types from the first rows."""
        source = super().open(path, tabs=tabs, zipped=zipped)
        notes = (SLOW,) if path.stat().st_size > LARGE else ()
        return replace(source, notes=(*source.notes, *notes))

    def batches(
        self,
        columns: Sequence[str],
        report: Report | None = None,
        types: dict[str, Any] | None = None,
    ) -> Iterator[PlainBatch]:
        """Yield batches of some columns; as the text they are where ``types`` is empty."""
        types = self.types if types is None else types
        chosen = [types.get(name, TEXT) for name in columns]
        gaps = GAPS if types else frozenset[str]()
        size = self.path.stat().st_size
        with telling(self.path, WANTED), self._lines() as (raw, names, pieces):
            place = {name: at for at, name in enumerate(names)}
            places = [place[name] for name in columns]
            for rows in pieces:
                yield _batch(rows, places, chosen, gaps)
                if report:
                    report(raw.tell(), size)

    def _first_types(self) -> list[tuple[str, Any]]:
        with self._lines() as (_, names, pieces):
            rows = next(pieces, [])
        columns = zip(*rows, strict=True) if rows else ([] for _ in names)
        return [(name, type_of(list(column))) for name, column in zip(names, columns, strict=True)]

    def _known_types(self) -> dict[str, Any]:
        whole = {"int64": np.dtype(np.int64), "uint64": np.dtype(np.uint64)}
        return {"number": NUMBER, "boolean": BOOLEAN, "text": TEXT, **whole}

    def _texts(self, batch: Any, column: int, like: str) -> list[str]:
        return [text for text in batch.coded(column)[1] if re.fullmatch(like, text)]

    def _odd_value(self, batch: Any, column: int, role: str) -> str | None:
        _, levels = batch.coded(column)
        convert = to_numbers if role == "number" else to_truths
        for level in levels:
            try:
                convert([level])
            except WrongTypeError:
                return str(level)
        return None

    @contextmanager
    def _lines(self) -> Iterator[tuple[Any, Row, Iterator[list[Row]]]]:
        """The file, the names in its first line, and the rows below it in pieces."""
        with ExitStack() as stack:
            raw = stack.enter_context(self.path.open("rb"))
            file: Any = stack.enter_context(gzip.open(raw)) if self.zipped else raw
            text = TextIOWrapper(
                file,
                encoding="utf-8-sig",
                errors="surrogateescape",  # a column that is not read may hold anything
                newline="",
            )
            reader = csv.reader(stack.enter_context(text), delimiter=self.delimiter)
            with _long_fields():
                names = next(filter(None, reader), [])
            yield raw, names, _pieces(reader, len(names), self.delimiter)


def _pieces(reader: Any, width: int, delimiter: str) -> Iterator[list[Row]]:
    """The rows of a file, some at a time; empty lines are none."""
    rows = filter(None, reader)
    while True:
        with _long_fields():
            piece = list(islice(rows, max(1, PIECE // max(1, width))))
        if not piece:
            return
        if set(map(len, piece)) != {width}:
            odd = next(row for row in piece if len(row) != width)
            came = f"{len(odd)}: {delimiter.join(odd)}"
            raise csv.Error(f"CSV parse error: Expected {width} columns, got {came}")
        yield piece


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let the csv module read values of any length; it has one limit for all who use it."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _batch(
    rows: list[Row], places: list[int], types: list[np.dtype[Any]], gaps: frozenset[str]
) -> PlainBatch:
    """Some columns of some rows, of the types given."""
    kinds = [type_.kind for type_ in types]
    words = {
        j: to_codes([row[places[j]] for row in rows], gaps, int if kind in "iu" else str)
        for j, kind in enumerate(kinds)
        if kind in "Uiu"
    }
    others = [j for j in range(len(kinds)) if j not in words]
    numbers = np.empty((len(rows), len(others)))
    for kind, convert in (("f", to_numbers), ("b", to_truths)):
        here = [at for at, j in enumerate(others) if kinds[j] == kind]
        if here:
            values = _flat(rows, [places[others[at]] for at in here])
            numbers[:, here] = convert(values).reshape(len(rows), -1)
    return PlainBatch(types, numbers, words)


def _flat(rows: list[Row], places: list[int]) -> list[str]:
    """Some columns, row by row."""
    if len(places) == 1:
        return [row[places[0]] for row in rows]
    return list(chain.from_iterable(map(itemgetter(*places), rows)))


def type_of(values: list[str]) -> np.dtype[Any]:
    """The type of a column: numbers, else booleans, else text.

    Examples
    --------
    >>> [type_of(column).name for column in (["1", "", "2e3"], ["1", "true"], ["1", "2", "true"])]
    ['float64', 'bool', 'str']
    """
    for type_, convert in ((NUMBER, to_numbers), (BOOLEAN, to_truths)):
        with suppress(WrongTypeError):
            convert(values)
            return type_
    return TEXT


def to_numbers(values: list[str]) -> Floats:
    """Texts as numbers, NaN where missing; what pyarrow takes for no number is refused."""
    together = "".join(values)
    try:
        if "_" in together or not (together.isascii() and together.isprintable()):
            return np.array([_number(value) for value in values])
        with suppress(ValueError):
            return np.fromiter(map(float, values), np.float64, len(values))
        known = (nan if value in GAPS else float(value) for value in values)
        return np.fromiter(known, np.float64, len(values))
    except ValueError as error:
        raise WrongTypeError(str(error)) from error


def _number(text: str) -> float:
    """One number; Python itself knows more spellings, such as 1_000 and digits of all scripts."""
    if text in GAPS:
        return nan
    bare = text.strip(" \t")
    if "_" in bare or not bare.isascii() or bare != bare.strip():
        raise ValueError(f"no number: {text!r}")
    return float(bare)


def to_truths(values: list[str]) -> Floats:
    """Texts as 1 and 0, NaN where missing; any other is refused."""
    try:
        return np.array([TRUTHS[value] for value in values])
    except KeyError as error:
        raise WrongTypeError(f"no boolean: {error}") from error


def to_codes(values: list[str], gaps: frozenset[str], read: Callable[[str], Any] = str) -> Coded:
    """Texts as codes, -1 for those that mean missing, and what the codes stand for."""
    levels = [value for value in dict.fromkeys(values) if value not in gaps]
    "".join(levels).encode()  # fails where the file is not UTF-8
    place = dict.fromkeys(gaps, -1) | {level: code for code, level in enumerate(levels)}
    codes = np.fromiter(map(place.__getitem__, values), np.int32, len(values))
    return codes, [read(level) for level in levels]
