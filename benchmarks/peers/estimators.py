"""scikit-learn estimators that select by other measures."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.calls import frame, pick_with, supported
from benchmarks.peers.peer import Peer, Picks

FOREST = {"max_depth": 5, "n_jobs": 1, "random_state": 0}


def _select_k_best(k: int = 10, score: str = "mutual_info_classif") -> Any:
    import sklearn.feature_selection as module

    return module.SelectKBest(getattr(module, score), k=k)


SCIKIT_LEARN = Peer(
    name="scikit-learn SelectKBest",
    package="scikit-learn",
    usage="SelectKBest(mutual_info_classif, k=k).fit(X, y)",
    pick=pick_with(_select_k_best),
    make=_select_k_best,
    checked=partial(_select_k_best, 1, score="f_classif"),
    regress=pick_with(partial(_select_k_best, score="mutual_info_regression")),
    criteria=lambda: {
        name: pick_with(partial(_select_k_best, score=name))
        for name in ("mutual_info_classif", "f_classif", "chi2")
    },
    measures="mutual information, F or chi2 of single columns",
    timed=("mutual_info_classif", "f_classif"),
)


def _lego(k: int = 2) -> Any:
    from sklego.feature_selection import MaximumRelevanceMinimumRedundancy

    return MaximumRelevanceMinimumRedundancy(k=k)


SCIKIT_LEGO = Peer(
    name="scikit-lego MRMR",
    package="scikit-lego",
    usage="MaximumRelevanceMinimumRedundancy(k).fit(X, y)",
    pick=pick_with(_lego),
    make=_lego,
    regress=pick_with(_lego),
    measures="F statistic over correlation; functions of your own",
    criteria=lambda: {"F over correlation": pick_with(_lego)},
)


def _fastcan(k: int = 1, **settings: Any) -> Any:
    from fastcan import FastCan

    return FastCan(k, verbose=0, **settings)


FASTCAN = Peer(
    name="fastcan",
    package="fastcan",
    usage="FastCan(k).fit(X, y)",
    pick=pick_with(_fastcan),
    make=_fastcan,
    regress=pick_with(_fastcan),
    force=lambda X, y, k, column: supported(
        lambda k: _fastcan(k, indices_include=[column]), X, y, k
    ),
    measures="canonical correlation of the whole set",
    criteria=lambda: {"h-correlation": pick_with(_fastcan)},
)


def _boruta(k: int = 0, forest: str = "RandomForestClassifier") -> Any:
    """It decides itself how many to keep: k is not used."""
    import sklearn.ensemble
    from boruta import BorutaPy

    trees = getattr(sklearn.ensemble, forest)(**FOREST)
    return BorutaPy(trees, n_estimators=50, max_iter=20, random_state=0)


def _boruta_pick(forest: str, X: Any, y: Any, k: int) -> Picks:
    return np.flatnonzero(_boruta(forest=forest).fit(X, y).support_).tolist()


BORUTA = Peer(
    name="Boruta",
    package="Boruta",
    usage="BorutaPy(RandomForestClassifier(max_depth=5), n_estimators=50, max_iter=20).fit(X, y)",
    pick=partial(_boruta_pick, "RandomForestClassifier"),
    make=_boruta,
    regress=partial(_boruta_pick, "RandomForestRegressor"),
    measures="importance in a forest against shuffled columns; keeps as many as matter, not k",
    criteria=lambda: {"all relevant": partial(_boruta_pick, "RandomForestClassifier")},
)


def _arfs(k: int = 2, task: str = "classification") -> Any:
    from arfs.feature_selection import MinRedundancyMaxRelevance

    return MinRedundancyMaxRelevance(n_features_to_select=k, task=task, show_progress=False)


def _arfs_pick(task: str, X: Any, y: Any, k: int, weights: Any = None) -> Picks:
    import pandas as pd

    target = pd.Series(y, dtype="category" if task == "classification" else "float64", name="y")
    found = _arfs(k, task).fit(X, target, sample_weight=weights)
    return list(found.get_feature_names_out())


ARFS = Peer(
    name="arfs MRMR",
    package="arfs",
    usage='MinRedundancyMaxRelevance(k, task="classification").fit(X, y)',
    pick=partial(_arfs_pick, "classification"),
    make=_arfs,
    prepare=frame,
    regress=partial(_arfs_pick, "regression"),
    weigh=lambda X, y, k, w: _arfs_pick("classification", frame(X).astype(float), y, k, w),
    measures="correlation, correlation ratio or Theil's U, by the type of the column",
    criteria=lambda: {"association": partial(_arfs_pick, "classification")},
)


def _dwave(k: int = 2) -> Any:
    from dwave.plugins.sklearn import SelectFromQuadraticModel

    return SelectFromQuadraticModel(num_features=k)


DWAVE = Peer(
    name="dwave-scikit-learn-plugin",
    package="dwave-scikit-learn-plugin",
    usage="SelectFromQuadraticModel(num_features=k).fit(X, y)",
    pick=pick_with(_dwave),
    make=_dwave,
    regress=pick_with(_dwave),
    measures="correlation; a quadratic problem, solved by a paid service",
    criteria=lambda: {"correlation": pick_with(_dwave)},
)
