"""Packages with a function that returns names or indices of columns."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks.peers.calls import frame
from benchmarks.peers.peer import Peer, Picks


def _mrmr_selection(task: str, X: Any, y: Any, k: int, **settings: Any) -> Picks:
    import mrmr
    import pandas as pd

    function = getattr(mrmr, f"mrmr_{task}")
    return function(X, pd.Series(y), K=k, n_jobs=1, show_progress=False, **settings)


def _mrmr_strings(X: Any, y: Any, k: int, names: list[str]) -> Picks:
    return _mrmr_selection("classif", X, y, k, cat_features=names)


def _mrmr_polars(X: Any, y: Any, k: int) -> Picks:
    import mrmr
    import polars as pl

    table = X.with_columns(pl.Series("target", y))
    return mrmr.polars.mrmr_classif(table, K=k, target_column="target", show_progress=False)


MRMR_SELECTION = Peer(
    name="mrmr_selection",
    package="mrmr_selection",
    usage="mrmr_classif(X, y, K=k)",
    pick=partial(_mrmr_selection, "classif"),
    prepare=frame,
    polars=_mrmr_polars,
    strings=_mrmr_strings,
    regress=partial(_mrmr_selection, "regression"),
    measures="F statistic, Kolmogorov-Smirnov or a forest, over correlation",
    criteria=lambda: {"F over correlation": partial(_mrmr_selection, "classif")},
)


def _mrmrs(task: str, X: Any, y: Any, k: int) -> Picks:
    import polars as pl
    from mrmrs import mrmr

    found = mrmr(X=X, y=pl.Series("y", y), number_of_features=k, task_type=task)
    return [feature.name for feature in found]


def _polars_frame(X: Any) -> Any:
    import polars as pl

    return pl.from_pandas(frame(X))


MRMRS = Peer(
    name="mrmrs",
    package="mrmrs",
    usage='mrmr(X, y, number_of_features=k, task_type="classification")',
    pick=partial(_mrmrs, "classification"),
    prepare=_polars_frame,
    regress=partial(_mrmrs, "regression"),
    measures="F statistic over correlation",
    criteria=lambda: {"F over correlation": partial(_mrmrs, "classification")},
)

SKFEATURE_CRITERIA = ("CIFE", "CMIM", "DISR", "FCBF", "ICAP", "JMI", "MIFS", "MIM", "MRMR")


def _skfeature(name: str, X: Any, y: Any, k: int) -> Picks:
    """Its documented call, which says that it returns the numbers of the picked columns."""
    from importlib import import_module

    module = import_module(f"skfeature.function.information_theoretical_based.{name}")
    function = getattr(module, name.lower())
    return np.asarray(function(X, y, mode="index", n_selected_features=k))[:k].tolist()


SKFEATURE = Peer(
    name="skfeature-chappers",
    package="skfeature-chappers",
    usage='JMI.jmi(X, y, mode="index", n_selected_features=k)',
    pick=partial(_skfeature, "JMI"),
    needs="codes",
    criteria=lambda: {name: partial(_skfeature, name) for name in SKFEATURE_CRITERIA},
    timed=("JMI", "MRMR"),
)


def _all_choices(Q: Any) -> Any:
    """The solver that its documentation shows, brute force; it brings none."""
    choices = np.array(list(product([0, 1], repeat=len(Q))))
    return choices[np.einsum("ij,jk,ik->i", choices, Q, choices).argmin()]


def _seleqt(X: Any, y: Any, k: int) -> Picks:
    import seleqt

    _, found = seleqt.qfs(
        seleqt.redundancy(X), seleqt.importance(X, y), k, qubo_solver=_all_choices
    )
    return np.flatnonzero(found).tolist()


def _seleqt_matrix(X: Any, y: Any) -> tuple[Any, str]:
    import seleqt

    return seleqt.redundancy(X), "I(Xi; Xj), without the class"


SELEQT = Peer(
    name="seleqt",
    package="seleqt",
    usage="qfs(redundancy(X), importance(X, y), k, qubo_solver=...)",
    pick=_seleqt,
    needs="codes",
    matrix=_seleqt_matrix,
    criteria=lambda: {"relevance - redundancy, as a QUBO": _seleqt},
    timed=("none: it brings no solver",),
)
