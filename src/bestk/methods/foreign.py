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
from bestk.information.information import Estimates
from bestk.information.joined import JoinedEntropies
from bestk.methods.greedy import AnyEntropies
from bestk.methods.method import EFFORT, Ints, Method, Solutions
from bestk.methods.quadratic import Objective, Pairs, get_objective
from bestk.methods.registry import Greedy, Quadratic
from bestk.tables.table import Table, as_matrix, find_features
from bestk.tables.target import Target

# Parameters of selectors of other libraries that are the number of features.
NUMBER_PARAMETERS = ("k", "n_features_to_select", "max_features", "k_features")


@dataclass(frozen=True)
class Grouped(Method):
    """A method that selects whole groups; k counts groups, or columns at most."""

    method: Any
    """The method for groups."""

    labels: Indices
    """The group of each measured column, from 0 up."""

    sizes: Indices
    """The number of columns of each group, measured or not."""

    by_columns: bool
    """Whether k counts columns, and not groups."""

    def pick(
        self, estimates: AnyEntropies | BlockInformation, ks: Ints, include: Ints, effort: Effort
    ) -> Solutions:
        """Pick for every k of a list; the features to include are columns."""
        return self.select_path(estimates, ks, include, effort)

    def select_path(
        self,
        estimates: AnyEntropies | BlockInformation,
        ks: Ints,
        include: Ints = (),
        effort: Effort = EFFORT,
    ) -> Solutions:
        """Pick for every k of a list; the features to include are columns."""
        included = list(dict.fromkeys(self.labels[list(include)].tolist()))
        if self.by_columns:
            return [self._pick_columns(estimates, k, included, effort) for k in ks]
        all_groups = np.arange(len(self.sizes))
        solutions = self._pick_groups(estimates, ks, included, effort, all_groups)
        return [self._by_columns(solution) for solution in solutions]

    def _pick_columns(
        self,
        estimates: AnyEntropies | BlockInformation,
        k: int,
        included: list[int],
        effort: Effort,
    ) -> Solution:
        """Pick as many groups as have no more than k columns together."""
        fitting = np.flatnonzero(self.sizes <= k)
        columns_of_smallest = np.cumsum(np.sort(self.sizes[fitting]))
        n_most_groups = int((columns_of_smallest <= k).sum())
        if not np.isin(included, fitting).all() or not n_most_groups:
            raise ParameterError(f"k={k} is too few columns for a group to select; raise k")
        counts = list(range(max(1, len(included)), n_most_groups + 1))
        solutions = self._pick_groups(estimates, counts, included, effort, fitting)
        small = [solution for solution in solutions if self.sizes[solution.support].sum() <= k]
        if not small:
            raise ParameterError(f"k={k} is too few columns for the included groups; raise k")
        return self._by_columns(small[-1])

    def _by_columns(self, solution: Solution) -> Solution:
        """The solution by columns, which share the contribution of their group evenly."""
        columns_of_group = [np.flatnonzero(self.labels == group) for group in solution.support]
        sizes = np.array([len(columns) for columns in columns_of_group])
        contribution = np.repeat(solution.details["contribution"] / sizes, sizes)
        return replace(
            solution,
            support=np.concatenate(columns_of_group),
            details={**solution.details, "contribution": contribution},
        )

    def _pick_groups(
        self,
        estimates: AnyEntropies | BlockInformation,
        counts: Ints,
        include: Ints,
        effort: Effort,
        groups: Indices,
    ) -> Solutions:
        """Pick among some groups; the support and the contributions are those of groups."""
        place_of_group = np.full(len(self.sizes), -1)
        place_of_group[groups] = np.arange(len(groups))
        labels = place_of_group[self.labels]
        inside = place_of_group[include].tolist()
        method = self.method
        if isinstance(estimates, BlockInformation):
            solutions = method.select_path(estimates.merged(labels), counts, inside, effort)
        elif isinstance(method, Greedy):
            solutions = method.pick_groups(estimates, counts, inside, labels)
        elif isinstance(method, Quadratic):
            of_groups = Contracted(get_objective(method.objective), labels)
            by_groups = replace(method, objective=of_groups)
            solutions = by_groups.select_path(estimates, counts, inside, effort)
        else:
            raise ParameterError(f"column_groups needs a method of bestk by name, not {method!r}")
        return [replace(solution, support=groups[solution.support]) for solution in solutions]


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
    """All columns."""

    allowed: Indices
    """Places of the columns to select from."""

    targets: tuple[Target, ...]

    def pick(self, estimates: Estimates, ks: Ints, include: Ints, effort: Effort) -> Solutions:
        """Ask the selector for every k; its features are put in the order of their relevance."""
        name = type(self.selector).__name__
        if len(include):
            raise ParameterError(
                f"include does not work with {name}; use a method of bestk.METHODS, or pass no "
                "include"
            )
        if isinstance(estimates, JoinedEntropies) and estimates.worst:
            raise ParameterError("multioutput='min' needs a method of bestk; use 'sum' or 'union'")
        pick_places = self._picker()
        relevance = estimates.mi()
        solutions = []
        for k in ks:
            start = perf_counter()
            support = np.unique(np.asarray(pick_places(k), np.int64))
            if len(support) != k:
                raise ParameterError(
                    f"{name} gives {len(support)} different features, not {k}; use a smaller k, "
                    f"a ranking of at least {k} features, or a selector of {k}"
                )
            support = support[np.argsort(-relevance[support], kind="stable")]
            seconds = perf_counter() - start
            solutions.append(Solution(support, np.nan, solver=name, seconds=seconds))
        return solutions

    def _picker(self) -> Callable[[int], Any]:
        """A function of k that returns places among the allowed features."""
        selector = self.selector
        if not (callable(selector) or hasattr(selector, "fit")):
            ranking = find_features(selector, self.table)
            allowed = ranking[np.isin(ranking, self.allowed)]
            places = np.searchsorted(self.allowed, allowed)
            return lambda k: places[:k]
        X = as_matrix(self.table.keep(self.allowed))[0]
        values = [target.values for target in self.targets]
        y = values[0] if len(values) == 1 else np.column_stack(values)
        weights = self._weights()
        if not hasattr(selector, "fit"):
            return lambda k: selector(X, y, k, **weights)
        parameter = self._parameter_of_number()
        others = {}
        if parameter == "max_features":  # of SelectFromModel, which selects fewer below a threshold
            others["threshold"] = -np.inf

        def fit_selector(k: int) -> Any:
            configured = clone(selector).set_params(**{parameter: k}, **others)
            return configured.fit(X, y, **weights).get_support(indices=True)

        return fit_selector

    def _parameter_of_number(self) -> str:
        """The parameter of the selector that is the number of features."""
        parameters = self.selector.get_params(deep=False)
        for name in NUMBER_PARAMETERS:
            if name in parameters:
                return name
        raise ParameterError(
            f"{self.selector!r} has no parameter for the number of features "
            f"({', '.join(NUMBER_PARAMETERS)}); pass a function of X, y and k that returns the "
            "indices of k features"
        )

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
