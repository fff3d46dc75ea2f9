"""What to know before trusting a selection: leaks, identifiers, copies, classes of few rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from bestk.codes import Target
from bestk.report._columns import Values, bin_codes, column_values
from bestk.report._text import shown
from bestk.table import Table

LEAK = 0.99  # share of the rows whose class one column tells, and of what guessing leaves open
ROWS_PER_BIN = 5  # fewer on average, and a column tells classes by chance
MOSTLY = 0.5  # share of the rows: different texts, or missing values
FEWEST_ROWS = 10  # of a table in which different values mean something
SMALL_CLASS = 10  # rows
NAMED = 8  # columns that a warning names
MOST_VALUES = 2**26  # of a table whose columns are compared


@dataclass(frozen=True)
class Caution:
    """Something to look at."""

    kind: str  # "leak", "identifier", "duplicate", "class", "constant", "missing" or "note"
    text: str
    advice: str = ""


def is_leak(codes: NDArray[np.int64], target: Target) -> bool:
    """Whether the bins of one column nearly determine the class.

    That is: the most frequent class of each bin is right for 99 % of the rows, and for 99 % of
    those that the most frequent class of all is wrong for; and bins have five rows on average.

    Examples
    --------
    >>> from bestk.codes import read_target
    >>> y = read_target([0, 1] * 10, 20)
    >>> is_leak(np.array([0, 1] * 10), y), is_leak(np.array([0, 1] * 9 + [1, 1]), y)
    (True, False)
    """
    n, n_bins = len(codes), len(np.unique(codes))
    if n < ROWS_PER_BIN * n_bins:
        return False
    counts = np.bincount(codes * target.n_classes + target.codes)
    counts = np.append(counts, np.zeros(-len(counts) % target.n_classes, np.int64))
    right = int(counts.reshape(-1, target.n_classes).max(axis=1).sum())
    wrong, guessed = n - right, n - int(target.counts.max())
    return wrong <= (1 - LEAK) * n and wrong <= (1 - LEAK) * guessed


def is_identifier(column: Values) -> bool:
    """Whether values name rows: text that differs in most rows, or whole numbers in all.

    Examples
    --------
    >>> from bestk.table import read_table
    >>> table = read_table([[i, f"p{i}", i / 2, i % 3] for i in range(20)])
    >>> [is_identifier(column_values(table, j)) for j in range(4)]
    [True, True, False, False]
    """
    known = column.values[~column.missing]
    if len(column.values) < FEWEST_ROWS or column.kind == "boolean":
        return False
    n_different = len(np.unique(known))
    if column.categories is not None:
        return n_different > MOSTLY * len(column.values)
    whole = bool((known == np.floor(known)).all())
    return whole and n_different == len(column.values)


def content_of(column: Values) -> bytes:
    """What two columns of the same values have in common, and others do not.

    Examples
    --------
    >>> from bestk.table import read_table
    >>> table = read_table([[1, 5, 1.0, "1"], [2, 6, 2.0, "2"]])
    >>> first, *others = (content_of(column_values(table, j)) for j in range(4))
    >>> [first == other for other in others]
    [False, True, False]
    """
    if column.categories is None:
        numbers = np.asarray(column.values, np.float64) + 0.0  # -0.0 is 0.0
        return b"numbers" + sha256(numbers.tobytes()).digest()
    spelled = repr([str(category) for category in column.categories]).encode()
    return b"words" + sha256(spelled + np.asarray(column.values, np.int64).tobytes()).digest()


@dataclass
class Findings:
    """Columns that are odd, by their places."""

    identifiers: list[int] = field(default_factory=list)
    constants: list[int] = field(default_factory=list)
    empty: dict[int, float] = field(default_factory=dict)  # with the share that is missing
    alike: dict[bytes, list[int]] = field(default_factory=dict)

    def add(self, place: int, column: Values) -> None:
        """Look at one more column."""
        if is_identifier(column):
            self.identifiers.append(place)
        if _is_constant(column):
            self.constants.append(place)
        else:
            self.alike.setdefault(content_of(column), []).append(place)
            if (share := float(column.missing.mean())) > MOSTLY:
                self.empty[place] = share


def column_cautions(table: Table, selected: set[int]) -> list[Caution]:
    """Identifiers, columns that are mostly missing or say nothing, and copies."""
    if table.n_samples * table.n_features > MOST_VALUES:
        text = "The columns were not looked at one by one: the table is too large for that."
        return [Caution("note", text)]
    found, names = Findings(), table.names
    for place in range(table.n_features):
        found.add(place, column_values(table, place))
    cautions = [
        Caution(
            "identifier",
            f"{quoted(names, [j])} {'was selected and ' if j in selected else ''}"
            "has a different value in most rows, as an identifier has.",
            "Exclude it if it only names the rows.",
        )
        for j in found.identifiers[:NAMED]
    ]
    for j, share in list(found.empty.items())[:NAMED]:
        text = f"{quoted(names, [j])} is missing in {100 * share:.0f}% of the rows."
        cautions.append(Caution("missing", text))
    if n := len(found.constants):
        what = "1 column holds" if n == 1 else f"{n} columns hold"
        text = f"{what} one value only: {quoted(names, found.constants)}."
        cautions.append(Caution("constant", text))
    copies = [group for group in found.alike.values() if len(group) > 1]
    cautions += [
        Caution("duplicate", f"{quoted(names, group)} hold the same values.",
                "One of them is enough.")
        for group in copies[:NAMED]
    ]  # fmt: skip
    return cautions


def class_cautions(target: Target) -> list[Caution]:
    """Classes of few rows."""
    small = np.flatnonzero(target.counts < SMALL_CLASS)
    if not len(small):
        return []
    names = [f"“{shown(target.classes[i])}” ({target.counts[i]})" for i in small[:NAMED]]
    more = f" and {len(small) - NAMED} more" if len(small) > NAMED else ""
    text = f"Classes of fewer than {SMALL_CLASS} rows: {', '.join(names)}{more}."
    return [Caution("class", text, "What is said of them is uncertain; join classes or add rows.")]


def leak_cautions(
    table: Table, places: Iterable[int], cuts: Mapping[int, NDArray[np.float64]], target: Target
) -> list[Caution]:
    """Those of some columns, cut into bins as they are, that nearly determine the target."""
    return [
        Caution(
            "leak",
            f"{quoted(table.names, [place])} alone nearly determines the target.",
            "See whether it is known at the time of prediction; if not, exclude it.",
        )
        for place in places
        if is_leak(_bins(column_values(table, place), cuts.get(place), target), target)
    ]


def _bins(column: Values, cuts: NDArray[np.float64] | None, target: Target) -> NDArray[np.int64]:
    """The bin of each row; numbers that were not cut are cut here."""
    codes = bin_codes(column, cuts)
    if codes is None:
        from bestk.discretize import MDLP

        own = MDLP().fit(column.values.reshape(-1, 1), target.codes)
        codes = bin_codes(column, own.cut_points_[0])
    assert codes is not None
    return codes


def quoted(names: Sequence[str], places: list[int]) -> str:
    """Some names, and how many more there are."""
    listed = ", ".join(f"“{shown(names[j])}”" for j in places[:NAMED])
    return listed + (f" and {len(places) - NAMED} more" if len(places) > NAMED else "")


def _is_constant(column: Values) -> bool:
    known = column.values[~column.missing]
    mixed = column.missing.any() and len(known) > 0
    return len(np.unique(known)) <= 1 and not mixed
