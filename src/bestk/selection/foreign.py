"""Selectors of other libraries, rankings and functions, used like a method of bestk."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bestk._typing import Indices
from bestk.data.table import Table, as_matrix, find_features
from bestk.errors import ParameterError
from bestk.information import Entropies
from bestk.information.reading import ParsedTarget
from bestk.problem.solution import Solution
from bestk.selection.methods import EFFORT, NONE, Effort, Method

COUNTS = ("k", "n_features_to_select", "max_features", "k_features")  # parameters that mean k


@dataclass(frozen=True)
class Foreign(Method):
    """A selector with ``get_support``, a ranking, or a function of X, y and k.

    It is given the features as one array of numbers, in which codes stand for text, and selects
    for each k anew. The selected features are ordered by their relevance.
    """

    selector: Any
    table: Table
    allowed: Indices  # the features to select from
    target: ParsedTarget | None

    def select_path(
        self,
        entropies: Entropies,
        ks: Sequence[int],
        include: Sequence[int] = NONE,
        effort: Effort = EFFORT,
    ) -> list[Solution]:
        """Pick for every k of a list."""
        if len(include):
            raise ParameterError(
                "include needs a method of bestk, which can be given features; use a name from "
                "bestk.METHODS, or pass no include"
            )
        pick, relevance, found = self._picker(), entropies.mi(), []
        for k in ks:
            start = perf_counter()
            support = np.unique(np.asarray(pick(k), np.int64))
            if len(support) != k:
                name = type(self.selector).__name__
                raise ParameterError(
                    f"{name} gives {len(support)} different features, not {k}; use a smaller k, "
                    f"a ranking of at least {k} features, or a selector of {k}"
                )
            support = support[np.argsort(-relevance[support], kind="stable")]
            found.append(Solution(support, np.nan, solver=type(self.selector).__name__,
                                  seconds=perf_counter() - start))  # fmt: skip
        return found

    def _picker(self) -> Callable[[int], Any]:
        """A function of k that returns places among the allowed features."""
        selector = self.selector
        if not (callable(selector) or hasattr(selector, "fit")):
            ranking = find_features(selector, self.table)
            places = {item: place for place, item in enumerate(self.allowed.tolist())}
            kept = [places[item] for item in ranking.tolist() if item in places]
            return lambda k: kept[:k]
        assert self.target is not None
        X, y = as_matrix(self.table.keep(self.allowed))[0], self._labels(self.target)
        if not hasattr(selector, "fit"):
            return lambda k: selector(X, y, k)
        return lambda k: with_count(selector, k).fit(X, y).get_support(indices=True)

    @staticmethod
    def _labels(target: ParsedTarget) -> NDArray[Any]:
        classes = target.goal
        return classes if target.continuous else classes.classes[classes.codes]


def with_count(selector: Any, k: int) -> Any:
    """A copy of a selector that selects k features.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> with_count(SelectKBest(), 3)
    SelectKBest(k=3)
    """
    known = selector.get_params(deep=False)
    name = next((name for name in COUNTS if name in known), None)
    if name is None:
        raise ParameterError(
            f"{selector!r} has no parameter for the number of features ({', '.join(COUNTS)}); "
            "pass a function of X, y and k that returns the indices of k features"
        )
    more = {"threshold": -np.inf} if name == "max_features" else {}  # SelectFromModel: exactly k
    return clone(selector).set_params(**{name: k}, **more)
