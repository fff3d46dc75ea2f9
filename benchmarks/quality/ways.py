"""Every way to select: bestk's methods on the table itself, other packages on its numbers.

A way of another package scores the numbers of ``encode``; a column has the best score of its
numbers. Slow packages see only the columns with the largest F statistics, as many as ``limit``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from warnings import catch_warnings

import numpy as np
from scipy.linalg import qr

from benchmarks.quality.encode import Floats, Indices, Split, days
from benchmarks.selectors.silence import silent

TREES = 100
BINS = 5  # of equal frequency, for a package that counts but does not discretise
SELECTED = 50  # the most columns of interest; packages that stop early stop there
TINY = 1e-300
SEED = 0


@dataclass(frozen=True)
class Numbers:
    """Training rows as numbers, and the target."""

    X: Floats
    y: Any
    classes: bool


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

    if isinstance(method := settings.get("method"), tuple):
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
    with catch_warnings(action="ignore"), np.errstate(all="ignore"), silent():
        numbers = Numbers(matrix.train, split.y, split.kind == "classes")
        statistic = _f_statistic(numbers)
        kept = np.sort(np.argsort(-statistic, kind="stable")[: way.limit])
        scores = np.full(len(statistic), -np.inf)
        scores[kept] = way.score(Numbers(matrix.train[:, kept], split.y, numbers.classes))
    own, other = (_best_of(values, matrix.owner) for values in (scores, statistic))
    return np.lexsort((-other, -own))


def _best_of(scores: Floats, owner: Indices) -> Floats:
    """The best score of the numbers of each column."""
    best = np.full(owner.max() + 1, -np.inf)
    np.maximum.at(best, owner, np.nan_to_num(scores, nan=-np.inf))
    return best


def _f_statistic(numbers: Numbers) -> Floats:
    from sklearn.feature_selection import f_classif, f_regression

    statistic = (f_classif if numbers.classes else f_regression)(numbers.X, numbers.y)[0]
    return np.nan_to_num(statistic, nan=-1.0, posinf=np.finfo(float).max)


def _mutual_info(numbers: Numbers) -> Floats:
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    estimate = mutual_info_classif if numbers.classes else mutual_info_regression
    return estimate(numbers.X, numbers.y, random_state=SEED, n_jobs=1)


def _l1(numbers: Numbers) -> Floats:
    from sklearn.linear_model import LassoCV, LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    if not numbers.classes:
        return np.abs(LassoCV(cv=3, alphas=30, random_state=SEED).fit(numbers.X, numbers.y).coef_)
    model = LogisticRegression(l1_ratio=1.0, solver="liblinear", max_iter=100, tol=1e-3,
                               random_state=SEED)  # fmt: skip
    found = OneVsRestClassifier(model).fit(numbers.X, numbers.y).estimators_
    return np.abs(np.vstack([each.coef_ for each in found])).max(axis=0)


def _elimination(numbers: Numbers) -> Floats:
    """Half of the columns leave in a round above 200 columns, a tenth below."""
    from sklearn.linear_model import Ridge, RidgeClassifier

    left, scores, rounds = np.arange(numbers.X.shape[1]), np.zeros(numbers.X.shape[1]), 0
    while len(left):
        model = RidgeClassifier() if numbers.classes else Ridge()
        weights = np.atleast_2d(model.fit(numbers.X[:, left], numbers.y).coef_)
        order = np.argsort((weights**2).sum(axis=0))
        out = order[: max(1, len(left) // (2 if len(left) > 200 else 10))]
        scores[left[out]] = rounds + np.arange(len(out)) / len(out)
        left, rounds = np.delete(left, out), rounds + 1
    return scores


def _forest(name: str, numbers: Numbers) -> Floats:
    import sklearn.ensemble

    make = getattr(sklearn.ensemble, f"{name}{'Classifier' if numbers.classes else 'Regressor'}")
    options = {} if numbers.classes else {"max_features": 1 / 3}
    forest = make(TREES, random_state=SEED, n_jobs=1, **options)
    return forest.fit(numbers.X, numbers.y).feature_importances_


def _permutation(numbers: Numbers) -> Floats:
    """Loss of accuracy or R2 on a quarter of the rows when a column is permuted, 3 times each."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import train_test_split

    X, X_test, y, y_test = train_test_split(numbers.X, numbers.y, random_state=SEED)
    make = RandomForestClassifier if numbers.classes else RandomForestRegressor
    forest = make(50, max_features="sqrt", random_state=SEED, n_jobs=1).fit(X, y)
    found = permutation_importance(forest, X_test, y_test, n_repeats=3, random_state=SEED)
    return found.importances_mean


