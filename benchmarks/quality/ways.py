"""Every way to select: bestk's methods on the table itself, other packages on its numbers.

A column has the best score of the numbers that it became (``encode``). Slow packages see only the
numbers with the largest F statistics, as many as ``limit``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from warnings import catch_warnings

import numpy as np

from benchmarks.quality import foreign
from benchmarks.quality.encode import Floats, Indices, Split, days
from benchmarks.quality.foreign import BINS, SEED, TREES, Numbers
from benchmarks.selectors.silence import silent

DEFAULT = "default"
PREVIOUS = "previous default"  # of the record alone: its code is gone
FILTER = "f_classif"


@dataclass(frozen=True)
class Way:
    """Another package, and how it scores numbers or chooses columns."""

    package: str

    score: Callable[[Numbers], Floats] | None
    """The larger the score of a number, the earlier its column is selected."""

    settings: str

    limit: int | None = None
    """Only so many numbers are scored, those with the largest F statistics."""

    classes_only: bool = False

    choose: Callable[[Numbers, Indices, int], list[int]] | None = None
    """Choose k columns, given the column that each number belongs to; in place of scores."""


OWN: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "balanced": {"method": ("balanced", "swap"), "information": "blend", "bound": None},
    "search on blend": {"method": "search", "information": "blend", "bound": None},
    "search": {"method": "search", "bound": None},
    "mrmr": {"method": "mrmr", "bound": None},
    "jmi": {"method": "jmi", "bound": None},
    "tpower": {"method": "tpower", "bound": None},
}
"""Parameters of SelectBestK; a pair of names is an objective and its solver."""

WAYS = {
    FILTER: Way("scikit-learn", foreign.f_statistic, "f_regression for numbers"),
    "mutual_info": Way("scikit-learn", foreign.mutual_info, "3 nearest neighbours", 500),
    "mrmr_selection": Way(
        "mrmr-selection", foreign.mrmr_selection, "F statistic over correlation", 2000
    ),
    "fast-select mRMR": Way("fast-select", foreign.fast_mrmr, f"MID, {BINS} quantile bins", 2000),
    "random forest": Way("scikit-learn", partial(foreign.forest, "RandomForest"), f"{TREES} trees"),
    "extra trees": Way("scikit-learn", partial(foreign.forest, "ExtraTrees"), f"{TREES} trees"),
    "LightGBM gain": Way("lightgbm", foreign.lightgbm_gain, "100 rounds", 2000),
    "RFE": Way(
        "scikit-learn", foreign.elimination, "ridge, 50% fewer a round, below 200 columns 10%"
    ),
    "Boruta": Way("Boruta", foreign.boruta, "50 trees of depth 5, 20 rounds", 200),
    "L1": Way("scikit-learn", foreign.l1, "logistic, C = 1; lasso by cross-validation", 2000),
    "permutation": Way("scikit-learn", foreign.permutation, "forest of 50 trees, 3 repeats", 100),
    "fastcan": Way("fastcan", foreign.fastcan, "no settings"),
    "abess": Way("abess", None, "a column is a group; support size k", choose=foreign.abess),
    "ReliefF": Way(
        "fast-select", partial(foreign.relief, "ReliefF"), "10 neighbours", 500, classes_only=True
    ),
    "MultiSURF": Way(
        "fast-select", partial(foreign.relief, "MultiSURF"), "no settings", 500, classes_only=True
    ),
    "pyHSICLasso": Way("pyHSICLasso", foreign.hsic_lasso, "blocks of 20 rows, M = 1", 200),
    "LassoNet": Way("lassonet", foreign.lassonet, "32 hidden units, path multiplier 1.1", 200),
}

RUNNABLE = (*OWN, *WAYS)
NAMES = (DEFAULT, PREVIOUS, *RUNNABLE[1:])

# Run on the first fold only, and not ranked with the others.
SLOW = ("search", "ReliefF", "MultiSURF", "LassoNet")


def select(name: str, split: Split, ks: Sequence[int]) -> dict[int, list[int]]:
    """Columns by position, best first, for every k."""
    if name in OWN:
        return {k: select_own(OWN[name], split, k) for k in ks}
    way = WAYS[name]
    if way.choose is not None:
        return {k: _choose(way, split, k) for k in ks}
    order = _rank(way, split)
    return {k: order[:k].tolist() for k in ks}


def missing_package(name: str) -> str | None:
    """The package that a way needs and that is not installed."""
    if name in OWN:
        return None
    try:
        version(WAYS[name].package)
    except PackageNotFoundError:
        return WAYS[name].package
    return None


def serves(name: str, kind: str) -> bool:
    """Whether a way is one for this kind of target."""
    return name in OWN or kind == "classes" or not WAYS[name].classes_only


def select_own(settings: dict[str, Any], split: Split, k: int | str) -> list[int]:
    """Columns that SelectBestK selects; a pair of names is an objective and its solver."""
    from bestk import Quadratic, SelectBestK

    method = settings.get("method")
    if isinstance(method, tuple):
        settings = settings | {"method": Quadratic(*method)}
    target = "classes" if split.kind == "classes" else "continuous"
    selector = SelectBestK(k, target=target, random_state=SEED, **settings)
    with catch_warnings(action="ignore"):
        return selector.fit(days(split.X), split.y).solution_.support.tolist()


def _choose(way: Way, split: Split, k: int) -> list[int]:
    """The k columns that a way chooses together."""
    numbers = Numbers(split.matrix.train, split.y, split.kind == "classes")
    with catch_warnings(action="ignore"), np.errstate(all="ignore"), silent():
        return way.choose(numbers, split.matrix.owner, k)


def _rank(way: Way, split: Split) -> Indices:
    """Columns, best first; columns of equal scores by their F statistic."""
    matrix = split.matrix
    numbers = Numbers(matrix.train, split.y, split.kind == "classes")
    with catch_warnings(action="ignore"), np.errstate(all="ignore"), silent():
        statistic = foreign.f_statistic(numbers)
        kept = np.sort(np.argsort(-statistic, kind="stable")[: way.limit])
        scores = np.full(len(statistic), -np.inf)
        scores[kept] = way.score(Numbers(matrix.train[:, kept], split.y, numbers.classes))
    score_of_column = foreign.best_of_columns(scores, matrix.owner)
    statistic_of_column = foreign.best_of_columns(statistic, matrix.owner)
    return np.lexsort((-statistic_of_column, -score_of_column))
