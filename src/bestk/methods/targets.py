"""Several targets: the sum of their objectives, or the smallest of them, is maximised."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from time import perf_counter

import numpy as np

from bestk._typing import Floats, Indices
from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP
from bestk.bqp.solution import Solution
from bestk.methods.quadratic import Objective, Pairs

# The largest number of weights of the targets that are tried, to maximise the smallest objective.
MAX_WEIGHTS = 40

# A swap is made if it raises the smallest objective by more than this part of it; less is rounding.
MIN_GAIN = 1e-12


@dataclass(frozen=True)
class JoinedPairs:
    """What pairs are worth for each of several targets, and the weights of the targets."""

    parts: tuple[Pairs, ...]
    """What pairs are worth for each target."""

    weights: Floats
    """How much each target counts."""

    worst: bool
    """Whether the smallest objective of any target is to be maximised, and not their sum."""

    @property
    def objective(self) -> Objective:
        """The objective of each target."""
        return self.parts[0].objective

    def problem(self, k: int) -> tuple[BQP, float]:
        """The weighted sum of the problems for k features.

        Also returns the factor from its values to those of the objective.
        """
        problems, scale = self.problems_of_targets(k)
        weighted = list(zip(self.weights, problems, strict=True))
        if not any(problem.is_lazy for problem in problems):
            Q = sum(weight * problem.Q for weight, problem in weighted)
            return BQP.trusted(Q, k), scale
        diagonal = self.weights @ [problem.diagonal for problem in problems]
        columns = CachedColumns(
            lambda j: sum(weight * problem.columns(j) for weight, problem in weighted), diagonal
        )
        return BQP.trusted(columns, k), scale

    def problems_of_targets(self, k: int) -> tuple[list[BQP], float]:
        """The problem of each target for k features, and the factor from values to objectives."""
        made = [pairs.problem(k) for pairs in self.parts]
        problems = [problem for problem, _ in made]
        _, scale = made[0]
        return problems, scale


def maximise_worst(
    pairs: JoinedPairs,
    k: int,
    include: Sequence[int],
    solve: Callable[[JoinedPairs], Solution],
    seconds: float | None = None,
) -> tuple[Solution, JoinedPairs]:
    """The choice whose worst target has the largest objective, and the pairs of that target.

    It is Kelley's method of cutting planes. For weights of the targets of sum 1, an upper bound of
    the weighted sum of their objectives bounds the smallest objective of any choice. The next
    weights are those for which the best choice so far is worth least.

    Parameters
    ----------
    pairs : JoinedPairs
        Its weights are the units in which the objectives of the targets are compared.
    k : int
        The number of features.
    include : sequence of int
        Features that must be selected.
    solve : callable
        Finds the choice of the largest weighted sum, for pairs with other weights.
    seconds : float or None
        After this time no further weights are tried.
    """
    start = perf_counter()
    problems, scale = pairs.problems_of_targets(k)
    units = pairs.weights
    n_targets = len(units)
    weights = np.full(n_targets, 1.0 / n_targets)
    tried: list[list[float]] = []
    best = np.empty(0, np.int64)
    best_value = -np.inf
    upper_bound = np.inf
    while len(tried) < MAX_WEIGHTS:
        candidate = solve(replace(pairs, weights=weights * units))
        upper_bound = min(upper_bound, candidate.upper_bound / scale)
        support = _swapped(problems, units, candidate.support, include)
        value = float(_objectives(problems, units, support).min())
        if value > best_value:
            best = support
            best_value = value
        objectives = _objectives(problems, units, candidate.support).tolist()
        is_late = seconds is not None and perf_counter() - start > seconds
        if objectives in tried or best_value >= upper_bound or is_late:
            break
        tried.append(objectives)
        weights = _hardest_weights(np.array(tried))
    objectives_of_best = _objectives(problems, units, best)
    solution = Solution(
        best,
        best_value,
        max(upper_bound, best_value),
        candidate.solver,
        perf_counter() - start,
        details={
            "bound": candidate.details.get("bound"),
            "target_objectives": scale * objectives_of_best,
        },
    )
    is_worst = np.arange(n_targets) == objectives_of_best.argmin()
    return solution, replace(pairs, weights=units * is_worst)


def _objectives(problems: Sequence[BQP], units: Floats, support: Indices) -> Floats:
    """The objective of each target for a choice, in the units of the targets."""
    return units * [problem.value(support) for problem in problems]


def _hardest_weights(objectives: Floats) -> Floats:
    """The weights of targets, of sum 1, for which the best of some choices is worth least.

    ``objectives`` has a row for each choice and a column for each target. It is a linear program:
    minimise z such that ``objectives @ weights <= z``.
    """
    from scipy.optimize import linprog

    n_choices, n_targets = objectives.shape
    # Values of about 1 are solved more exactly.
    scale = np.abs(objectives).max() or 1.0
    program = linprog(
        c=[0.0] * n_targets + [1.0],
        A_ub=np.column_stack([objectives / scale, -np.ones(n_choices)]),
        b_ub=np.zeros(n_choices),
        A_eq=[[1.0] * n_targets + [0.0]],
        b_eq=[1.0],
        bounds=[(0.0, 1.0)] * n_targets + [(None, None)],
    )
    weights = np.maximum(program.x[:n_targets], 0.0)
    return np.asarray(weights / weights.sum())


def _swapped(
    problems: Sequence[BQP], units: Floats, support: Indices, include: Sequence[int]
) -> Indices:
    """The choice after the best swaps of two items, while these raise the smallest objective.

    Items of ``include`` are never swapped.
    """
    support = support.copy()
    is_fixed = np.isin(support, include)
    while True:
        # The smallest objective after item j has taken the place of support[i], at [i, j].
        smallest = np.full((len(support), problems[0].n), np.inf)
        for unit, problem in zip(units, problems, strict=True):
            gains = problem.gains(support)
            columns = problem.columns(support)
            lost = gains[support][:, np.newaxis]
            after = problem.value(support) - lost + gains - 2 * columns.T
            np.minimum(smallest, unit * after, out=smallest)
        smallest[is_fixed] = -np.inf
        smallest[:, support] = -np.inf
        place, item = np.unravel_index(np.argmax(smallest), smallest.shape)
        now = _objectives(problems, units, support).min()
        if not smallest[place, item] > now + MIN_GAIN * abs(now):
            return support
        support[place] = item


def unite(solutions: Sequence[Solution]) -> Solution:
    """The features of any solution, best ranks first; objectives and bounds are added up."""
    supports = [solution.support.tolist() for solution in solutions]
    by_rank = [item for tier in zip_longest(*supports) for item in tier if item is not None]
    support = np.array(list(dict.fromkeys(by_rank)), np.int64)
    contribution = np.zeros(support.max() + 1)
    for solution in solutions:
        contribution[solution.support] += solution.details.get("contribution", np.nan)
    details = {
        "bound": solutions[0].details.get("bound"),
        "contribution": contribution[support],
        "supports": supports,
        "target_objectives": np.array([solution.objective for solution in solutions]),
    }
    return replace(
        solutions[0],
        support=support,
        objective=float(sum(solution.objective for solution in solutions)),
        upper_bound=float(sum(solution.upper_bound for solution in solutions)),
        seconds=float(sum(solution.seconds for solution in solutions)),
        details=details,
    )