def _lightgbm(numbers: Numbers) -> Floats:
    from lightgbm import LGBMClassifier, LGBMRegressor

    make = LGBMClassifier if numbers.classes else LGBMRegressor
    model = make(n_estimators=100, importance_type="gain", n_jobs=1, random_state=SEED,
                 deterministic=True, verbose=-1)  # fmt: skip
    return model.fit(numbers.X, numbers.y).feature_importances_.astype(float)


def _boruta(numbers: Numbers) -> Floats:
    """Its ranks; within a rank, the mean importance over the rounds."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    make = RandomForestClassifier if numbers.classes else RandomForestRegressor
    forest = make(max_depth=5, max_features="sqrt", n_jobs=1)
    found = BorutaPy(forest, n_estimators=50, max_iter=20, random_state=SEED)
    found.fit(numbers.X, numbers.y)
    mean = np.nan_to_num(np.nanmean(found.importance_history_[1:], axis=0))
    return np.argsort(np.argsort(mean)) / len(mean) - found.ranking_


def _mrmr_selection(numbers: Numbers) -> Floats:
    """Its own statistics take minutes, column by column; the same ones come from numpy."""
    import pandas as pd
    from mrmr import mrmr_classif, mrmr_regression

    kept = np.flatnonzero(numbers.X.std(axis=0) > 0)
    Z = numbers.X / np.maximum(np.sqrt((numbers.X**2).sum(axis=0)), TINY)
    statistic = pd.Series(_f_statistic(numbers))[kept]

    def correlations(target_column: int, features: list[int], X: Any) -> Any:
        return pd.Series(Z.T @ Z[:, target_column])[features]

    pick = mrmr_classif if numbers.classes else mrmr_regression
    picked = pick(pd.DataFrame(numbers.X, copy=False)[kept], pd.Series(numbers.y),
                  K=min(SELECTED, len(kept)), relevance=lambda X, y: statistic,
                  redundancy=correlations, n_jobs=1, show_progress=False)  # fmt: skip
    return _in_order(picked, numbers.X.shape[1])


def _binned(X: Floats) -> Indices:
    from sklearn.preprocessing import KBinsDiscretizer

    bins = KBinsDiscretizer(BINS, encode="ordinal", quantile_method="averaged_inverted_cdf")
    return bins.fit_transform(X).astype(np.int64)


def _fast_mrmr(numbers: Numbers) -> Floats:
    from fast_select import mRMR

    y = numbers.y if numbers.classes else _binned(numbers.y[:, None]).ravel()
    k = min(SELECTED, numbers.X.shape[1])
    return _in_order(mRMR(k, "MID", "cpu").fit(_binned(numbers.X), y).top_features_,
                     numbers.X.shape[1])  # fmt: skip


def _relief(name: str, numbers: Numbers) -> Floats:
    import fast_select

    options = {"n_neighbors": 10} if name == "ReliefF" else {}
    found = getattr(fast_select, name)(n_features_to_select=min(SELECTED, numbers.X.shape[1]),
                                       backend="cpu", n_jobs=1, **options)  # fmt: skip
    return found.fit(np.ascontiguousarray(numbers.X), numbers.y).feature_importances_


def _fastcan(numbers: Numbers) -> Floats:
    from fastcan import FastCan
    from sklearn.preprocessing import label_binarize

    y = numbers.y
    if numbers.classes:
        y = label_binarize(y, classes=np.unique(y)).astype(float)
    kept = np.flatnonzero(numbers.X.std(axis=0) > 0)
    k = min(SELECTED, len(kept), len(numbers.X) - 2)
    while True:  # it refuses to select more columns than are linearly independent
        try:
            found = FastCan(k, verbose=0).fit(numbers.X[:, kept], y)
            return _in_order(kept[found.indices_], numbers.X.shape[1])
        except RuntimeError:
            if k == 1:
                raise
            k -= 1


def _abess(numbers: Numbers, owner: Indices, k: int) -> list[int]:
    """The best k columns of a linear, logistic or multinomial model; a column is a group."""
    import abess

    if not numbers.classes:
        make = abess.LinearRegression
    elif len(np.unique(numbers.y)) == 2:
        make = abess.LogisticRegression
    else:
        make = abess.MultinomialRegression
    kept = _independent_numbers(numbers.X, owner)
    columns, group = np.unique(owner[kept], return_inverse=True)
    model = make(support_size=min(k, len(columns)), group=group, thread=1)
    model.fit(numbers.X[:, kept], numbers.y)
    weights = model.coef_.reshape(len(kept), -1)
    used = columns[np.unique(group[np.any(weights != 0.0, axis=1)])]
    statistic = _best_of(_f_statistic(numbers), owner)
    statistic[used] = np.inf  # too few columns are filled up by their F statistic
    return np.argsort(-statistic, kind="stable")[:k].tolist()


def _independent_numbers(X: Floats, owner: Indices) -> Indices:
    """Numbers by column, without those that are constant or follow from others of the column."""
    kept = []
    for column in np.unique(owner):
        numbers = np.flatnonzero(owner == column)
        triangle, order = qr(X[:, numbers], mode="r", pivoting=True)
        size = np.abs(np.diag(triangle))
        kept.extend(np.sort(numbers[order[: len(size)][size > 1e-6 * len(X) ** 0.5]]))
    return np.array(kept)


def _hsic_lasso(numbers: Numbers) -> Floats:
    from pyHSICLasso import HSICLasso

    if not hasattr(np.linalg, "linalg"):
        np.linalg.linalg = np.linalg  # its name for errors, which numpy 2.4 does not have
    model = HSICLasso()
    model.input(numbers.X, numbers.y.astype(float))
    fit = model.classification if numbers.classes else model.regression
    fit(min(SELECTED, numbers.X.shape[1] - 1), B=20, M=1, n_jobs=1)
    return _in_order(model.get_index(), numbers.X.shape[1])


def _lassonet(numbers: Numbers) -> Floats:
    """The penalty at which a column leaves the network."""
    import torch
    from lassonet import LassoNetClassifier, LassoNetRegressor

    torch.set_num_threads(1)
    make = LassoNetClassifier if numbers.classes else LassoNetRegressor
    model = make(hidden_dims=(32,), n_iters=(100, 20), patience=(10, 5), path_multiplier=1.1,
                 random_state=SEED, torch_seed=SEED, verbose=0)  # fmt: skip
    y = numbers.y if numbers.classes else (numbers.y - numbers.y.mean()) / numbers.y.std()
    X = numbers.X.astype(np.float32)
    model.path(X, y if numbers.classes else y.astype(np.float32))
    return np.asarray(model.feature_importances_, float)


def _in_order(picked: Any, n: int) -> Floats:
    """Scores that fall from the first picked column to the last; the others follow."""
    scores = np.full(n, -1.0)
    scores[np.asarray(picked, np.int64)] = len(picked) - np.arange(len(picked))
    return scores


DEFAULT = "default"
PREVIOUS = "previous default"  # of the record alone: its code is gone
FILTER = "f_classif"
OWN: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "balanced": {"method": ("balanced", "swap"), "information": "blend", "bound": None},
    "search on blend": {"method": "search", "information": "blend", "bound": None},
    "search": {"method": "search", "bound": None},
    "mrmr": {"method": "mrmr", "bound": None},
    "jmi": {"method": "jmi", "bound": None},
    "tpower": {"method": "tpower", "bound": None},
}
WAYS = {
    FILTER: Way("scikit-learn", _f_statistic, "f_regression for numbers"),
    "mutual_info": Way("scikit-learn", _mutual_info, "3 nearest neighbours", 500),
    "mrmr_selection": Way("mrmr-selection", _mrmr_selection, "F statistic over correlation", 2000),
    "fast-select mRMR": Way("fast-select", _fast_mrmr, f"MID, {BINS} quantile bins", 2000),
    "random forest": Way("scikit-learn", partial(_forest, "RandomForest"), f"{TREES} trees"),
    "extra trees": Way("scikit-learn", partial(_forest, "ExtraTrees"), f"{TREES} trees"),
    "LightGBM gain": Way("lightgbm", _lightgbm, "100 rounds", 2000),
    "RFE": Way("scikit-learn", _elimination, "ridge, 50% fewer a round, below 200 columns 10%"),
    "Boruta": Way("Boruta", _boruta, "50 trees of depth 5, 20 rounds", 200),
    "L1": Way("scikit-learn", _l1, "logistic, C = 1; lasso by cross-validation", 2000),
    "permutation": Way("scikit-learn", _permutation, "forest of 50 trees, 3 repeats", 100),
    "fastcan": Way("fastcan", _fastcan, "no settings"),
    "abess": Way("abess", None, "a column is a group; support size k", choose=_abess),
    "ReliefF": Way("fast-select", partial(_relief, "ReliefF"), "10 neighbours", 500, True),
    "MultiSURF": Way("fast-select", partial(_relief, "MultiSURF"), "no settings", 500, True),
    "pyHSICLasso": Way("pyHSICLasso", _hsic_lasso, "blocks of 20 rows, M = 1", 200),
    "LassoNet": Way("lassonet", _lassonet, "32 hidden units, path multiplier 1.1", 200),
}
RUNNABLE = (*OWN, *WAYS)
NAMES = (DEFAULT, PREVIOUS, *RUNNABLE[1:])
SLOW = (
    "search",
    "ReliefF",
    "MultiSURF",
    "LassoNet",
)  # run on the first fold only, and not ranked with the others
