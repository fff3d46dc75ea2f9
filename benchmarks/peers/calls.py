"""Calls that several packages share."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.peer import Picks
from benchmarks.peers.tables import NAMES


def supported(make: Callable[..., Any], X: Any, y: Any, k: int) -> Picks:
    """Fit, and ask which columns are kept: by name where the table has names."""
    found = make(k).fit(X, y)
    if hasattr(X, "columns"):
        return list(found.get_feature_names_out())
    return np.flatnonzero(found.get_support()).tolist()


def pick_with(make: Callable[..., Any]) -> Callable[[Any, Any, int], Picks]:
    """The call that fits such an estimator."""
    return partial(supported, make)


def frame(X: Any) -> Any:
    """A pandas frame with names for its columns."""
    import pandas as pd

    names = NAMES if X.shape[1] == len(NAMES) else [f"x{i}" for i in range(X.shape[1])]
    return pd.DataFrame(X, columns=names)
