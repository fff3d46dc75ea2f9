"""The methods by the names people know: an objective and a solver, or a greedy criterion."""

from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from bestk._typing import Indices
from bestk.bqp import solvers
from bestk.bqp.relaxations.subproblem import Fixed
from bestk.bqp.solution import Solution
from bestk.bqp.solvers import Effort, Solver
from bestk.errors import Registry
from bestk.information import Entropies
from bestk.information.joined import JoinedEntropies
from bestk.methods.forward import BlockForward
from bestk.methods.greedy import MRMR, Criterion, get_criterion, pick_greedily
from bestk.methods.method import Ints, Method, Solutions
from bestk.methods.quadratic import Objective, Pairs, get_objective
from bestk.methods.targets import JoinedPairs, maximise_worst

AnyPairs = Pairs | JoinedPairs
DIGITS = 12  # of contributions: beyond them they are equal
SHARES_OF_TIME = 10  # a time limit is divided by it for each weighting of several targets
MAX_DENSE_FEATURES = 1000  # above, forward and swap get columns, except for a tight bound


@dataclass(frozen=True)
class Quadratic(Method):
    """Features that are best together: maximise x'Qx over choices of k, Q from an objective.

    Parameters
    ----------
    objective : str or Objective
        What Q holds: ``cmi``, ``jmi``, ``mrmr``, ``mifs``, ``cife``, ``qpfs`` or ``maxrel``.
    solver : str or solver
        A name from :data:`bestk.SOLVERS`, or one of its classes with settings of your own.

    Examples
    --------
    >>> Quadratic("mrmr", "search")  # solved globally, not greedily
    Quadratic(objective='mrmr', solver='search')
    """

    objective: str | Objective = "cmi"
    solver: str | Solver = "tpower"

    @property
    def information(self) -> str:  # type: ignore[override]
        """What belongs to the objective."""
        return get_objective(self.objective).information

    def _pick(self, entropies: Entropies, ks: Ints, include: Ints, effort: Effort) -> Solutions:
        chosen = solvers.get_solver(self.solver)
        pairs = self._pairs(entropies, effort, ks[0])
        worst = isinstance(pairs, JoinedPairs) and pairs.worst
        if worst or len(include) or len(ks) == 1:
            limit = effort.time_limit and effort.time_limit / len(ks)
            share = effort._replace(time_limit=limit)
            solve = self._solve_worst if worst else self._solve
            return [solve(pairs, k, include, share) for k in ks]
        if pairs.objective.same_for_all_k:
            solutions = solvers.solve_path(
                pairs.problem(ks[0])[0], ks, chosen, random_state=effort.random_state,
                time_limit=effort.time_limit, bound=effort.bound,
            )  # fmt: skip
        else:
            solutions = solvers.solve_each(lambda k: pairs.problem(k)[0], ks, chosen, effort)
        return [_ranked(pairs, solution) for solution in solutions]

    def _solve(self, pairs: AnyPairs, k: int, include: Ints, effort: Effort) -> Solution:
        (problem, _), solver = pairs.problem(k), solvers.get_solver(self.solver)
        if not len(include):
            solution = solvers.solve_problem(problem, solver, effort)
        elif (fixed := Fixed(problem, np.asarray(include, np.int64))).k:
            solution = fixed.complete(
                solvers.solve_problem(fixed.remaining_problem(), solver, effort)
            )
        else:
            solution = Solution(fixed.inside, fixed.base, fixed.base, solver.name)
        return _ranked(pairs, solvers.with_useful_bound(solution))

    def _solve_worst(self, pairs: Any, k: int, include: Ints, effort: Effort) -> Solution:
        limit = effort.time_limit
        each = effort._replace(time_limit=limit and limit / SHARES_OF_TIME)
        solve = partial(self._solve, k=k, include=include, effort=each)
        found, worst = maximise_worst(pairs, k, include, solve, limit)
        return _ranked(worst, solvers.with_useful_bound(found))

    def _pairs(self, entropies: Entropies, effort: Effort, k: int) -> AnyPairs:
        """What pairs are worth for the target, or for each of several."""
        if isinstance(entropies, JoinedEntropies):
            parts = tuple(self._pairs_of_target(part, effort, k) for part in entropies.parts)
            return JoinedPairs(parts, entropies.units, entropies.worst)
        return self._pairs_of_target(entropies, effort, k)

    def _pairs_of_target(self, entropies: Entropies, effort: Effort, k: int) -> Pairs:
        """All pairs, unless they are too many, or few are needed and none for a proof.

        ``k`` is the number of features that is asked for first.
        """
        objective = get_objective(self.objective)
        solver = solvers.get_solver(self.solver)
        needs_few = effort.bound != "tight" and solver.reads_few_columns
        are_many = needs_few and entropies.n_features > MAX_DENSE_FEATURES
        are_large = 8 * entropies.n_features**2 > effort.memory
        if solver.needs == "columns" and (are_many or are_large):
            return objective.lazy_pairs(entropies, effort.memory)
        return objective.pairs(entropies).ready_for(k)


