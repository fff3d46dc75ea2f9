"""The methods by the names people know: an objective and a solver, or a greedy criterion."""

from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter

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
from bestk.methods.greedy import MRMR, AnyEntropies, Criterion, get_criterion, pick_greedily
from bestk.methods.method import Ints, Method, Solutions
from bestk.methods.quadratic import Objective, Pairs, get_objective
from bestk.methods.targets import JoinedPairs, maximise_worst

AnyPairs = Pairs | JoinedPairs

# Contributions that agree in so many digits are equal; ties go to the lowest index.
DIGITS = 12

# The time limit is divided by this for each weighting of several targets.
PARTS_OF_TIME = 10

# Of more features, solvers that read few columns are given these one by one, except for a tight
# bound.
MAX_DENSE_FEATURES = 1000

# Of an entry of a matrix.
VALUE_BYTES = 8


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

    def pick(self, estimates: AnyEntropies, ks: Ints, include: Ints, effort: Effort) -> Solutions:
        """Solve the problem for every k; one ordering or one matrix serves several where it can."""
        solver = solvers.get_solver(self.solver)
        pairs = self._pairs(estimates, effort, ks[0])
        if isinstance(pairs, JoinedPairs) and pairs.worst:
            effort_of_one = _divide_time(effort, len(ks))
            return [self._solve_worst(pairs, k, include, effort_of_one) for k in ks]
        if len(include) or len(ks) == 1:
            effort_of_one = _divide_time(effort, len(ks))
            return [self._solve(pairs, k, include, effort_of_one) for k in ks]
        if pairs.objective.same_for_all_k:
            problem, _ = pairs.problem(ks[0])
            solutions = solvers.solve_path(
                problem,
                ks,
                solver,
                random_state=effort.random_state,
                time_limit=effort.time_limit,
                bound=effort.bound,
            )
        else:
            solutions = solvers.solve_each(lambda k: pairs.problem(k)[0], ks, solver, effort)
        return [_ranked(pairs, solution) for solution in solutions]

    def _solve(self, pairs: AnyPairs, k: int, include: Ints, effort: Effort) -> Solution:
        """Solve the problem for k features, some of which are given."""
        problem, _ = pairs.problem(k)
        solver = solvers.get_solver(self.solver)
        if not len(include):
            solution = solvers.solve_problem(problem, solver, effort)
            return _ranked(pairs, solvers.with_useful_bound(solution))
        fixed = Fixed(problem, np.asarray(include, np.int64))
        if fixed.k:
            others = solvers.solve_problem(fixed.remaining_problem(), solver, effort)
            solution = fixed.complete(others)
        else:  # there is one choice only
            solution = Solution(fixed.inside, fixed.base, fixed.base, solver.name)
        return _ranked(pairs, solvers.with_useful_bound(solution))

    def _solve_worst(self, pairs: JoinedPairs, k: int, include: Ints, effort: Effort) -> Solution:
        """Maximise the smallest objective of several targets."""
        effort_of_weights = _divide_time(effort, PARTS_OF_TIME)
        solve = partial(self._solve, k=k, include=include, effort=effort_of_weights)
        solution, pairs_of_worst = maximise_worst(pairs, k, include, solve, effort.time_limit)
        return _ranked(pairs_of_worst, solvers.with_useful_bound(solution))

    def _pairs(self, estimates: AnyEntropies, effort: Effort, k: int) -> AnyPairs:
        """What pairs are worth for the target, or for each of several."""
        if isinstance(estimates, JoinedEntropies):
            of_targets = tuple(self._pairs_of_target(part, effort, k) for part in estimates.parts)
            return JoinedPairs(of_targets, estimates.units, estimates.worst)
        return self._pairs_of_target(estimates, effort, k)

    def _pairs_of_target(self, entropies: Entropies, effort: Effort, k: int) -> Pairs:
        """All pairs, unless they are too many, or few are needed and none for a proof.

        ``k`` is the number of features that is asked for first.
        """
        objective = get_objective(self.objective)
        solver = solvers.get_solver(self.solver)
        needs_few = effort.bound != "tight" and solver.reads_few_columns
        are_many = needs_few and entropies.n_features > MAX_DENSE_FEATURES
        are_large = VALUE_BYTES * entropies.n_features**2 > effort.memory
        if solver.needs == "columns" and (are_many or are_large):
            return objective.lazy_pairs(entropies, effort.memory)
        return objective.pairs(entropies).ready_for(k)


