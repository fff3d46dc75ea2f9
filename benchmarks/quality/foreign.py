"""How other packages score numbers, or choose columns.

A function of most packages gets the training rows as numbers (``encode``) and returns a score for
each number: the larger, the earlier its column is selected. Packages that choose a set of columns
also get the column that each number belongs to, and the number of columns to choose.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import qr

from benchmarks.quality.encode import Floats, Indices

SEED = 0
TREES = 100
BINS = 5  # of equal frequency, for a package that counts but does not discretize
SELECTED = 50  # the most columns of interest; packages that stop early stop there
TINY = 1e-300
BATCH_ELIMINATION = 200  # above so many numbers, elimination drops half of them in a round


@dataclass(frozen=True)
class Numbers:
    """Training rows as numbers, and the target."""

    X: Floats
    y: Any
    classes: bool


def f_statistic(numbers: Numbers) -> Floats:
    """F statistics of analysis of variance, or of a straight line."""
    from sklearn.feature_selection import f_classif, f_regression

    test = f_classif if numbers.classes else f_regression
    statistic = test(numbers.X, numbers.y)[0]
    return np.nan_to_num(statistic, nan=-1.0, posinf=np.finfo(float).max)


def mutual_info(numbers: Numbers) -> Floats:
    """Mutual information by nearest neighbours."""
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    estimate = mutual_info_classif if numbers.classes else mutual_info_regression
    return estimate(numbers.X, numbers.y, random_state=SEED, n_jobs=1)


def l1(numbers: Numbers) -> Floats:
    """The largest weight over classes of a linear model with an L1 penalty."""
    from sklearn.linear_model import LassoCV, LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    if not numbers.classes:
        lasso = LassoCV(cv=3, alphas=30, random_state=SEED)
        return np.abs(lasso.fit(numbers.X, numbers.y).coef_)
    model = LogisticRegression(
        l1_ratio=1.0, solver="liblinear", max_iter=100, tol=1e-3, random_state=SEED
    )
    one_vs_rest = OneVsRestClassifier(model).fit(numbers.X, numbers.y)
    weights = np.vstack([model.coef_ for model in one_vs_rest.estimators_])
    return np.abs(weights).max(axis=0)


def elimination(numbers: Numbers) -> Floats:
    """Half of the numbers leave in a round above 200, a tenth below: those of least weight."""
    from sklearn.linear_model import Ridge, RidgeClassifier

    kept = np.arange(numbers.X.shape[1])
    scores = np.zeros(len(kept))
    n_rounds = 0
    while len(kept):
        model = RidgeClassifier() if numbers.classes else Ridge()
        weights = np.atleast_2d(model.fit(numbers.X[:, kept], numbers.y).coef_)
        order = np.argsort((weights**2).sum(axis=0))
        n_dropped = max(1, len(kept) // (2 if len(kept) > BATCH_ELIMINATION else 10))
        dropped = order[:n_dropped]
        scores[kept[dropped]] = n_rounds + np.arange(n_dropped) / n_dropped
        kept = np.delete(kept, dropped)
        n_rounds += 1
    return scores


def forest(name: str, numbers: Numbers) -> Floats:
    """Importances in a forest of scikit-learn: "RandomForest" or "ExtraTrees"."""
    import sklearn.ensemble

    kind = "Classifier" if numbers.classes else "Regressor"
    options = {} if numbers.classes else {"max_features": 1 / 3}
    make = getattr(sklearn.ensemble, f"{name}{kind}")
    trees = make(TREES, random_state=SEED, n_jobs=1, **options)
    return trees.fit(numbers.X, numbers.y).feature_importances_


def permutation(numbers: Numbers) -> Floats:
    """Loss of accuracy or R2 on a quarter of the rows when a number is permuted, 3 times each."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import train_test_split

    X, X_test, y, y_test = train_test_split(numbers.X, numbers.y, random_state=SEED)
    make = RandomForestClassifier if numbers.classes else RandomForestRegressor
    trees = make(50, max_features="sqrt", random_state=SEED, n_jobs=1).fit(X, y)
    importance = permutation_importance(trees, X_test, y_test, n_repeats=3, random_state=SEED)
    return importance.importances_mean


