"""Estimators that select by mutual information of pairs."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.calls import frame
from benchmarks.peers.peer import Peer, Picks


def _fast_select(k: int = 2, method: str = "MID") -> Any:
    from fast_select import mRMR

    return mRMR(n_features_to_select=k, method=method, backend="cpu")


def _fast_select_pick(method: str, X: Any, y: Any, k: int) -> Picks:
    return _fast_select(k, method).fit(X, y).top_features_.tolist()


def _fast_select_matrix(X: Any, y: Any) -> tuple[Any, str]:
    from fast_select.mutual_information import calculate_mi_matrices

    return calculate_mi_matrices(X, y, backend="cpu")[1], "I(Xi; Xj), without the class"


FAST_SELECT = Peer(
    name="fast-select mRMR",
    package="fast-select",
    usage="mRMR(n_features_to_select=k).fit(X, y)",
    pick=partial(_fast_select_pick, "MID"),
    make=_fast_select,
    needs="codes",
    matrix=_fast_select_matrix,
    criteria=lambda: {name: partial(_fast_select_pick, name) for name in ("MID", "MIQ")},
    timed=("MID",),
)


def _itmo(k: int = 2, measure: str = "JMI") -> Any:
    from ITMO_FS.filters.multivariate import MultivariateFilter

    more = {"MIFS": {"beta": 0.5}, "generalizedCriteria": {"beta": 0.5, "gamma": 0.5}}
    return MultivariateFilter(measure, k, **more.get(measure, {}))


def _itmo_pick(measure: str, X: Any, y: Any, k: int) -> Picks:
    found = _itmo(k, measure)
    found.fit(X, y)
    return np.asarray(found.selected_features).tolist()


def _itmo_criteria() -> dict[str, Callable[..., Picks]]:
    from ITMO_FS.filters.multivariate.measures import GLOB_MEASURE

    return {name: partial(_itmo_pick, name) for name in GLOB_MEASURE}


ITMO_FS = Peer(
    name="ITMO_FS",
    package="ITMO_FS",
    usage='MultivariateFilter("JMI", k).fit(X, y)',
    pick=partial(_itmo_pick, "JMI"),
    make=_itmo,
    needs="codes",
    criteria=_itmo_criteria,
    timed=("JMI", "MRMR"),
)


def _mifs(k: Any = "auto", **settings: Any) -> Any:
    from mifs import MutualInformationFeatureSelector

    return MutualInformationFeatureSelector(n_features=k, **settings)


def _mifs_pick(settings: dict[str, Any], X: Any, y: Any, k: int) -> Picks:
    return [int(i) for i in _mifs(k, **settings).fit(X, y).ranking_]


MIFS = Peer(
    name="mifspy",
    package="mifspy",
    usage='MutualInformationFeatureSelector("JMI", n_features=k).fit(X, y)',
    pick=partial(_mifs_pick, {}),
    make=_mifs,
    regress=partial(_mifs_pick, {"categorical": False}),
    criteria=lambda: {
        name: partial(_mifs_pick, {"method": name}) for name in ("JMI", "JMIM", "MRMR")
    },
    timed=("JMI", "MRMR"),
)


def _feature_engine(k: int | None = None, **settings: Any) -> Any:
    from feature_engine.selection import MRMR

    return MRMR(max_features=k, **{"random_state": 0} | settings)


def _feature_engine_pick(settings: dict[str, Any], X: Any, y: Any, k: int) -> Picks:
    found = _feature_engine(k, **settings).fit(X, y)
    return list(found.get_feature_names_out())


FEATURE_ENGINE = Peer(
    name="feature_engine MRMR",
    package="feature-engine",
    usage='MRMR(method="MID", max_features=k).fit(X, y)',
    pick=partial(_feature_engine_pick, {"method": "MID"}),
    make=_feature_engine,
    prepare=frame,
    regress=partial(_feature_engine_pick, {"method": "MID", "regression": True, "scoring": "r2"}),
    criteria=lambda: {
        name: partial(_feature_engine_pick, {"method": name})
        for name in ("MID", "MIQ", "FCD", "FCQ", "RFCQ")
    },
    timed=("MID", "FCQ"),
)