@dataclass(frozen=True)
class Greedy(Method):
    """Features picked one by one, each by a score that looks at those picked before.

    Parameters
    ----------
    criterion : str or Criterion
        ``maxrel``, ``mrmr``, ``jmi``, ``mifs``, ``cife``, ``cmim``, ``disr``, ``icap``, ``jmim``
        or ``njmim``.
    """

    criterion: str | Criterion = "jmi"

    def _pick(
        self, entropies: Entropies, ks: Ints, include: Ints, effort: Effort,
        labels: Indices | None = None,
    ) -> Solutions:  # fmt: skip
        """Pick features, or groups of them."""
        criterion, start = get_criterion(self.criterion), perf_counter()
        picked, scores = pick_greedily(criterion, entropies, max(ks), include, labels)
        seconds = (perf_counter() - start) / len(ks)
        return [
            Solution(
                picked[:k], float(scores[:k].sum()), solver=criterion.name, seconds=seconds,
                details={"contribution": scores[:k], "bound": "greedy"},
            )
            for k in ks
        ]  # fmt: skip


def _ranked(pairs: AnyPairs, solution: Solution) -> Solution:
    """The features by their contribution, largest first, and all values those of the objective."""
    problem, scale = pairs.problem(solution.k)
    parts = scale * problem.product(solution.support)[solution.support]  # pairs shared evenly
    equal = np.round(parts / (np.abs(parts).max() or 1.0), DIGITS)
    order = np.lexsort((solution.support, -equal))
    return replace(
        solution,
        support=solution.support[order],
        objective=scale * solution.objective,
        upper_bound=scale * solution.upper_bound,
        details={**solution.details, "contribution": parts[order]},
    )


METHODS: Registry[Method] = Registry("method", {
    "auto": BlockForward(),
    "maxrel": Greedy("maxrel"),
    "mrmr": Greedy("mrmr"),
    "jmi": Greedy("jmi"),
    "qpfs": Quadratic("qpfs", "simplex"),
    **{solver: Quadratic("cmi", solver) for solver in
       ("linear", "spectral", "sdp", "tpower", "lowrank", "search", "exact", "forward")},
    "mim": Greedy("maxrel"),
    **{name: Greedy(name) for name in ("mifs", "cife", "cmim", "disr", "icap", "jmim", "njmim")},
    "mrmr-quotient": Greedy(MRMR("quotient")),
    "mrmr-global": Quadratic("mrmr", "search"),
    "jmi-global": Quadratic("jmi", "search"),
})  # fmt: skip


def get_method(method: str | Method) -> Method:
    """The method of that name, or the one given."""
    return METHODS[method] if isinstance(method, str) else method


def describe_method(method: str) -> str:
    """The first line of the docstring of the criterion, the solver, or the objective."""
    found: Any = get_method(method)
    settings = ""
    if isinstance(found, Greedy):
        settings = "" if isinstance(found.criterion, str) else f"; {found.criterion!r}"
        found = get_criterion(found.criterion)
    elif isinstance(found, Quadratic) and found.objective == "cmi":
        found = solvers.get_solver(found.solver)
    elif isinstance(found, Quadratic):
        settings = f"; solver {found.solver}"
        found = get_objective(found.objective)
    line = (type(found).__doc__ or "").partition("\n")[0]
    return line.replace("``", "").rstrip(".") + settings
