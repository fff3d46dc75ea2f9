"""Methods made of others: of groups of columns, and of selectors of other libraries."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone

from bestk._typing import Indices
from bestk.bqp.solution import Solution
from bestk.bqp.solvers import Effort
from bestk.errors import ParameterError
from bestk.information import Entropies
from bestk.information.block_information import BlockInformation
from bestk.information.joined import JoinedEntropies
from bestk.methods.method import EFFORT, Ints, Method, Solutions
from bestk.methods.quadratic import Objective, Pairs, get_objective
from bestk.methods.registry import Greedy, Quadratic
from bestk.tables.table import Table, as_matrix, find_features
from bestk.tables.target import Target

COUNTS = ("k", "n_features_to_select", "max_features", "k_features")  # parameters that mean k


@dataclass(frozen=True)
class Grouped(Method):
    """A method that selects whole groups; k counts groups, or columns at most."""

    method: Any
    labels: Indices  # the group of each measured column, from 0 up
    sizes: Indices  # the number of columns of each group, measured or not
    by_columns: bool

    def select_path(
        self, entropies: Entropies, ks: Ints, include: Ints = (), effort: Effort = EFFORT
    ) -> Solutions:
        """Pick for every k of a list; the features to include are columns."""
        included = list(dict.fromkeys(self.labels[list(include)].tolist()))
        if not self.by_columns:
            found = self._choose(entropies, ks, included, effort, np.arange(len(self.sizes)))
            return [self._expanded(solution) for solution in found]
        solutions = []
        for k in ks:
            fitting = np.flatnonzero(self.sizes <= k)
            most = int((np.cumsum(np.sort(self.sizes[fitting])) <= k).sum())
            if not np.isin(included, fitting).all() or not most:
                raise ParameterError(f"k={k} is too few columns for a group to select; raise k")
            counts = list(range(max(1, len(included)), most + 1))
            found = self._choose(entropies, counts, included, effort, fitting)
            small = [s for s in found if self.sizes[s.support].sum() <= k]
            if not small:
                raise ParameterError(f"k={k} is too few columns for the included groups; raise k")
            solutions.append(self._expanded(small[-1]))
        return solutions

    def _expanded(self, solution: Solution) -> Solution:
        """The solution by columns, which share the contribution of their group evenly."""
        columns = [np.flatnonzero(self.labels == group) for group in solution.support]
        each = np.array([len(some) for some in columns])
        parts = np.repeat(solution.details["contribution"] / each, each)
        details = {**solution.details, "contribution": parts}
        return replace(solution, support=np.concatenate(columns), details=details)

    def _choose(
        self,
        entropies: Entropies | BlockInformation,
        ks: Ints,
        include: Ints,
        effort: Effort,
        groups: Indices,
    ) -> Solutions:
        """Choose among some groups; the support and the contributions are those of groups."""
        place = np.full(len(self.sizes), -1)
        place[groups] = np.arange(len(groups))
        labels, inside = place[self.labels], place[include].tolist()
        method = self.method
        if isinstance(entropies, BlockInformation):
            found = method.select_path(entropies.merged(labels), ks, inside, effort)
        elif isinstance(method, Greedy):
            found = method._pick(entropies, ks, inside, effort, labels)
        elif isinstance(method, Quadratic):
            method = replace(method, objective=Contracted(get_objective(method.objective), labels))
            found = method.select_path(entropies, ks, inside, effort)
        else:
            raise ParameterError(f"column_groups needs a method of bestk by name, not {method!r}")
        return [replace(solution, support=groups[solution.support]) for solution in found]


@dataclass(frozen=True, eq=False)
class Contracted(Objective):
    """An objective of groups: ``Q_gh`` is the sum of ``Q_ij`` over the columns of both."""

    base: Objective
    labels: Indices  # the group of each column, from 0 up, or -1

    @property
    def same_for_all_k(self) -> bool:
        """As for columns."""
        return self.base.same_for_all_k

    def columns(self, k: int) -> int:
        """The number of columns of k groups of mean size, on which the weights depend."""
        return max(1, round(k * (self.labels >= 0).sum() / (self.labels.max() + 1)))

    def pair_weight(self, k: int) -> float:
        """How much a pair of columns counts among k groups."""
        return self.base.pair_weight(self.columns(k))

    def feature_weight(self, k: int) -> float:
        """How much the relevance of a column counts among k groups."""
        return self.base.feature_weight(self.columns(k))

    def pairs(self, entropies: Entropies) -> Pairs:
        """What pairs of groups are worth, ready for any number of groups."""
        of_columns = self.base.pairs(entropies)
        pairs_of_columns = of_columns.problem(1)[0].matrix.copy()
        np.fill_diagonal(pairs_of_columns, 0.0)
        grouped = np.flatnonzero(self.labels >= 0)
        shape = (self.labels.max() + 1, len(self.labels))
        member = csr_array((np.ones(len(grouped)), (self.labels[grouped], grouped)), shape)
        matrix = member @ (member @ pairs_of_columns).T
        matrix = np.ascontiguousarray(matrix + matrix.T) / 2
        relevance = member @ of_columns.relevance
        return Pairs(self, matrix, relevance, within=matrix.diagonal().copy())

    def lazy_pairs(self, entropies: Entropies, memory: int = 0) -> Pairs:
        """The whole matrix: adding up needs every pair."""
        return self.pairs(entropies)


@dataclass(frozen=True)
class Foreign(Method):
    """A selector with ``get_support``, a ranking, or a function of X, y and k, by relevance."""

    selector: Any
    table: Table
    allowed: Indices  # the features to select from
    targets: tuple[Target, ...]

    def _pick(self, entropies: Entropies, ks: Ints, include: Ints, effort: Effort) -> Solutions:
        name = type(self.selector).__name__
        if len(include):
            raise ParameterError(
                f"include does not work with {name}; use a method of bestk.METHODS, or pass no "
                "include"
            )
        if isinstance(entropies, JoinedEntropies) and entropies.worst:
            raise ParameterError("multioutput='min' needs a method of bestk; use 'sum' or 'union'")
        pick, relevance, found = self._picker(), entropies.mi(), []
        for k in ks:
            start = perf_counter()
            support = np.unique(np.asarray(pick(k), np.int64))
            if len(support) != k:
                raise ParameterError(
                    f"{name} gives {len(support)} different features, not {k}; use a smaller k, "
                    f"a ranking of at least {k} features, or a selector of {k}"
                )
            support = support[np.argsort(-relevance[support], kind="stable")]
            seconds = perf_counter() - start
            found.append(Solution(support, np.nan, solver=name, seconds=seconds))
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
        labels = [target.values for target in self.targets]
        y = labels[0] if len(labels) == 1 else np.column_stack(labels)
        weighted = self._weights()
        if not hasattr(selector, "fit"):
            return lambda k: selector(X, y, k, **weighted)
        known = selector.get_params(deep=False)
        name = next((name for name in COUNTS if name in known), None)
        if name is None:
            raise ParameterError(
                f"{selector!r} has no parameter for the number of features ({', '.join(COUNTS)}); "
                "pass a function of X, y and k that returns the indices of k features"
            )
        # SelectFromModel: exactly k
        more = {"threshold": -np.inf} if name == "max_features" else {}

        def pick(k: int) -> Any:
            chosen = clone(selector).set_params(**{name: k}, **more)
            return chosen.fit(X, y, **weighted).get_support(indices=True)

        return pick

    def _weights(self) -> dict[str, Any]:
        """The weights of the rows, of mean 1, as the selector takes them."""
        weights = self.targets[0].weights
        if weights is None:
            return {}
        function = getattr(self.selector, "fit", self.selector)
        parameters = signature(function).parameters.values()
        if not any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters):
            raise ParameterError(
                f"method={self.selector!r} takes no sample_weight; use a method of bestk.METHODS, "
                "or pass no sample_weight"
            )
        return {"sample_weight": weights.of_mean_one}
