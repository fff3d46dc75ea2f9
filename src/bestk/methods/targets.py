"""Several targets: the sum of their objectives, or the smallest of them, is maximised."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from time import perf_counter
from typing import Any

import numpy as np

from bestk._typing import Floats, Indices
from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP
from bestk.bqp.solution import Solution
from bestk.methods.quadratic import Objective

MAX_WEIGHTS = 40  # of the targets that are tried to maximise the smallest objective
MIN_GAIN = 1e-12  # of a swap, relative to the objective: less is rounding


@dataclass(frozen=True)
class JoinedPairs:
    """What pairs are worth for each of several targets, and the weights of the targets."""

    parts: tuple[Any, ...]  # Pairs
    weights: Floats
    worst: bool

    @property
    def objective(self) -> Objective:
        """The objective of each target."""
        return self.parts[0].objective

    def problem(self, k: int) -> tuple[BQP, float]:
        """The sum of the problems for k features, and the factor to the objective's values."""
        made = [part.problem(k) for part in self.parts]
        problems = [problem for problem, _ in made]
        pairs = list(zip(self.weights, problems, strict=True))
        if not any(problem.is_lazy for problem in problems):
            return BQP.trusted(sum(w * problem.Q for w, problem in pairs), k), made[0][1]
        diagonal = self.weights @ [problem.diagonal for problem in problems]
        Q = CachedColumns(lambda j: sum(w * problem.columns(j) for w, problem in pairs), diagonal)
        return BQP.trusted(Q, k), made[0][1]


def maximise_worst(
    pairs: JoinedPairs, k: int, include: Sequence[int], solve: Callable[[JoinedPairs], Solution],
    seconds: float | None = None,
) -> tuple[Solution, JoinedPairs]:  # fmt: skip
    """The choice whose worst target has the largest objective, and the pairs of that target."""
    # Kelley's method: for weights of sum 1, the bound of the weighted sum bounds the smallest
    # objective of any choice; the next weights make the choices so far worth least
    made, units, start = [part.problem(k) for part in pairs.parts], pairs.weights, perf_counter()
    problems, scale = [problem for problem, _ in made], made[0][1]
    weights, tried = np.full(len(units), 1.0 / len(units)), list[list[float]]()
    best, least, upper = np.empty(0, np.int64), -np.inf, np.inf
    while len(tried) < MAX_WEIGHTS:
        found = solve(replace(pairs, weights=weights * units))
        upper = min(upper, found.upper_bound / scale)
        support = _swapped(problems, units, found.support, include)
        if (value := float(_objectives(problems, units, support).min())) > least:
            best, least = support, value
        cut = _objectives(problems, units, found.support).tolist()
        late = seconds is not None and perf_counter() - start > seconds
        if cut in tried or least >= upper or late:
            break
        tried.append(cut)
        weights = _hardest_weights(np.array(tried))
    values = _objectives(problems, units, best)
    details = {"bound": found.details.get("bound"), "target_objectives": scale * values}
    solution = Solution(
        best, least, max(upper, least), found.solver, perf_counter() - start, details=details
    )
    return solution, replace(pairs, weights=units * (np.arange(len(units)) == values.argmin()))


def _objectives(problems: Sequence[BQP], units: Floats, support: Indices) -> Floats:
    return units * [problem.value(support) for problem in problems]


def _hardest_weights(values: Floats) -> Floats:
    """The weights of targets for which the best of some choices, a row each, is worth least."""
    from scipy.optimize import linprog

    rows, n = values.shape
    scale = np.abs(values).max() or 1.0
    found = linprog(
        [0.0] * n + [1.0], np.column_stack([values / scale, -np.ones(rows)]), np.zeros(rows),
        [[1.0] * n + [0.0]], [1.0], [(0.0, 1.0)] * n + [(None, None)],
    )  # fmt: skip
    weights = np.maximum(found.x[:n], 0.0)
    return np.asarray(weights / weights.sum())


def _swapped(
    problems: Sequence[BQP], units: Floats, support: Indices, include: Sequence[int]
) -> Indices:
    """The choice after the best swaps of two items, while these raise the smallest objective."""
    support, fixed = support.copy(), np.isin(support, include)
    while True:
        least = np.full((len(support), problems[0].n), np.inf)
        for unit, problem in zip(units, problems, strict=True):
            gains, columns = problem.gains(support), problem.columns(support)
            after = problem.value(support) - gains[support][:, np.newaxis] + gains - 2 * columns.T
            np.minimum(least, unit * after, out=least)
        least[fixed] = least[:, support] = -np.inf
        out, item = np.unravel_index(np.argmax(least), least.shape)
        now = _objectives(problems, units, support).min()
        if not least[out, item] > now + MIN_GAIN * abs(now):
            return support
        support[out] = item


def unite(solutions: Sequence[Solution]) -> Solution:
    """The features of any solution, best ranks first; objectives and bounds are added up."""
    supports = [solution.support.tolist() for solution in solutions]
    ranked = [item for tier in zip_longest(*supports) for item in tier if item is not None]
    support = np.array(list(dict.fromkeys(ranked)), np.int64)
    parts = np.zeros(support.max() + 1)
    for solution in solutions:
        parts[solution.support] += solution.details.get("contribution", np.nan)
    details = {
        "bound": solutions[0].details.get("bound"),
        "contribution": parts[support],
        "supports": supports,
        "target_objectives": np.array([each.objective for each in solutions]),
    }
    objective, upper, seconds = (
        float(sum(getattr(each, name) for each in solutions))
        for name in ("objective", "upper_bound", "seconds")
    )
    return replace(solutions[0], support=support, objective=objective, upper_bound=upper,
                   seconds=seconds, details=details)  # fmt: skip