def lightgbm_gain(numbers: Numbers) -> Floats:
    """The gain of boosted trees."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    make = LGBMClassifier if numbers.classes else LGBMRegressor
    model = make(
        n_estimators=100,
        importance_type="gain",
        n_jobs=1,
        random_state=SEED,
        deterministic=True,
        verbose=-1,
    )
    return model.fit(numbers.X, numbers.y).feature_importances_.astype(float)


def boruta(numbers: Numbers) -> Floats:
    """Its ranks; within a rank, the mean importance over the rounds."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    make = RandomForestClassifier if numbers.classes else RandomForestRegressor
    trees = make(max_depth=5, max_features="sqrt", n_jobs=1)
    selector = BorutaPy(trees, n_estimators=50, max_iter=20, random_state=SEED)
    selector.fit(numbers.X, numbers.y)
    importance = np.nan_to_num(np.nanmean(selector.importance_history_[1:], axis=0))
    order_of_importance = np.argsort(np.argsort(importance))
    return order_of_importance / len(importance) - selector.ranking_


def mrmr_selection(numbers: Numbers) -> Floats:
    """Its own statistics take minutes, column by column; the same ones come from numpy."""
    import pandas as pd
    from mrmr import mrmr_classif, mrmr_regression

    kept = np.flatnonzero(numbers.X.std(axis=0) > 0)
    length = np.sqrt((numbers.X**2).sum(axis=0))
    Z = numbers.X / np.maximum(length, TINY)
    statistic = pd.Series(f_statistic(numbers))[kept]

    def correlations(target_column: int, features: list[int], X: Any) -> Any:
        return pd.Series(Z.T @ Z[:, target_column])[features]

    pick = mrmr_classif if numbers.classes else mrmr_regression
    picked = pick(
        pd.DataFrame(numbers.X, copy=False)[kept],
        pd.Series(numbers.y),
        K=min(SELECTED, len(kept)),
        relevance=lambda X, y: statistic,
        redundancy=correlations,
        n_jobs=1,
        show_progress=False,
    )
    return _scores_of_order(picked, numbers.X.shape[1])


def fast_mrmr(numbers: Numbers) -> Floats:
    """The difference of relevance and redundancy, counted in bins of equal frequency."""
    from fast_select import mRMR

    y = numbers.y if numbers.classes else _bin(numbers.y[:, np.newaxis]).ravel()
    k = min(SELECTED, numbers.X.shape[1])
    selector = mRMR(k, "MID", "cpu").fit(_bin(numbers.X), y)
    return _scores_of_order(selector.top_features_, numbers.X.shape[1])


def relief(name: str, numbers: Numbers) -> Floats:
    """Differences between neighbours of other classes: "ReliefF" or "MultiSURF"."""
    import fast_select

    options = {"n_neighbors": 10} if name == "ReliefF" else {}
    make = getattr(fast_select, name)
    k = min(SELECTED, numbers.X.shape[1])
    selector = make(n_features_to_select=k, backend="cpu", n_jobs=1, **options)
    return selector.fit(np.ascontiguousarray(numbers.X), numbers.y).feature_importances_


def fastcan(numbers: Numbers) -> Floats:
    """Forward selection by canonical correlation; fewer columns where it refuses so many.

    It selects no more columns than are linearly independent.
    """
    from fastcan import FastCan
    from sklearn.preprocessing import label_binarize

    y = numbers.y
    if numbers.classes:
        y = label_binarize(y, classes=np.unique(y)).astype(float)
    kept = np.flatnonzero(numbers.X.std(axis=0) > 0)
    for k in range(min(SELECTED, len(kept), len(numbers.X) - 2), 0, -1):
        try:
            selector = FastCan(k, verbose=0).fit(numbers.X[:, kept], y)
        except RuntimeError:
            if k == 1:
                raise
        else:
            return _scores_of_order(kept[selector.indices_], numbers.X.shape[1])
    raise ValueError("no number varies")


