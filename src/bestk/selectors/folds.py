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

# The number of folds where users ask for no other.
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
        splitter_class = _splitter_class(classes=classes, has_groups=has_groups)
        cv = splitter_class(int(cv), **shuffled)
    splitter = check_cv(cv)
    folds = []
    # Splitters warn where targets are larger than any integer.
    with np.errstate(invalid="ignore"):
        for train, test in splitter.split(*rows):
            folds.append((np.asarray(train), np.asarray(test)))
    if not folds:
        raise ParameterError("cv yields no folds; pass a number of folds, or pairs of rows")
    _refuse_folds_of_one_class(folds, np.asarray(y))
    return folds


def _splitter_class(*, classes: bool, has_groups: bool) -> Any:
    """The class of the splitter of scikit-learn that keeps groups together, and stratifies."""
    from sklearn import model_selection

    if has_groups and classes:
        return model_selection.StratifiedGroupKFold
    if has_groups:
        return model_selection.GroupKFold
    if classes:
        return model_selection.StratifiedKFold
    return model_selection.KFold


def _refuse_folds_of_one_class(folds: list[Fold], y: Any) -> None:
    """Refuse folds whose training rows all have one value of y, where y has several values."""
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
    folds_of_weight = []
    for train, test in folds:
        train_of_weight = train[weights.counts[train]]
        test_of_weight = test[weights.counts[test]]
        if len(test_of_weight):
            folds_of_weight.append((train_of_weight, test_of_weight))
    return folds_of_weight


def printed_progress(name: str, verbose: Any) -> Callable[[int, int], Any]:
    """A function that prints how many of the folds are done, where ``verbose`` asks for it."""
    start = perf_counter()

    def show(done: int, total: int) -> None:
        if not verbose:
            return
        seconds = perf_counter() - start
        print(f"[{name}] {done} of {total} done, {seconds:.1f} s", flush=True)

    return show
