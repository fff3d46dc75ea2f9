"""The data sets by name, and the two halves in which they are looked at.

The halves were written down before any result. Whoever chooses a default looks at ``TUNE`` only;
``JUDGE`` says how good the choice was. The rule: each half has sets of gene expression, of images
and of plain tables; the six kinds of made-up sets are dealt in turn, in their order in ``MAKERS``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.quality.generated import MAKERS, Groups, Labels
from bestk import datasets

TUNE = ("arrhythmia", "colon", "lung", "optdigits", "spambase", "waveform", "breast_cancer",
        "hypercube", "copies", "levels")  # fmt: skip
JUDGE = ("leukemia", "lymphoma", "madelon", "multifeat", "musk2", "promoter", "digits", "wine",
         "xor", "chains", "wide")  # fmt: skip
HALVES = {"tune": TUNE, "judge": JUDGE}
NAMES = (*TUNE, *JUDGE)
SKLEARN = ("breast_cancer", "digits", "wine")
MOST_ROWS = 2000  # of larger sets a part is drawn, with the same shares of the classes
SEED = 0
MADE_SEED = 20  # of the made-up sets


@dataclass(frozen=True)
class Problem:
    """A table of which some columns are to be chosen, and what is known of it."""

    name: str
    X: NDArray[Any]
    y: Labels
    nominal: bool = False  # every column holds codes without an order
    groups: Groups = ()  # of columns that matter, where that is known; one of each would do

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    @property
    def planted(self) -> tuple[int, ...]:
        """Columns that matter."""
        return tuple(sorted(i for group in self.groups for i in group))

    @property
    def categorical(self) -> NDArray[np.int64] | None:
        """Columns to be read as categories."""
        return np.arange(self.n_features) if self.nominal else None


def load(name: str, data: str | None = None, most_rows: int | None = MOST_ROWS) -> Problem:
    """A data set by name, constant columns left out, of at most so many rows.

    Examples
    --------
    >>> wine = load("wine")
    >>> wine.X.shape
    (178, 13)
    >>> load("xor").planted
    (14, 16, 47, 48, 67, 93)
    """
    if name not in NAMES:
        raise ValueError(f"unknown data set {name!r}; choose one of {', '.join(NAMES)}")
    if name in MAKERS:
        made = MAKERS[name](MADE_SEED)
        found = Problem(name, made.X, made.y, made.nominal, made.groups)
    elif name in SKLEARN:
        found = _with_sklearn(name)
    else:
        read = datasets.load(name, data)
        found = Problem(name, read.X, read.y, read.nominal)
    return _fewer_rows(found, most_rows)


def available(name: str, data: str | None = None) -> bool:
    """Whether nothing needs to be fetched."""
    return name in MAKERS or name in SKLEARN or datasets.available(name, data)


def recall(groups: Groups, chosen: Any) -> float:
    """The share of groups of which something was chosen.

    Examples
    --------
    >>> recall(((0, 1), (2, 3)), [0, 1, 5])
    0.5
    """
    return sum(bool(set(group) & {int(i) for i in chosen}) for group in groups) / len(groups)


def _with_sklearn(name: str) -> Problem:
    import sklearn.datasets

    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    return Problem(name, X[:, X.min(axis=0) < X.max(axis=0)], y.astype(np.int64))


def _fewer_rows(found: Problem, most: int | None) -> Problem:
    if most is None or len(found.y) <= most:
        return found
    rows, _ = train_test_split(
        np.arange(len(found.y)), train_size=most, stratify=found.y, random_state=SEED
    )
    rows = np.sort(rows)
    return Problem(found.name, found.X[rows], found.y[rows], found.nominal, found.groups)
