"""A problem in which some items are in every choice."""

from dataclasses import replace

import numpy as np

from bestk._typing import Floats, Indices
from bestk.problem import BQP, Solution
from bestk.relaxations import largest_entry, rounding


class Fixed:
    """What is left to choose once some items are in: a smaller problem, and the way back.

    What the items that are in add to the others is spread over all entries, l_i + l_j over 2k at
    [i, j], so that ``value of the whole choice = base + x'Qx`` for every choice of k. On the
    diagonal, methods that use row sums would give it too little weight.
    """

    def __init__(self, problem: BQP, inside: Indices) -> None:
        self.problem, self.inside = problem, inside
        self.open = np.setdiff1d(np.arange(problem.n), inside)
        self.k = problem.k - len(inside)
        self.base = problem.value(inside)
        columns = problem.columns(inside)
        self._extra = columns[self.open].sum(axis=1) / max(1, self.k)
        terms = 2 * len(inside) * problem.k
        self._margin = rounding(terms, terms * largest_entry(columns))

    def rest(self) -> BQP:
        """The problem of choosing the others."""
        if self.problem.is_lazy:
            return BQP.trusted(_OpenItems(self.problem, self.open, self._extra), self.k)
        Q = self.problem.Q[np.ix_(self.open, self.open)]
        Q += self._extra[:, None] + self._extra
        return BQP.trusted(Q, self.k)

    def whole(self, solution: Solution) -> Solution:
        """The choice with the items that are in, which come first."""
        support = np.concatenate([self.inside, self.open[solution.support]])
        value = self.problem.value(support)
        if "fixed_in" in solution.details:
            certain = solution.details["fixed_in"] + len(self.inside)
            solution = replace(solution, details={**solution.details, "fixed_in": certain})
        if solution.gap == 0:  # proved, to rounding
            return replace(solution, support=support, objective=value, upper_bound=value)
        upper = max(value, solution.upper_bound + self.base + self._margin)
        return replace(solution, support=support, objective=value, upper_bound=upper)


class _OpenItems:
    """The open items of a lazy matrix."""

    def __init__(self, problem: BQP, items: Indices, extra: Floats) -> None:
        self.shape = (len(items), len(items))
        self._problem, self._items, self._extra = problem, items, extra

    def diagonal(self) -> Floats:
        """The diagonal, with what the items inside add."""
        return self._problem.diagonal[self._items] + 2 * self._extra

    def columns(self, items: Indices) -> Floats:
        """Columns of the open items."""
        out = self._problem.columns(self._items[items])[self._items]
        out += self._extra[:, None] + self._extra[items]
        return out
