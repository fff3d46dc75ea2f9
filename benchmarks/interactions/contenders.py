"""Ways to find relevant columns: bestk, Boruta, a permutation forest, and scores of other packages.

``SELECTORS`` decide themselves how many columns are relevant. ``RANKERS`` order all columns.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.quality.foreign import Numbers
from benchmarks.quality.ways import WAYS
from benchmarks.selectors.silence import silent
from bestk import SelectBestK, SelectRelevant

FDR = 0.1
NULL_FORESTS = 50  # with a permuted target
TREES = 100
Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def as_numbers(X: Any) -> Floats:
    """Codes of categories, days of dates, and medians in place of missing cells."""
    if not isinstance(X, pd.DataFrame):
        return np.asarray(X, float)
    columns = []
    for name in X:
        column = X[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            columns.append(column.cat.codes.to_numpy(float))
        elif pd.api.types.is_datetime64_any_dtype(column):
            columns.append(column.to_numpy("datetime64[D]").astype(float))
        else:
            columns.append(column.astype(float).fillna(column.median()).to_numpy())
    return np.column_stack(columns)


def _forest(classes: bool, **options: Any) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    make = RandomForestClassifier if classes else RandomForestRegressor
    return make(max_features="sqrt", random_state=0, n_jobs=1, **options)


def _relevant(X: Any, y: Any, classes: bool) -> Indices:
    kind = "classes" if classes else "continuous"
    return SelectRelevant(FDR, target=kind).fit(X, y).get_support(indices=True)


def _boruta(X: Any, y: Any, classes: bool) -> Indices:
    """As its authors recommend: trees of depth 5, their number by the package, 100 rounds."""
    from boruta import BorutaPy

    found = BorutaPy(_forest(classes, max_depth=5), n_estimators="auto", random_state=0)
    return np.flatnonzero(found.fit(as_numbers(X), np.asarray(y)).support_)


def _permutation_forest(X: Any, y: Any, classes: bool) -> Indices:
    """Importances beside those for permuted targets, as normal tails (Altmann et al. 2010)."""
    from scipy import stats

    values, rng = as_numbers(X), np.random.default_rng(0)

    def importances(target: Any) -> Floats:
        return _forest(classes, n_estimators=TREES).fit(values, target).feature_importances_

    null = np.array([importances(rng.permutation(y)) for _ in range(NULL_FORESTS)])
    scale = np.maximum(null.std(axis=0, ddof=1), 1e-300)
    p = stats.norm.sf((importances(y) - null.mean(axis=0)) / scale)
    return np.flatnonzero(stats.false_discovery_control(p) <= FDR)


SELECTORS: dict[str, Callable[[Any, Any, bool], Indices]] = {
    "SelectRelevant": _relevant,
    "Boruta": _boruta,
    "permutation forest": _permutation_forest,
}


def _rank_relevant(X: Any, y: Any, k: int, backend: str = "auto") -> Indices:
    found = SelectRelevant(permutations=0, backend=backend).fit(X, y)
    return np.lexsort((-found.scores_, found.pvalues_))


def _rank_default(X: Any, y: Any, k: int) -> Indices:
    """The k columns of the default, then those that are added for 2 k."""
    first, more = (SelectBestK(n, bound=None).fit(X, y).solution_.support for n in (k, 2 * k))
    return np.concatenate([first, np.setdiff1d(more, first, assume_unique=True)])


def _rank_by(name: str) -> Callable[[Any, Any, int], Indices]:
    def rank(X: Any, y: Any, k: int) -> Indices:
        with silent(), np.errstate(all="ignore"):
            return np.argsort(-WAYS[name].score(Numbers(X, y, True)), kind="stable")

    return rank


RANKERS: dict[str, Callable[[Any, Any, int], Indices]] = {
    "SelectRelevant": _rank_relevant,
    "SelectRelevant on a GPU": partial(_rank_relevant, backend="torch"),
    "SelectBestK": _rank_default,
    **{name: _rank_by(name) for name in ("Boruta", "MultiSURF", "LightGBM gain", "LassoNet")},
}