def hsic_lasso(numbers: Numbers) -> Floats:
    """A lasso on kernels of single numbers."""
    from pyHSICLasso import HSICLasso

    if not hasattr(np.linalg, "linalg"):
        np.linalg.linalg = np.linalg  # its name for errors, which numpy 2.4 does not have
    model = HSICLasso()
    model.input(numbers.X, numbers.y.astype(float))
    fit = model.classification if numbers.classes else model.regression
    fit(min(SELECTED, numbers.X.shape[1] - 1), B=20, M=1, n_jobs=1)
    return _scores_of_order(model.get_index(), numbers.X.shape[1])


def lassonet(numbers: Numbers) -> Floats:
    """The penalty at which a number leaves the network."""
    import torch
    from lassonet import LassoNetClassifier, LassoNetRegressor

    torch.set_num_threads(1)
    make = LassoNetClassifier if numbers.classes else LassoNetRegressor
    model = make(
        hidden_dims=(32,),
        n_iters=(100, 20),
        patience=(10, 5),
        path_multiplier=1.1,
        random_state=SEED,
        torch_seed=SEED,
        verbose=0,
    )
    y = numbers.y
    if not numbers.classes:
        y = ((y - y.mean()) / y.std()).astype(np.float32)
    model.path(numbers.X.astype(np.float32), y)
    return np.asarray(model.feature_importances_, float)


def abess(numbers: Numbers, owner: Indices, k: int) -> list[int]:
    """The best k columns of a linear, logistic or multinomial model; a column is a group."""
    import abess

    if not numbers.classes:
        make = abess.LinearRegression
    elif len(np.unique(numbers.y)) == 2:
        make = abess.LogisticRegression
    else:
        make = abess.MultinomialRegression
    kept = independent_numbers(numbers.X, owner)
    columns, group = np.unique(owner[kept], return_inverse=True)
    model = make(support_size=min(k, len(columns)), group=group, thread=1)
    model.fit(numbers.X[:, kept], numbers.y)
    weights = model.coef_.reshape(len(kept), -1)
    used = columns[np.unique(group[np.any(weights != 0.0, axis=1)])]
    statistic = best_of_columns(f_statistic(numbers), owner)
    statistic[used] = np.inf  # too few columns are filled up by their F statistic
    return np.argsort(-statistic, kind="stable")[:k].tolist()


def independent_numbers(X: Floats, owner: Indices) -> Indices:
    """Numbers by column, without those that are constant or follow from others of the column."""
    kept = []
    for column in np.unique(owner):
        numbers = np.flatnonzero(owner == column)
        triangle, order = qr(X[:, numbers], mode="r", pivoting=True)
        size = np.abs(np.diag(triangle))
        independent = order[: len(size)][size > 1e-6 * len(X) ** 0.5]
        kept.extend(np.sort(numbers[independent]))
    return np.array(kept)


def best_of_columns(scores: Floats, owner: Indices) -> Floats:
    """The best score of the numbers of each column."""
    best = np.full(owner.max() + 1, -np.inf)
    np.maximum.at(best, owner, np.nan_to_num(scores, nan=-np.inf))
    return best


def _bin(X: Floats) -> Indices:
    from sklearn.preprocessing import KBinsDiscretizer

    bins = KBinsDiscretizer(BINS, encode="ordinal", quantile_method="averaged_inverted_cdf")
    return bins.fit_transform(X).astype(np.int64)


def _scores_of_order(picked: Any, n: int) -> Floats:
    """Scores that fall from the first picked number to the last; the others follow."""
    scores = np.full(n, -1.0)
    scores[np.asarray(picked, np.int64)] = len(picked) - np.arange(len(picked))
    return scores
