"""What a user would pick instead: other packages, each with one ranking from which k are cut.

Settings are those that each package documents or recommends, and where it leaves a choice, the
stronger one. Columns of categories stand as indicators, and a feature ranks as its best one does,
unless a package reads categories itself. Ties go to the feature with the larger F statistic.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.classifiers import indicators
from benchmarks.quality.methods import Picks
from benchmarks.quality.sets import Problem
from benchmarks.selectors.silence import silent

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
SEED = 0
TREES = 300
BINS = 5  # of equal frequency, for a package that counts and has no discretiser
KEPT = 0.8  # of the features, in each round of elimination
INDICATORS = 3  # picked for each feature wanted, where indicators stand for categories
TINY = 1e-300
WIDE = 700  # features from which the slow ones are left out


@dataclass(frozen=True)
class Peer:
    """A package and how it scores features: the larger, the earlier it is picked."""

    package: str
    score: Callable[[Problem, int], Floats]  # of a problem and the largest k
    settings: str
    widest: int | None = None  # features above which it takes minutes

    @property
    def version(self) -> str | None:
        """The version that is installed, or None."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


def select(name: str, train: Problem, ks: Sequence[int]) -> Picks:
    """Rank the features once, and cut the ranking at each k."""
    start = perf_counter()
    with catch_warnings(action="ignore"), silent():
        scores = PEERS[name].score(train, max(ks))
        seconds = perf_counter() - start
        scores = np.nan_to_num(scores, nan=-np.inf)
        order = np.lexsort((np.arange(len(scores)), -_f_statistic(train), -scores))
    return Picks([order[:k] for k in ks], seconds)


def _numbers(train: Problem) -> tuple[Floats, list[Indices]]:
    """Standardised numbers, and the columns of each feature."""
    X, columns = indicators(train)
    Z = np.asarray(X, np.float64)
    scale = Z.std(axis=0)
    return (Z - Z.mean(axis=0)) / np.where(scale > 0, scale, 1.0), columns


def _best_of(scores: Floats, columns: list[Indices]) -> Floats:
    """The score of each feature, that of the best of its columns."""
    scores = np.nan_to_num(scores, nan=-np.inf)
    return np.array([scores[own].max() for own in columns])


def _f_statistic(train: Problem, k: int = 0) -> Floats:
    from sklearn.feature_selection import f_classif

    with np.errstate(all="ignore"), catch_warnings(action="ignore"):
        X, columns = indicators(train)
        return _best_of(f_classif(X, train.y)[0], columns)


def _mutual_info(train: Problem, k: int) -> Floats:
    from sklearn.feature_selection import mutual_info_classif

    return mutual_info_classif(
        train.X, train.y, discrete_features=train.nominal, random_state=SEED, n_jobs=1
    )


