"""Cross-validation folds, by scikit-learn's splitters."""

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.frames import as_array
from bestk.errors import ParameterError

Indices = NDArray[np.int64]
Fold = tuple[Indices, Indices]  # training rows, test rows
FOLDS = 5


def group_splitter(cv: Any, groups: Any, *, classes: bool, **shuffled: Any) -> Any:
    """A splitter that keeps groups together, if there are groups and cv is a number; else cv."""
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    if groups is None or not (cv is None or isinstance(cv, Integral)):
        return cv
    n_folds = min(FOLDS, len(np.unique(as_array(groups)))) if cv is None else int(cv)
    return (StratifiedGroupKFold if classes else GroupKFold)(n_folds, **shuffled)


def read_folds(find: Callable[[], Any], X: Any, y: Any, groups: Any = None) -> list[Fold]:
    """The folds of a splitter; at least one, each with more than one class."""
    try:
        with np.errstate(invalid="ignore"):  # where targets are larger than any integer
            splitter = find()
            folds = [(np.asarray(train), np.asarray(test))
                     for train, test in splitter.split(X, y, groups)]  # fmt: skip
    except TypeError as error:
        raise ParameterError(f"cv must yield pairs of training and test rows; {error}") from error
    if not folds:
        raise ParameterError("cv yields no folds; pass a number of folds, or pairs of rows")
    targets = np.asarray(y)
    for number, (train, _) in enumerate(folds, 1):
        seen = targets[train]
        if len(seen) and (seen == seen[0]).all() and not (targets == seen[0]).all():
            raise ParameterError(
                f"all training rows of fold {number} of {len(folds)} have the class {seen[0]!s}; "
                "use fewer folds, or drop classes of one or two rows"
            )
    return folds
