"""The real data sets, and the halves of all tables.

The halves were fixed before any result. The names of each source are sorted; the set at position
i is for tuning if i % 4 == 3 and for judging otherwise. Choices are made on ``tune`` alone, and
what is published about them comes from ``judge`` alone. For made-up tables see ``tables``.
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
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.quality import ordinary, tables
from benchmarks.quality.problem import Half, Kind, Problem

MAX_ROWS = 2000
COPIES = "+copies"  # ends the names of ordinary tables with permuted copies of columns
MAX_COLUMNS = 8000  # of wider sets a random part is taken
SEED = 0
MADE_FOLDS = 3  # a made-up table has this many times the rows to select from
FOLDERS = {"paper": "BESTK_DATA", "wide": "BESTK_DATA2", "mixed": "BESTK_DATA2",
           "regression": "BESTK_DATA2"}  # fmt: skip
SOURCES = {
    "paper": ("arrhythmia", "colon", "leukemia", "lung", "lymphoma", "madelon", "multifeat",
              "musk2", "optdigits", "promoter", "spambase", "waveform"),
    "wide": ("chowdary", "cnae9", "dna", "eleven_tumors", "gravier", "khan", "mdrr", "mll", "orl",
             "pd_speech", "phenyl", "shipp", "warpar10p"),
    "mixed": ("adult", "german", "horse_colic", "hypothyroid", "mushroom", "soybean"),
    "regression": ("ailerons", "bloodbrain", "pac", "permeability", "pol", "puma32h",
                   "riboflavin"),
    "ordinary": tuple(ordinary.SPECS),
    "copies": tuple(f"{name}{COPIES}" for name in ordinary.SPECS),
}  # fmt: skip
CATEGORICAL = ("promoter",)  # every column is a category


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
        """The name of an ordinary table, empty for all others."""
        return self.name.removesuffix(COPIES) if self.source in ("ordinary", "copies") else ""

    @property
    def available(self) -> bool:
        """Whether its file is there."""
        if self.table:
            return ordinary.available()
        folder = os.environ.get(FOLDERS.get(self.source, ""))
        return bool(self.family) or (bool(folder) and _path(self).exists())

    @property
    def kind(self) -> Kind:
        """What a real set predicts."""
        if self.table:
            return ordinary.SPECS[self.table].kind
        return "numbers" if self.source == "regression" else "classes"


def entries() -> Iterator[Entry]:
    """All tables: the real sets of each source in turn, then the made-up ones."""
    for source, names in SOURCES.items():
        for position, name in enumerate(sorted(names)):
            yield Entry(name, source, "tune" if position % 4 == 3 else "judge")
    for family, seed in tables.names():
        yield Entry(f"{family}-{seed}", "made-up", tables.half_of(family, seed), family, seed)


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
        rows = MADE_FOLDS * tables.training_rows(entry.family)
        return tables.make(entry.family, entry.seed, rows)
    X, y = _read(entry)
    if entry.kind == "classes":
        y = np.unique(y, return_inverse=True)[1]
    rows = _sample(y, entry.kind == "classes")
    if X.shape[1] > MAX_COLUMNS:
        rng = np.random.default_rng(SEED)
        X = X.iloc[:, np.sort(rng.choice(X.shape[1], MAX_COLUMNS, replace=False))]
    if name in CATEGORICAL:
        X = X.astype("category")
    X = X.iloc[rows].reset_index(drop=True)
    groups: tuple[tuple[str, ...], ...] = ()
    if entry.source == "copies":
        groups, X = tuple((column,) for column in X.columns), ordinary.add_copies(X)
    return Problem(name, X, y[rows], entry.kind, entry.source, entry.half, groups)


def _read(entry: Entry) -> tuple[pd.DataFrame, NDArray[Any]]:
    if entry.table:
        return ordinary.read(entry.table)
    return (_read_table if entry.source == "mixed" else _read_arrays)(_path(entry))


def _path(entry: Entry) -> Path:
    variable = FOLDERS[entry.source]
    folder = os.environ.get(variable)
    if not folder:
        raise FileNotFoundError(f"the folder of {entry.name} is not known; set {variable}")
    return Path(folder) / f"{entry.name}.{'csv.gz' if entry.source == 'mixed' else 'npz'}"


def _read_arrays(path: Path) -> tuple[pd.DataFrame, NDArray[Any]]:
    with np.load(path, allow_pickle=False) as file:
        X, y = file["X"], file["y"]
    return pd.DataFrame(X.astype(float), columns=[f"x{i}" for i in range(X.shape[1])]), y


def _read_table(path: Path) -> tuple[pd.DataFrame, NDArray[Any]]:
    spec = json.loads(path.with_name(f"{path.name.split('.')[0]}.json").read_text())
    text = [name for name, kind in spec["kinds"].items() if kind != "numeric"]
    X = pd.read_csv(path, dtype=dict.fromkeys([*text, spec["target"]], str),
                    keep_default_na=False, na_values=[""])  # fmt: skip
    y = X.pop(spec["target"]).to_numpy()
    return X.astype(dict.fromkeys(text, "category")), y


def _sample(y: NDArray[Any], stratified: bool) -> NDArray[np.int64]:
    """At most so many rows, with the same shares of the classes."""
    rows = np.arange(len(y))
    if len(y) > MAX_ROWS:
        rows, _ = train_test_split(rows, train_size=MAX_ROWS, random_state=SEED,
                                   stratify=y if stratified else None)  # fmt: skip
    return np.sort(rows)
