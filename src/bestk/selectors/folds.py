"""Folds of cross-validation: training and test rows."""

from collections.abc import Callable
from numbers import Integral
from time import perf_counter
from typing import Any

import numpy as np

from bestk._typing import Indices
from bestk.errors import ParameterError
from bestk.tables.frames import as_array
from bestk.tables.weights import RowWeights

Fold = tuple[Indices, Indices]
"""The places of the training rows, and of the test rows."""

# The number of folds, where nothing else is asked for.
FOLDS = 5


def make_folds(
    cv: Any, rows: tuple[Any, Any, Any], *, default: Any = FOLDS, classes: bool, **shuffled: Any
) -> list[Fold]:
    """Training and test rows of each fold.

    Parameters
    ----------
    cv : int, splitter, iterable of folds or None
        As users pass it, as for scikit-learn.
    rows : tuple of X, y and groups
        What splitters take; groups of rows that no fold separates, or None.
    default : int or splitter
        What None stands for, where there are no groups.
    classes : bool
        Whether y has classes, by which folds are stratified.
    **shuffled
        ``shuffle`` and ``random_state`` of splitters that are made here.
    """
    from sklearn.model_selection import check_cv

    _, y, groups = rows
    has_groups = groups is not None
    if has_groups and isinstance(cv, Integral | None):
        n_groups = len(np.unique(as_array(groups)))
        if n_groups < 2:
            raise ParameterError("groups has one group only; folds by group need at least two")
        default = min(FOLDS, n_groups)
    if cv is None:
        cv = default
    if isinstance(cv, Integral):
        cv = _splitter_class(classes=classes, has_groups=has_groups)(int(cv), **shuffled)
    with np.errstate(invalid="ignore"):  # where targets are larger than any integer
        folds = [(np.asarray(train), np.asarray(test)) for train, test in check_cv(cv).split(*rows)]
    if not folds:
        raise ParameterError("cv yields no folds; pass a number of folds, or pairs of rows")
    _refuse_folds_of_one_class(folds, np.asarray(y))
    return folds


def _splitter_class(*, classes: bool, has_groups: bool) -> Any:
    """The splitter of scikit-learn for so many folds."""
    from sklearn import model_selection as ms

    if has_groups:
        return ms.StratifiedGroupKFold if classes else ms.GroupKFold
    return ms.StratifiedKFold if classes else ms.KFold


def _refuse_folds_of_one_class(folds: list[Fold], y: Any) -> None:
    """Refuse folds whose training rows all have one value, of several that there are."""
    if (y == y[0]).all():
        return
    for number, (train, _) in enumerate(folds, 1):
        in_training = y[train]
        if len(in_training) and (in_training == in_training[0]).all():
            raise ParameterError(
                f"all training rows of fold {number} of {len(folds)} have the class "
                f"{in_training[0]!s}; use fewer folds, or drop classes of one or two rows"
            )


def without_weightless(folds: list[Fold], weights: RowWeights | None) -> list[Fold]:
    """The folds without rows of weight 0; a fold that has no other test rows is left out."""
    if weights is None:
        return folds
    counting = []
    for train, test in folds:
        tested = test[weights.counts[test]]
        if len(tested):
            counting.append((train[weights.counts[train]], tested))
    return counting


def printed_progress(name: str, verbose: Any) -> Callable[[int, int], Any]:
    """A function that prints how many of the folds are done, where ``verbose`` asks for it."""
    start = perf_counter()

    def show(done: int, total: int) -> None:
        if verbose:
            print(f"[{name}] {done} of {total} done, {perf_counter() - start:.1f} s", flush=True)

    return show