def _l1(train: Problem, k: int) -> Floats:
    """The size of the weights; features of weight zero follow by their F statistic."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    X, columns = _numbers(train)
    model = LogisticRegression(l1_ratio=1.0, solver="liblinear", random_state=SEED)
    found = OneVsRestClassifier(model).fit(X, train.y)
    weights = np.abs(np.vstack([each.coef_ for each in found.estimators_]))
    return _best_of(weights.max(axis=0), columns)


def _elimination(train: Problem, k: int) -> Floats:
    """The round in which a feature was left out, and its weight in that round."""
    from sklearn.svm import LinearSVC

    X, columns = _numbers(train)
    left, scores, rounds = np.arange(len(columns)), np.zeros(len(columns)), 0
    while len(left):
        own = np.concatenate([columns[i] for i in left])
        weights = LinearSVC(random_state=SEED).fit(X[:, own], train.y).coef_
        ends = np.cumsum([len(columns[i]) for i in left])[:-1]
        sizes = np.array([part.max() for part in np.split((weights**2).sum(axis=0), ends)])
        order = np.argsort(sizes)
        out = order[: len(left) - int(KEPT * len(left))]
        scores[left[out]] = rounds + np.argsort(np.argsort(sizes[out])) / len(out)
        left, rounds = np.delete(left, out), rounds + 1
    return scores


def _forest(kind: str) -> Callable[[Problem, int], Floats]:
    def score(train: Problem, k: int) -> Floats:
        import sklearn.ensemble

        X, columns = indicators(train)
        forest = getattr(sklearn.ensemble, kind)(TREES, random_state=SEED, n_jobs=1)
        return _best_of(forest.fit(X, train.y).feature_importances_, columns)

    return score


def _mrmr_selection(train: Problem, k: int) -> Floats:
    """It reads categories itself. Its own correlations take minutes: the same come from numpy."""
    import pandas as pd
    from mrmr import mrmr_classif

    def correlations(target_column: str, features: list[str], X: Any) -> Any:
        if not kept:
            Z = X.to_numpy(np.float64)
            Z = Z - Z.mean(axis=0)
            kept["Z"] = Z / np.maximum(np.sqrt((Z**2).sum(axis=0)), TINY)
        places = np.array(features, np.int64)
        return pd.Series(kept["Z"][:, places].T @ kept["Z"][:, int(target_column)], features)

    kept: dict[str, Floats] = {}
    X = pd.DataFrame(train.X).rename(columns=str)
    categories = list(X.columns) if train.nominal else None
    picked = mrmr_classif(
        X, pd.Series(train.y), K=k, redundancy=correlations, cat_features=categories, n_jobs=1,
        show_progress=False,
    )  # fmt: skip
    return _in_order([int(name) for name in picked], train.n_features)


def _feature_engine(train: Problem, k: int) -> Floats:
    """F statistic over mean correlation. It tells what it kept; the order we listen to."""
    import pandas as pd
    from feature_engine.selection import MRMR

    theirs: Any = MRMR._calculate_redundance

    class Heard(MRMR):
        def _calculate_redundance(self, X: Any, y: Any) -> Any:
            picked.append(int(y.name))
            return theirs(self, X, y)

    X, columns = indicators(train)
    frame = pd.DataFrame(X).rename(columns=str)
    frame = frame.loc[:, frame.std() > 0]
    most = INDICATORS * k if train.nominal else k
    picked: list[int] = []
    found = Heard(method="FCQ", max_features=min(most, frame.shape[1] - 1)).fit(
        frame, pd.Series(train.y)
    )
    last = frame.columns.difference(found.features_to_drop_).astype(int)
    order = [*picked, *(int(i) for i in last if i not in picked)]
    return _best_of(_in_order(order, X.shape[1]), columns)


def _counted_mrmr(train: Problem, k: int) -> Floats:
    from fast_select import mRMR

    codes = train.X.astype(np.int64) if train.nominal else _binned(train.X)
    picked = mRMR(k, "MID", "cpu").fit(codes, train.y).top_features_
    return _in_order(picked, train.n_features)


def _binned(X: NDArray[Any]) -> Indices:
    from sklearn.preprocessing import KBinsDiscretizer

    bins = KBinsDiscretizer(BINS, encode="ordinal", quantile_method="averaged_inverted_cdf")
    return bins.fit_transform(X.astype(np.float64)).astype(np.int64)


def _relief(kind: str, **settings: Any) -> Callable[[Problem, int], Floats]:
    def score(train: Problem, k: int) -> Floats:
        import fast_select

        X = np.ascontiguousarray(train.X, np.float64)
        options = {"n_features_to_select": k, "backend": "cpu", "n_jobs": 1} | settings
        if train.nominal:
            options["discrete_limit"] = 1 + int(train.X.max())
        return getattr(fast_select, kind)(**options).fit(X, train.y).feature_importances_

    return score


def _boruta(train: Problem, k: int) -> Floats:
    """Its ranks; within a rank, the mean importance over its rounds."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    X, columns = indicators(train)
    forest = RandomForestClassifier(max_depth=5, n_jobs=1)
    found = BorutaPy(forest, n_estimators=100, max_iter=20, random_state=SEED).fit(X, train.y)
    mean = np.nan_to_num(np.nanmean(found.importance_history_[1:], axis=0))
    within = np.argsort(np.argsort(mean)) / len(mean)
    return _best_of(within - found.ranking_, columns)


def _in_order(picked: Any, n: int) -> Floats:
    """Scores that fall from the first picked to the last, and those not picked behind."""
    scores = np.full(n, -1.0)
    scores[np.asarray(picked, np.int64)] = len(picked) - np.arange(len(picked))
    return scores


PEERS: dict[str, Peer] = {
    "SelectKBest f_classif": Peer("scikit-learn", _f_statistic, "F statistic"),
    "SelectKBest mutual_info": Peer("scikit-learn", _mutual_info, "3 nearest neighbours"),
    "RFE linear SVM": Peer("scikit-learn", _elimination, "LinearSVC, 20% fewer a round"),
    "L1 logistic": Peer("scikit-learn", _l1, "C = 1, standardised, one against the rest"),
    "random forest": Peer("scikit-learn", _forest("RandomForestClassifier"), f"{TREES} trees"),
    "extra trees": Peer("scikit-learn", _forest("ExtraTreesClassifier"), f"{TREES} trees"),
    "mrmr_selection": Peer("mrmr_selection", _mrmr_selection, "F statistic over correlation"),
    "feature_engine MRMR": Peer("feature-engine", _feature_engine, "FCQ", WIDE),
    "fast-select mRMR": Peer("fast-select", _counted_mrmr, f"MID, {BINS} quantile bins"),
    "fast-select ReliefF": Peer("fast-select", _relief("ReliefF", n_neighbors=10), "10 neighbours"),
    "fast-select MultiSURF": Peer("fast-select", _relief("MultiSURF"), "no settings"),
    "Boruta": Peer("boruta", _boruta, "100 trees of depth 5, 20 rounds", WIDE),
}
