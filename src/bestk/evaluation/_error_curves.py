"""Error against k, measured fold by fold."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from numbers import Integral
from operator import index
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from bestk._checks import choice, jobs
from bestk._typing import Indices
from bestk.data.features import find_features
from bestk.data.table import Table, read_column, read_table
from bestk.data.target import is_continuous
from bestk.errors import ParameterError
from bestk.evaluation._curves import BASELINE, Curves, Row
from bestk.evaluation._models import as_matrix, default_model, limit_threads
from bestk.evaluation._study import FoldStore, Selections, Study
from bestk.selection.folds import Fold, read_folds
from bestk.selection.methods import Method, get_method
from bestk.selection.selector import SelectBestK

PROTOCOLS = ("nested", "paper")
MAX_ROWS_LEAVE_ONE_OUT = 100
N_FOLDS = 10


def error_curves(
    X: Any,
    y: Any,
    methods: str | Iterable[str] | Mapping[str, str | Method],
    ks: Iterable[int],
    *,
    estimator: Any = None,
    cv: Any = None,
    protocol: str = "nested",
    baseline: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
    keep: str | PathLike[str] | None = None,
    **options: Any,
) -> Curves:
    """Measure the cross-validated error against k, for several methods on the same folds.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        As for :meth:`SelectBestK.fit`. The estimator is given the selected columns, in the order
        of the table, in the kind of table that X is; lists become arrays.
    y : array-like of shape (n_samples,)
        The classes, or numbers to predict.
    methods : str, list of str, or dict of name to method
        Names from :data:`bestk.METHODS`, or methods of your own under names of your own.
    ks : iterable of int
        Numbers of features.
    estimator : scikit-learn estimator, default=None
        What predicts; by default :func:`linear_svm`, ridge regression for a continuous target,
        or gradient boosting where some columns contain text. The error is the error rate, or the
        mean squared error of a regressor.
    cv : int, splitter, iterable of splits or None, default=None
        None: leave-one-out up to 100 rows, ten folds above, as in Venkateswara et al. (2015). A
        number of folds is stratified by class and shuffled.
    protocol : {"nested", "paper"}, default="nested"
        "nested" discretizes and selects in the training rows of each fold alone. "paper" selects
        once, from all rows, and cross-validates the estimator only, so that errors are too small.
    baseline : bool, default=False
        Whether to add the error on all features, as rows of the method "all".
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of random methods.
    n_jobs : int, default=None
        Number of processes, each for one fold at a time; None: one process with all threads.
    progress : callable, default=None
        Called after each fold with the number of folds done and their total.
    keep : path, default=None
        A folder in which every finished fold is stored. A later call with the same table and
        options reads the folds that are there. Needs a ``random_state``, so that the folds are the
        same.
    **options
        As for :class:`SelectBestK`: ``information``, ``discretizer``, ``include`` and so on.

    Returns
    -------
    Curves
        Errors and selected features by method, k and fold.

    Notes
    -----
    In each fold the table is counted once for all methods, and methods that select the same
    features share one fit of the estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> curves = error_curves(X, y, ["maxrel", "tpower"], [2, 4, 8], cv=5, random_state=0)
    >>> print(curves)
    mean error over 5 folds, protocol 'nested'
         k  maxrel  tpower
         2  0.0931  0.0685
         4  0.0456  0.0492
         8  0.0316  0.0281
    >>> print(curves.compare("tpower", "maxrel"))
    -0.82 ± 1.5 % tie (0/3/0)
    >>> [round(s.index, 2) for s in curves.stability()["tpower"]]
    [0.2, 0.37, 0.49]
    """
    choice(protocol, "protocol", PROTOCOLS)
    if progress is not None and not callable(progress):
        raise ParameterError(f"progress must be a function of two numbers, not {progress!r}")
    if estimator is not None and not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise ParameterError(f"estimator must have the methods fit and predict; got {estimator!r}")
    if keep is not None and random_state is None:
        raise ParameterError("keep needs the same folds in every call; pass a random_state")
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31))
    selector = SelectBestK(k=1, method="maxrel", random_state=random_state, **options)
    selector._validate_params()
    read_column(y)  # refuses what is not a column
    table, y = read_table(X), column_or_1d(y)
    check_consistent_length(range(table.n_samples), y)
    allowed = _fix_options(selector, table, y)
    text = set(table.kinds[allowed].tolist()) - {"numeric", "boolean"}
    trees = estimator is None and bool(text)
    X = _indexable(X, table, selector, coded=trees)
    continuous = selector.target == "continuous"
    if estimator is None:
        missing = bool(table.count_missing()[allowed].any())
        sparse = hasattr(X, "tocsc")
        estimator = default_model(continuous=continuous, text=trees, sparse=sparse, missing=missing)
    wanted = _read_ks(ks, len(set(selector.include)), len(allowed))
    everything = allowed if baseline else None
    study = Study(X, y, selector, _read_methods(methods), wanted, estimator, everything)
    folds = split(y, cv, continuous=continuous, random_state=random_state)
    store = None if keep is None else FoldStore.of(keep, study, folds, protocol)
    rows: list[Row] = []
    with limit_threads(trees=trees, rows=len(y)):
        selected = study.select() if protocol == "paper" else None
        for done, part in enumerate(_run(study, folds, selected, store, jobs(n_jobs)), 1):
            rows += part
            if progress is not None:
                progress(done, len(folds))
    return Curves(tuple(rows), table.names, protocol)


def _run(
    study: Study, folds: list[Fold], selected: Selections | None, store: FoldStore | None,
    n_jobs: int | None,
) -> Iterator[list[Row]]:  # fmt: skip
    """The rows of each fold, in order, as they are done."""
    run = study.run if store is None else partial(store.run, study)
    if n_jobs is None or n_jobs == 1:
        return (run(i, fold, selected) for i, fold in enumerate(folds))
    from sklearn.utils.parallel import Parallel, delayed

    work = (delayed(run)(i, fold, selected) for i, fold in enumerate(folds))
    done: Iterator[list[Row]] = Parallel(n_jobs=n_jobs, return_as="generator")(work)
    return done


def split(y: NDArray[Any], cv: Any, *, continuous: bool, random_state: int | None) -> list[Fold]:
    """Training and test rows of every fold."""
    from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold, check_cv

    if cv is None:
        cv = LeaveOneOut() if len(y) <= MAX_ROWS_LEAVE_ONE_OUT else N_FOLDS
    if isinstance(cv, Integral):
        kind = KFold if continuous else StratifiedKFold
        cv = kind(int(cv), shuffle=True, random_state=random_state)
    return read_folds(lambda: check_cv(cv), np.empty((len(y), 1)), y)


def _fix_options(selector: SelectBestK, table: Table, y: Any) -> Indices:
    """Set what must be the same in all folds; return the features that may be selected."""
    included, excluded = (
        find_features(each, table) for each in (selector.include, selector.exclude)
    )
    continuous = is_continuous(y, selector.target)
    target = "continuous" if continuous else "classes"
    selector.set_params(target=target, include=included, exclude=excluded)
    return np.setdiff1d(np.arange(table.n_features), excluded)


def _indexable(X: Any, table: Table, selector: SelectBestK, *, coded: bool) -> Any:
    """The table in a form that scikit-learn can index, with codes for text if asked for."""
    if coded or isinstance(X, Table):
        matrix, words = as_matrix(table)
        nominal = find_features(selector.categorical_features, table)
        selector.set_params(categorical_features=np.union1d(nominal, words).astype(np.int64))
        return matrix
    if isinstance(X, list | tuple):
        array = np.asarray(X)
        return array if array.dtype.kind in "biuf" else np.array(X, dtype=object)
    return X.tocsc() if hasattr(type(X), "tocsc") else X


def _read_methods(methods: Any) -> dict[str, Method]:
    """Methods by their names."""
    if isinstance(methods, str):
        methods = [methods]
    try:
        methods = methods if isinstance(methods, Mapping) else {name: name for name in methods}
    except TypeError as error:
        wanted = "names, or a dict of names to methods"
        raise ParameterError(f"methods must be {wanted}, not {methods!r}") from error
    for name in methods:
        if not isinstance(name, str):
            raise ParameterError(f"{name!r} has no name; pass a dict of names to methods")
    if BASELINE in methods:
        raise ParameterError(f"{BASELINE!r} is the name of the baseline; rename the method")
    if not methods:
        raise ParameterError("there are no methods to measure; pass one or more")
    return {name: get_method(method) for name, method in methods.items()}


def _read_ks(ks: Iterable[int], n_included: int, most: int) -> list[int]:
    """The numbers of features in rising order, each once."""
    try:
        wanted = sorted({index(k) for k in ks})
    except TypeError as error:
        raise ParameterError(f"ks must be a list of whole numbers, not {ks!r}") from error
    least = max(1, n_included)
    if not wanted or wanted[0] < least or wanted[-1] > most:
        came = f"{wanted[0]}..{wanted[-1]}" if wanted else "empty"
        raise ParameterError(f"ks must lie between {least} and {most}, the number of features; "
                         f"got {came}")  # fmt: skip
    return wanted
