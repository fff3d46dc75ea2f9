"""bestk, checked in the same way as the other packages."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.calls import pick_with, supported
from benchmarks.peers.peer import Peer, Picks


def _bestk(k: int = 10, **settings: Any) -> Any:
    from bestk import SelectBestK

    return SelectBestK(k=k, **settings)


def _bestk_matrix(X: Any, y: Any) -> tuple[Any, str]:
    from bestk import cmi_matrix

    return cmi_matrix(X, y), "I(Xj; Y | Xi) for every i and j"


def _bestk_frequencies(X: Any, y: Any, k: int) -> Any:
    from bestk import stability_selection

    return stability_selection(X, y, k, n_subsamples=20).frequencies


def _bestk_choice(X: Any, y: Any, scorer: Any, groups: Any) -> int:
    from sklearn.linear_model import LogisticRegression

    from bestk import SelectBestKCV

    selector = SelectBestKCV(LogisticRegression(), [1, 2, 3], scoring=scorer)
    return selector.fit(X, y, groups=groups).best_k_


def _bestk_criteria() -> dict[str, Callable[..., Picks]]:
    from bestk import METHODS

    return {name: pick_with(partial(_bestk, method=name)) for name in METHODS}


def _bestk_times() -> dict[str, Callable[..., Picks]]:
    names = {"jmi": "jmi", "mrmr": "mrmr", "tpower, with a bound": "tpower"}
    return {
        text: pick_with(partial(_bestk, method=name, discretizer=None))
        for text, name in names.items()
    }


BESTK = Peer(
    name="bestk",
    package="bestk",
    usage="SelectBestK(k).fit(X, y)",
    pick=pick_with(_bestk),
    make=_bestk,
    regress=pick_with(_bestk),
    weigh=lambda X, y, k, w: np.flatnonzero(
        _bestk(k, discretizer=None).fit(X, y, sample_weight=w).support_
    ).tolist(),
    grouped=lambda X, y, k, labels: supported(lambda k: _bestk(k, column_groups=labels), X, y, k),
    frequencies=_bestk_frequencies,
    choose=_bestk_choice,
    force=lambda X, y, k, column: supported(lambda k: _bestk(k, include=[column]), X, y, k),
    matrix=_bestk_matrix,
    bound=lambda X, y, k: _bestk(k, method="tpower").fit(X, y).solution_.upper_bound,
    criteria=_bestk_criteria,
    times=_bestk_times,
    timed_on="codes",
)
