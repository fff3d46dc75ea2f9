"""Groups of columns that are selected together or not at all."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from bestk._typing import Floats, Indices
from bestk.data.frames import as_array
from bestk.data.table import Table, find_features
from bestk.errors import ParameterError
from bestk.information import Entropies
from bestk.problem.problem import BQP
from bestk.problem.solution import Solution
from bestk.selection.methods import (
    EFFORT,
    NONE,
    Effort,
    Greedy,
    Ints,
    Joint,
    Method,
    Quadratic,
    Solutions,
)
from bestk.selection.objectives import Objective, Pairs, get_objective


def read_groups(groups: Any, table: Table) -> Indices:
    """The number of the group of each column, from 0 in the order of the first columns.

    ``groups`` is a mapping of names to columns, a label for each column, or a separator: columns
    whose names agree up to the last one are a group. Other columns are groups of their own.

    Examples
    --------
    >>> table = Table(0, ["age", "job=nurse", "job=cook", "sex"], ())
    >>> read_groups("=", table), read_groups({"who": ["age", 3]}, table)
    (array([0, 1, 1, 2]), array([0, 1, 2, 0]))
    """
    labels: list[Any] = [(place,) for place in range(table.n_features)]  # each its own
    if isinstance(groups, str):
        for place, name in enumerate(table.names):
            prefix, found, _ = name.rpartition(groups) if groups else (name, "", "")
            labels[place] = prefix if found else labels[place]
    elif isinstance(groups, Mapping):
        for label, columns in groups.items():
            for place in find_features(columns, table).tolist():
                if labels[place] not in ((place,), label):
                    both = f"{labels[place]!r} and {label!r}"
                    raise ParameterError(f"column {table.names[place]!r} is in the groups {both}")
                labels[place] = label
    else:
        labels = as_array(groups).tolist()
        if len(labels) != table.n_features:
            came = f"{len(labels)} labels and {table.n_features} columns"
            raise ParameterError(f"column_groups needs a label for each column; got {came}")
    known: dict[Any, int] = {}
    return np.array([known.setdefault(label, len(known)) for label in labels], np.int64)


@dataclass(frozen=True)
class Grouped(Method):
    """A method that selects whole groups; k counts groups, or columns at most.

    Quadratic methods maximise x'Qx over choices of groups: Q is contracted, its rows and columns
    added up within groups. Greedy criteria add the group whose columns have the largest sum of
    scores. The default takes its quadratic form, ``shared`` solved by swaps. Where k counts
    columns, it is the largest number of groups whose selection has no more than k of them.
    """

    method: Any
    labels: Indices  # the group of each measured column, from 0 up
    sizes: Indices  # the number of columns of each group, measured or not
    by_columns: bool

    def select_path(
        self, entropies: Entropies, ks: Ints, include: Ints = NONE, effort: Effort = EFFORT
    ) -> Solutions:
        """Pick for every k of a list; the features to include are columns."""
        included = list(dict.fromkeys(self.labels[list(include)].tolist()))
        if not self.by_columns:
            everything = np.arange(len(self.sizes))
            found = self._choose(entropies, ks, included, effort, everything)
            return [self._expanded(solution) for solution in found]
        solutions = []
        for k in ks:
            fitting = np.flatnonzero(self.sizes <= k)
            most = int((np.cumsum(np.sort(self.sizes[fitting])) <= k).sum())
            if not np.isin(included, fitting).all() or not most:
                raise ParameterError(f"k={k} columns is less than a group to select; raise it")
            counts = list(range(max(1, len(included)), most + 1))
            found = self._choose(entropies, counts, included, effort, fitting)
            small = [s for s in found if self.sizes[s.support].sum() <= k]
            if not small:
                raise ParameterError(f"k={k} columns is less than the included groups; raise it")
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
        self, entropies: Entropies, ks: Ints, include: Ints, effort: Effort, groups: Indices
    ) -> Solutions:
        """Choose among some groups; the support and the contributions are those of groups."""
        place = np.full(len(self.sizes), -1)
        place[groups] = np.arange(len(groups))
        labels, inside = place[self.labels], place[include].tolist()
        method = Quadratic("shared", "swap") if isinstance(self.method, Joint) else self.method
        if isinstance(method, Greedy):
            found = method.pick_groups(entropies, ks, inside, labels)
        elif isinstance(method, Quadratic):
            objective = Contracted(get_objective(method.objective), labels)
            method = replace(method, objective=objective)
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
        """What pairs of groups are worth."""
        whole, there = self.base.pairs(entropies), np.flatnonzero(self.labels >= 0)
        np.fill_diagonal(whole.matrix, 0.0)
        shape = (self.labels.max() + 1, len(self.labels))
        member = csr_array((np.ones(len(there)), (self.labels[there], there)), shape)
        matrix = member @ (member @ whole.matrix).T
        matrix = np.ascontiguousarray(matrix + matrix.T) / 2
        return GroupPairs(self, matrix, member @ whole.relevance, matrix.diagonal().copy())

    def lazy_pairs(self, entropies: Entropies, memory: int = 0) -> Pairs:
        """The whole matrix: adding up needs every pair."""
        return self.pairs(entropies)


@dataclass(frozen=True)
class GroupPairs(Pairs):
    """Pairs of groups, with what the columns within each are worth together."""

    within: Floats

    def problem(self, k: int) -> tuple[BQP, float]:
        """The problem for k groups, and the factor from its values to the objective's."""
        scale = self.objective.pair_weight(k)
        own = self.objective.feature_weight(k) / scale * self.relevance
        np.fill_diagonal(self.matrix, self.within + own)
        return BQP.trusted(self.matrix, k), scale
