"""All tables of the benchmark by name, and the halves that they belong to.

The halves were fixed before any result. The names of each source are sorted; the set at position
i is for tuning if i % 4 == 3 and for judging otherwise. Choices are made on ``tune`` alone, and
what is published about them comes from ``judge`` alone. The halves of the tables of R packages
follow from the hash of their names (``r_tables``), those of made-up tables from their family and
seed (``tables``, ``domains``). The sets that come with scikit-learn are for tuning, since they were
looked at before.

New sets for judging are the tables of R packages, with and without copies, and the made-up ones
of the source "new made-up": the others were judged before, when the default was another.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn.datasets
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.quality import domains, ordinary, r_tables, tables
from benchmarks.quality.problem import Half, Kind, Problem

MAX_ROWS = 2000  # of longer tables a random part is taken
MAX_COLUMNS = 8000  # of wider tables a random part is taken
SEED = 0
MADE_FOLDS = 3  # a made-up table has this many times the rows to select from
COPIES = "+copies"  # ends the names of tables with permuted copies of columns

FOLDERS = {
    "paper": "BESTK_DATA",
    "wide": "BESTK_DATA2",
    "mixed": "BESTK_DATA2",
    "regression": "BESTK_DATA2",
}
FILES = {
    "paper": (
        "arrhythmia", "colon", "leukemia", "lung", "lymphoma", "madelon", "multifeat", "musk2",
        "optdigits", "promoter", "spambase", "waveform",
    ),
    "wide": (
        "chowdary", "cnae9", "dna", "eleven_tumors", "gravier", "khan", "mdrr", "mll", "orl",
        "pd_speech", "phenyl", "shipp", "warpar10p",
    ),
    "mixed": ("adult", "german", "horse_colic", "hypothyroid", "mushroom", "soybean"),
    "regression": ("ailerons", "bloodbrain", "pac", "permeability", "pol", "puma32h", "riboflavin"),
}  # fmt: skip
SKLEARN = ("breast_cancer", "diabetes", "digits", "wine")  # for tuning
CATEGORICAL = ("promoter",)  # every column is a category
TABLES = ("ordinary", "R tables")
COPIED = ("copies", "R copies")
NEW_REAL = ("R tables",)
NEW_COPIED = ("R copies",)
NEW_MADE_UP = ("new made-up",)
REAL = (*FILES, *TABLES, "scikit-learn")

FEW_ROWS, TEXTS, MIXED, REGRESSION, ORDINARY = (
    "wide, few rows",
    "words and pixels",
    "mixed",
    "regression",
    "ordinary",
)
LINES = (FEW_ROWS, TEXTS, MIXED, REGRESSION, ORDINARY)
LINE_OF_SET = {
    "cnae9": TEXTS,
    "diabetes": REGRESSION,
    "digits": TEXTS,
    "dna": TEXTS,
    "multifeat": TEXTS,
    "optdigits": TEXTS,
    "orl": TEXTS,
    "spambase": TEXTS,
    "warpar10p": TEXTS,
    "promoter": MIXED,
    "madelon": ORDINARY,
    "musk2": ORDINARY,
    "waveform": ORDINARY,
}
LINE_OF_SOURCE = {
    "paper": FEW_ROWS,
    "wide": FEW_ROWS,
    "mixed": MIXED,
    "regression": REGRESSION,
    "ordinary": ORDINARY,
    "R tables": ORDINARY,
    "scikit-learn": ORDINARY,
}


@dataclass(frozen=True)
class Entry:
    """A table that can be loaded."""

    name: str
    source: str
    half: Half
    family: str = ""
    seed: int = 0

    @property
    def table(self) -> str:
        """The name of a table of a package, without what says that it has copies."""
        return self.name.removesuffix(COPIES)

    @property
    def available(self) -> bool:
        """Whether its package is installed, or its file is there."""
        if self.family or self.source == "scikit-learn":
            return True
        if self.source in ("ordinary", "copies"):
            return ordinary.available()
        if self.source in ("R tables", "R copies"):
            return r_tables.available()
        folder = os.environ.get(FOLDERS[self.source])
        return bool(folder) and _path(self).exists()

    @property
    def kind(self) -> Kind:
        """What a real set predicts."""
        if self.source in ("ordinary", "copies"):
            return ordinary.SPECS[self.table].kind
        if self.source in ("R tables", "R copies"):
            return r_tables.specs()[self.table].kind
        return "numbers" if self.line == REGRESSION else "classes"

    @property
    def line(self) -> str:
        """The kind of table that a real set counts for."""
        return line_of(self.name, self.source)


def line_of(name: str, source: str) -> str:
    """The kind of table that a real set counts for: each counts alike in the headline.

    Examples
    --------
    >>> line_of("spambase", "paper"), line_of("colon", "paper")
    ('words and pixels', 'wide, few rows')
    """
    return LINE_OF_SET.get(name, LINE_OF_SOURCE[source])


def entries() -> Iterator[Entry]:
    """All tables: the real sets of each source in turn, then the made-up ones."""
    for source, names in FILES.items():
        yield from _every_fourth_for_tuning(source, names)
    yield from _every_fourth_for_tuning("ordinary", tuple(ordinary.SPECS))
    copies = tuple(f"{name}{COPIES}" for name in ordinary.SPECS)
    yield from _every_fourth_for_tuning("copies", copies)
    for table in r_tables.specs():
        yield Entry(table, "R tables", r_tables.half_of(table))
    for table in r_tables.specs():
        yield Entry(f"{table}{COPIES}", "R copies", r_tables.half_of(table))
    for name in SKLEARN:
        yield Entry(name, "scikit-learn", "tune")
    for family, seed in tables.names():
        source = "new made-up" if seed in tables.NEW_JUDGE_SEEDS else "made-up"
        yield Entry(f"{family}-{seed}", source, tables.half_of(family, seed), family, seed)
    for family, seed in domains.names():
        half = domains.half_of(family, seed)
        yield Entry(f"{family}-{seed}", domains.source_of(half), half, family, seed)


def _every_fourth_for_tuning(source: str, names: tuple[str, ...]) -> Iterator[Entry]:
    for position, name in enumerate(sorted(names)):
        yield Entry(name, source, "tune" if position % 4 == 3 else "judge")


@cache
def catalogue() -> dict[str, Entry]:
    """All tables by name."""
    return {entry.name: entry for entry in entries()}


def load(name: str) -> Problem:
    """A table by its name, of at most 2,000 rows and 8,000 columns if it is real.

    Examples
    --------
    >>> load("marketing-0").X.shape
    (6000, 100)
    """
    entry = catalogue()[name]
    if entry.family:
        maker = domains if entry.family in domains.DOMAINS else tables
        rows = MADE_FOLDS * maker.training_rows(entry.family)
        return maker.make(entry.family, entry.seed, rows)
    X, y = _read(entry)
    if entry.kind == "classes":
        y = np.unique(y, return_inverse=True)[1]
    if X.shape[1] > MAX_COLUMNS:
        rng = np.random.default_rng(SEED)
        X = X.iloc[:, np.sort(rng.choice(X.shape[1], MAX_COLUMNS, replace=False))]
    if name in CATEGORICAL:
        X = X.astype("category")
    rows = _sample(y, entry.kind == "classes")
    X = X.iloc[rows].reset_index(drop=True)
    groups: tuple[tuple[str, ...], ...] = ()
    if entry.source in COPIED:
        groups = tuple((column,) for column in X.columns)
        X = ordinary.add_copies(X)
    return Problem(name, X, y[rows], entry.kind, entry.source, entry.half, groups)


def _read(entry: Entry) -> tuple[pd.DataFrame, NDArray[Any]]:
    if entry.source in ("ordinary", "copies"):
        return ordinary.read(entry.table)
    if entry.source in ("R tables", "R copies"):
        return r_tables.read(entry.table)
    if entry.source == "scikit-learn":
        return _read_sklearn(entry.name)
    if entry.source == "mixed":
        return _read_table(_path(entry))
    return _read_arrays(_path(entry))


def _path(entry: Entry) -> Path:
    variable = FOLDERS[entry.source]
    folder = os.environ.get(variable)
    if not folder:
        raise FileNotFoundError(f"the folder of {entry.name} is not known; set {variable}")
    ending = "csv.gz" if entry.source == "mixed" else "npz"
    return Path(folder) / f"{entry.name}.{ending}"


def _read_sklearn(name: str) -> tuple[pd.DataFrame, NDArray[Any]]:
    """A set that comes with scikit-learn."""
    loaded = getattr(sklearn.datasets, f"load_{name}")(as_frame=True)
    return loaded.data.astype(float), loaded.target.to_numpy()


def _read_arrays(path: Path) -> tuple[pd.DataFrame, NDArray[Any]]:
    with np.load(path, allow_pickle=False) as file:
        X, y = file["X"], file["y"]
    names = [f"x{i}" for i in range(X.shape[1])]
    return pd.DataFrame(X.astype(float), columns=names), y


def _read_table(path: Path) -> tuple[pd.DataFrame, NDArray[Any]]:
    """A CSV file, beside which a JSON file names the target and the kinds of the columns."""
    name = path.name.split(".")[0]
    spec = json.loads(path.with_name(f"{name}.json").read_text())
    text = [column for column, kind in spec["kinds"].items() if kind != "numeric"]
    types = dict.fromkeys([*text, spec["target"]], str)
    X = pd.read_csv(path, dtype=types, keep_default_na=False, na_values=[""])
    y = X.pop(spec["target"]).to_numpy()
    return X.astype(dict.fromkeys(text, "category")), y


def _sample(y: NDArray[Any], stratified: bool) -> NDArray[np.int64]:
    """At most so many rows, in order, with the same shares of the classes."""
    rows = np.arange(len(y))
    if len(y) > MAX_ROWS:
        classes = y if stratified else None
        rows, _ = train_test_split(rows, train_size=MAX_ROWS, random_state=SEED, stratify=classes)
    return np.sort(rows)
