"""Cross-validation: folds, and rules that choose k by the scores of the folds."""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Indices
from bestk.data.frames import as_array
from bestk.errors import ParameterError

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


def choose(ks: Sequence[int], scores: NDArray[np.float64], rule: str) -> int:
    """The k of the best mean score over folds (rows of ``scores``), by the rule.

    "one-se" takes the smallest k whose mean difference from the best is at most the standard
    error of that difference.
    """
    if not np.isfinite(scores).all():
        fold = int(np.flatnonzero(~np.isfinite(scores).all(axis=1))[0]) + 1
        raise ParameterError(
            f"the score in fold {fold} of {len(scores)} is not finite; pass another scoring, "
            "or fewer folds, so that each has rows of every class"
        )
    best = int(np.argmax(scores.mean(axis=0)))
    if rule == "best" or len(scores) < 2:
        return ks[best]
    worse = scores[:, [best]] - scores
    return ks[int(np.argmax(worse.mean(axis=0) <= _standard_error(worse)))]


def beats(scores: NDArray[np.float64], guess: NDArray[np.float64]) -> bool:
    """Whether the best mean score exceeds that of a dummy model by more than a standard error."""
    better = scores[:, [int(np.argmax(scores.mean(axis=0)))]] - guess[:, None]
    return bool(better.mean() > (_standard_error(better)[0] if len(scores) > 1 else 0.0))


def _standard_error(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(differences.std(axis=0, ddof=1) / np.sqrt(len(differences)))
