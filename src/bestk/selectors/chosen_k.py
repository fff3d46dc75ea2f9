"""Rules that choose the number of features by scores of cross-validation."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestk._checks import whole
from bestk._typing import Floats
from bestk.errors import ParameterError


def read_ks(ks: Any, n_required: int, n_available: int) -> list[int]:
    """Numbers of features as users pass them, in rising order, each once."""
    try:
        wanted = sorted({whole(k, "k") for k in ks})
    except (TypeError, ParameterError) as error:
        raise ParameterError(f"ks must be a list of whole numbers, not {ks!r}") from error
    smallest = max(1, n_required)
    if not wanted or not smallest <= wanted[0] <= wanted[-1] <= n_available:
        came = f"{wanted[0]}..{wanted[-1]}" if wanted else "empty"
        raise ParameterError(
            f"ks must lie between {smallest} and {n_available}, the number of features; got {came}"
        )
    return wanted


def choose(ks: Sequence[int], scores: Floats, rule: str) -> int:
    """The k of the best mean score over folds, by a rule.

    Parameters
    ----------
    ks : sequence of int
        Numbers of features, rising.
    scores : array of shape (n_folds, n_ks)
        Larger is better.
    rule : {"best", "one-se"}
        "best": the smallest k of the best mean score; "one-se": the smallest k whose mean
        difference from it is within the standard error of the difference.
    """
    is_finite = np.isfinite(scores)
    if not is_finite.all():
        fold = int(np.flatnonzero(~is_finite.all(axis=1))[0]) + 1
        raise ParameterError(
            f"the score in fold {fold} of {len(scores)} is not finite; pass another scoring, "
            "or fewer folds, so that each has rows of every class"
        )
    best = int(np.argmax(scores.mean(axis=0)))
    if rule == "best" or len(scores) < 2:
        return ks[best]
    differences = scores[:, [best]] - scores
    is_close = differences.mean(axis=0) <= _standard_error(differences)
    return ks[int(np.argmax(is_close))]


def beats(scores: Floats, guess: Floats) -> bool:
    """Whether the best mean score exceeds that of a dummy model by more than a standard error.

    ``scores``: a row for each fold and a column for each k; ``guess``: of the dummy, for each fold.
    """
    best = int(np.argmax(scores.mean(axis=0)))
    differences = scores[:, best] - guess
    error = float(_standard_error(differences)) if len(scores) > 1 else 0.0
    return bool(differences.mean() > error)


def _standard_error(differences: Floats) -> Floats:
    """The standard error of the mean of each column over folds, the rows."""
    return np.asarray(differences.std(axis=0, ddof=1) / np.sqrt(len(differences)))
