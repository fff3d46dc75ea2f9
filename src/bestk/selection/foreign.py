"""Selectors of other libraries, rankings and functions, used like a method of bestk."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from bestk._typing import Indices
from bestk.data.table import Table, as_matrix, find_features
from bestk.errors import ParameterError
from bestk.information import Entropies
from bestk.information.reading import ParsedTarget
from bestk.problem.solution import Solution
from bestk.selection.methods import Effort, Ints, Method, Solutions
from bestk.selection.targets import JoinedEntropies

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
    targets: tuple[ParsedTarget, ...]

    def _pick(self, entropies: Entropies, ks: Ints, include: Ints, effort: Effort) -> Solutions:
        if len(include):
            raise ParameterError(
                "include needs a method of bestk, which can be given features; use a name from "
                "bestk.METHODS, or pass no include"
            )
        if isinstance(entropies, JoinedEntropies) and entropies.worst:
            raise ParameterError("multioutput='min' needs a method of bestk; use 'sum' or 'union'")
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
        X = as_matrix(self.table.keep(self.allowed))[0]
        labels = [target.labels for target in self.targets]
        y = labels[0] if len(labels) == 1 else np.column_stack(labels)
        if not hasattr(selector, "fit"):
            return lambda k: selector(X, y, k)
        return lambda k: with_count(selector, k).fit(X, y).get_support(indices=True)


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
