"""Error against k: the study of a table, fold by fold."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from bestk._checks import jobs
from bestk.data.table import read_column, read_table
from bestk.evaluation._classifier import default_classifier, split
from bestk.evaluation._curves import Curves, Row
from bestk.evaluation._keep import Kept, check_path, fingerprint
from bestk.evaluation._study import Chosen, Study, indexable, read_ks, read_methods
from bestk.selection.folds import Fold
from bestk.selection.methods import Method
from bestk.selection.reading import Reading, find_features
from bestk.selection.selector import SelectBestK

PROTOCOLS = ("nested", "paper")


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
        What predicts; by default :func:`linear_svm`, which takes numbers. For columns of strings
        or categories give a pipeline that encodes them. The error is the share of wrong classes,
        or the mean squared error of a regressor.
    cv : int, splitter, iterable of splits or None, default=None
        None is the paper's rule: leave-one-out up to 100 rows, ten folds above. A number of folds
        is stratified by class and shuffled.
    protocol : {"nested", "paper"}, default="nested"
        "nested" reads, discretises, counts and selects in the training rows of each fold alone:
        an honest error. "paper" selects once, on all rows, and cross-validates the estimator
        only: the features have seen the test rows, and errors can be too good to be true.
    baseline : bool, default=False
        Whether to measure the error on all features, too, as rows of the method "all".
    random_state : int, RandomState instance or None, default=None
        Shuffles the rows into folds, and is handed to the methods.
    n_jobs : int, default=None
        Processes, each for a fold at a time, with its share of the cores for threads; None: one
        process, whose counting uses all cores.
    progress : callable, default=None
        Called after each fold with the number of folds done and their total.
    keep : path, default=None
        A file to which every fold is added when it is done. Called again with the same table and
        options, after whatever ended the first call, the folds that it holds are not done again.
        Needs a ``random_state``, so that the folds are the same.
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
    if not isinstance(protocol, str) or protocol not in PROTOCOLS:
        known = " or ".join(map(repr, PROTOCOLS))
        raise ValueError(f"unknown protocol {protocol!r}; choose {known}")
    if progress is not None and not callable(progress):
        raise ValueError(f"progress must be a function of two numbers, not {progress!r}")
    if estimator is not None and not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise ValueError(f"estimator must have the methods fit and predict; got {estimator!r}")
    n_jobs = jobs(n_jobs)
    path = None if keep is None else check_path(keep)
    if path is not None and random_state is None:
        raise ValueError("keep goes on with the same folds: give random_state a number")
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31))
    selector = SelectBestK(k=1, method="maxrel", random_state=random_state, **options)
    selector._validate_params()
    study, names = _plan(X, y, read_methods(methods), ks, selector, estimator, baseline)
    continuous = study.selector.target == "continuous"
    folds = split(study.y, cv, continuous=continuous, random_state=random_state)
    kept = None if path is None else Kept(path, _study_of(study, folds, protocol))
    done = {} if kept is None else dict(kept.folds)
    todo = {i: fold for i, fold in enumerate(folds) if i not in done}
    chosen = study.choose() if protocol == "paper" and todo else None
    for i, part in zip(todo, _run(study, todo, chosen, n_jobs), strict=True):
        done[i] = part
        if kept is not None:
            kept.add(i, part)
        if progress is not None:
            progress(len(done), len(folds))
    rows = (row for i in range(len(folds)) for row in done[i])
    return Curves(tuple(rows), names, protocol)


def _plan(
    X: Any,
    y: Any,
    methods: dict[str, Method],
    ks: Iterable[int],
    selector: SelectBestK,
    estimator: Any,
    baseline: bool,
) -> tuple[Study, Sequence[str]]:
    """What is to be done in each fold, once everything is checked; and the names of features."""
    read_column(y)  # names what is no column of targets
    table, X, y = read_table(X), indexable(X), column_or_1d(y)
    check_consistent_length(X, y)
    excluded = find_features(selector.exclude, table)
    allowed = np.setdiff1d(np.arange(table.n_features), excluded)
    wanted = read_ks(ks, selector, table, allowed)
    continuous = Reading(target=selector.target).is_continuous(y)
    selector.set_params(target="continuous" if continuous else "classes")  # in all folds alike
    study = Study(X, y, selector, methods, wanted, estimator, allowed if baseline else None)
    if estimator is None:
        sparse = hasattr(X, "tocsc")
        estimator = default_classifier(table, allowed, sparse=sparse, continuous=continuous)
        study = replace(study, estimator=estimator)
    return study, table.names


def _study_of(study: Study, folds: list[Fold], protocol: str) -> str:
    """What tells this study from others."""
    from bestk import __version__

    rows = [part for fold in folds for part in fold]
    options = (study.selector, study.methods, study.ks, study.estimator, study.all_features is None)
    arrays = (study.y, *rows)
    return fingerprint(read_table(study.X), arrays, (*options, len(folds), protocol, __version__))


def _run(
    study: Study, folds: dict[int, Fold], chosen: Chosen | None, n_jobs: int | None
) -> Iterator[list[Row]]:
    """The rows of each fold, in order, as they are done."""
    if n_jobs is None or n_jobs == 1:
        return (study.run(i, *fold, chosen) for i, fold in folds.items())
    from sklearn.utils.parallel import Parallel, delayed

    work = (delayed(study.run)(i, *fold, chosen) for i, fold in folds.items())
    done: Iterator[list[Row]] = Parallel(n_jobs=n_jobs, return_as="generator")(work)
    return done
