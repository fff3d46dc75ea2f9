"""The packages on PyPI that select by JMI or mRMR from mutual information, and run here.

They take codes, unless they estimate information by nearest neighbours and take numbers. Slow ones
pick fewer features from fewer columns; their time is scaled by the pairs of columns that they
measure. A relevance is cheaper than a pair and weighs more in a short run, so this favours them.

pymrmr builds only where Cython and numpy are there: ``pip install cython numpy``, then
``pip install --no-build-isolation pymrmr``. pymrmre builds likewise and fails with numpy 2.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.counting.cases import Case
from benchmarks.selectors.agreement import Linear
from benchmarks.selectors.contenders import Check, Indices, Job, Selector
from benchmarks.selectors.options import Options
from benchmarks.selectors.silence import silent
from benchmarks.timing import clock
from bestk.methods.greedy import CRITERIA, Criterion

SMALL_K = 5
PROBE = 60  # columns
SKFEATURE = {"JMI": Linear(0.8, 0.5), "MRMR": Linear(0.8, 0.0)}  # its defaults, as it uses them
POOL = 5000  # pymrmr looks no further than the most relevant
Run = Callable[[Case, int, int], Any]  # a case, how many of its columns, and k


def pairs_once(n: int, k: int) -> int:
    """Columns measured where each pick is compared once with those that are left."""
    return n + sum(n - s for s in range(1, k))


def pairs_again(n: int, k: int, pool: int | None = None) -> int:
    """Columns measured where all picks, and the target, are compared anew at each step."""
    return n + sum((min(n, pool or n) - s) * (s + 1) for s in range(1, k))


def _fast_select(order: str) -> Callable[[Case, int, Options], Job]:
    def make(case: Case, k: int, options: Options) -> Job:
        from fast_select import mRMR

        X, found = np.array(case.X, order=order), {}

        def run(columns: int | None = None) -> None:
            found["picks"] = mRMR(k, "MID", "cpu").fit(X[:, :columns], case.y).top_features_

        run(100)
        check = Check(CRITERIA["mrmr"], case.n_features, lambda: found["picks"])
        return Job(run, 1.0, check)

    return make


def _smaller(
    run: Run,
    pairs: Callable[[int, int], int],
    criterion: Criterion | None,
    picks: Run | None = None,
    note: str = "",
) -> Callable[[Case, int, Options], Job]:
    """Make a job of few picks from as many columns as the budget allows."""

    def make(case: Case, k: int, options: Options) -> Job:
        with silent():
            run(case, PROBE, SMALL_K)
            each = clock(lambda: run(case, PROBE, SMALL_K)) / PROBE
        n = int(np.clip(options.budget / each, PROBE, case.n_features))
        check = None
        if criterion is not None:
            check = Check(criterion, n, lambda: (picks or run)(case, n, SMALL_K))
        share = pairs(n, SMALL_K) / pairs(case.n_features, k)
        size = f"k = {SMALL_K} of {n} columns" + (f"; {note}" if note else "")
        return Job(silent()(lambda: run(case, n, SMALL_K)), share, check, size)

    return make


def _itmo(criterion: str) -> Run:
    def run(case: Case, n: int, k: int) -> Indices:
        from ITMO_FS.filters.multivariate import MultivariateFilter

        found = MultivariateFilter(criterion, k)
        found.fit(case.X[:, :n].astype(np.int64), case.y)
        return found.selected_features

    return run


def _skfeature(criterion: str) -> Run:
    def run(case: Case, n: int, k: int) -> Any:
        from skfeature.function.information_theoretical_based import JMI, MRMR

        function = {"JMI": JMI.jmi, "MRMR": MRMR.mrmr}[criterion]
        return function(case.X[:, :n], case.y, mode="index", n_selected_features=k)

    return run


def _skfeature_picks(criterion: str) -> Run:
    """What its function picks; the function itself returns ranks among the picks instead."""

    def run(case: Case, n: int, k: int) -> Indices:
        from skfeature.function.information_theoretical_based.LCSI import lcsi

        used = SKFEATURE[criterion]
        return lcsi(case.X[:, :n], case.y, mode="index", n_selected_features=k,
                    beta=used.beta, gamma=used.gamma)  # fmt: skip

    return run


def _mifs(criterion: str) -> Run:
    def run(case: Case, n: int, k: int) -> Indices:
        from mifs import MutualInformationFeatureSelector

        selector = MutualInformationFeatureSelector(criterion, n_features=k)
        return np.array(selector.fit(case.raw[:, :n], case.y).ranking_)

    return run


def _feature_engine(case: Case, n: int, k: int) -> Any:
    import pandas as pd
    from feature_engine.selection import MRMR

    frame = pd.DataFrame(case.raw[:, :n], columns=[f"x{i}" for i in range(n)])
    return MRMR(method="MID", max_features=k, random_state=0).fit(frame, pd.Series(case.y))


def _pymrmr(case: Case, k: int, options: Options) -> Job:
    """Every call copies the table, so that no fewer columns would do; only k is smaller."""
    import pandas as pd
    import pymrmr

    names = [str(i) for i in range(case.n_features)]
    frame = pd.DataFrame(np.column_stack([case.y, case.X]), columns=["y", *names])
    found: dict[str, Any] = {}

    def run() -> None:
        found["picks"] = [int(name) for name in pymrmr.mRMR(frame, "MID", 2)]

    share = pairs_again(case.n_features, 2, POOL) / pairs_again(case.n_features, k, POOL)
    check = Check(CRITERIA["mrmr"], case.n_features, lambda: found["picks"])
    return Job(silent()(run), share, check, "k = 2 of all columns")


KNN = "nearest neighbours"
PEERS: tuple[Selector, ...] = (
    Selector("fast-select mRMR", "fast-select", "peer", "mRMR", _fast_select("C")),
    Selector("fast-select mRMR, F order", "fast-select", "peer", "mRMR", _fast_select("F")),
    *(
        Selector(f"scikit-feature {name}", "skfeature-chappers", "peer", name, _smaller(
            _skfeature(name), pairs_once, used, _skfeature_picks(name), str(used)))
        for name, used in SKFEATURE.items()
    ),
    *(
        Selector(f"ITMO_FS {name}", "ITMO_FS", "peer", name, _smaller(
            _itmo(name), pairs_again, CRITERIA[name.lower()]))
        for name in ("JMI", "MRMR")
    ),
    Selector("pymrmr MID", "pymrmr", "peer", "mRMR", _pymrmr),
    *(
        Selector(f"mifspy {name}", "mifspy", "peer", name, _smaller(
            _mifs(name), pairs_once, None, note=KNN))
        for name in ("JMI", "MRMR")
    ),
    Selector("feature_engine MRMR(MID)", "feature-engine", "peer", "mRMR", _smaller(
        _feature_engine, pairs_once, None, note=KNN)),
)  # fmt: skip