def _divide_time(effort: Effort, n_parts: int) -> Effort:
    """The effort for one of several parts, which share the time."""
    if effort.time_limit is None:
        return effort
    return effort._replace(time_limit=effort.time_limit / n_parts)


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

    def pick(self, estimates: AnyEntropies, ks: Ints, include: Ints, effort: Effort) -> Solutions:
        """Pick features; those for the largest k come first in the order for all."""
        return self.pick_groups(estimates, ks, include, None)

    def pick_groups(
        self, estimates: AnyEntropies, ks: Ints, include: Ints, labels: Indices | None
    ) -> Solutions:
        """Pick groups of features; ``labels``: the group of each, or -1; None: each is its own."""
        criterion = get_criterion(self.criterion)
        start = perf_counter()
        picked, scores = pick_greedily(criterion, estimates, max(ks), include, labels)
        seconds = (perf_counter() - start) / len(ks)
        return [
            Solution(
                picked[:k],
                objective=float(scores[:k].sum()),
                solver=criterion.name,
                seconds=seconds,
                details={"contribution": scores[:k], "bound": "greedy"},
            )
            for k in ks
        ]


def _ranked(pairs: AnyPairs, solution: Solution) -> Solution:
    """The features by their contribution, largest first, and all values those of the objective."""
    problem, scale = pairs.problem(solution.k)
    support = solution.support
    # Both features of a pair have half of what the pair adds.
    contribution = scale * problem.product(support)[support]
    largest = np.abs(contribution).max() or 1.0
    rounded = np.round(contribution / largest, DIGITS)
    order = np.lexsort((support, -rounded))
    return replace(
        solution,
        support=solution.support[order],
        objective=scale * solution.objective,
        upper_bound=scale * solution.upper_bound,
        details={**solution.details, "contribution": contribution[order]},
    )


# The solvers of the paper's objective that are methods of their own.
SOLVERS_OF_CMI = (
    "linear",
    "spectral",
    "sdp",
    "tpower",
    "lowrank",
    "search",
    "exact",
    "forward",
)

METHODS: Registry[Method] = Registry(
    "method",
    {
        "auto": BlockForward(),
        "maxrel": Greedy("maxrel"),
        "mrmr": Greedy("mrmr"),
        "jmi": Greedy("jmi"),
        "qpfs": Quadratic("qpfs", "simplex"),
        **{solver: Quadratic("cmi", solver) for solver in SOLVERS_OF_CMI},
        "mim": Greedy("maxrel"),
        "mifs": Greedy("mifs"),
        "cife": Greedy("cife"),
        "cmim": Greedy("cmim"),
        "disr": Greedy("disr"),
        "icap": Greedy("icap"),
        "jmim": Greedy("jmim"),
        "njmim": Greedy("njmim"),
        "mrmr-quotient": Greedy(MRMR("quotient")),
        "mrmr-global": Quadratic("mrmr", "search"),
        "jmi-global": Quadratic("jmi", "search"),
    },
)


def get_method(method: str | Method) -> Method:
    """The method of that name, or the one given."""
    return METHODS[method] if isinstance(method, str) else method


def describe_method(name: str) -> str:
    """The first line of the docstring of the criterion, the solver, or the objective."""
    method = get_method(name)
    if isinstance(method, Greedy):
        settings = "" if isinstance(method.criterion, str) else f"; {method.criterion!r}"
        return _first_line(get_criterion(method.criterion)) + settings
    if isinstance(method, Quadratic) and method.objective == "cmi":
        return _first_line(solvers.get_solver(method.solver))
    if isinstance(method, Quadratic):
        return f"{_first_line(get_objective(method.objective))}; solver {method.solver}"
    return _first_line(method)


def _first_line(described: object) -> str:
    """The first line of the docstring of the class of something, without its period."""
    line = (type(described).__doc__ or "").partition("\n")[0]
    return line.replace("``", "").rstrip(".")
