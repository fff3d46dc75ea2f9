"""Run a solver and record its result, time and improvements."""

from collections.abc import Callable, Iterable
from math import inf, isfinite, nan
from time import perf_counter, sleep
from typing import Any

import numpy as np

from benchmarks.solvers.matrices import Matrix
from benchmarks.solvers.record import Found, Job, Ledger, Row, Trace
from benchmarks.timing import clock, reference
from bestk._typing import Indices
from bestk.bqp.problem import BQP
from bestk.bqp.relaxations.budget import Budget
from bestk.bqp.relaxations.rows import MAX_OPERATIONS
from bestk.bqp.solvers import SOLVERS, Run, Solver, solve
from bestk.bqp.solvers._referee import prove

SAME = 1e-6  # published values are rounded to single precision
STALE = 20.0  # seconds for which a look at the machine counts
SEARCH_SHARE = 0.1  # of the time for a proved gap that goes into the choice, a second at most
TOLD = ("draws", "optimal", "proved_in", "proved_out", "open", "nodes", "relaxation", "iterations",
        "fixed_in", "fixed_out")  # fmt: skip


class Quietness:
    """The time of a fixed matrix product, measured again when the last time is old."""

    def __init__(self) -> None:
        self._run, self._when, self._least = reference(), -inf, nan

    def milliseconds(self) -> float:
        """The best of some products, in milliseconds."""
        if perf_counter() - self._when > STALE:
            self._least = 1e3 * min(clock(self._run) for _ in range(5))
            sleep(0.15)  # BLAS threads spin for a while after a product, in the way of others
            self._when = perf_counter()
        return self._least


def warm_up() -> None:
    """Compile, or load from the cache, what every solver needs."""
    for n in (20, 250):
        Q = np.random.default_rng(0).random((n, n))
        for name in SOLVERS:
            solve(Q + Q.T, 4, name, time_limit=0.2, bound="fast", random_state=0)


def work(jobs: Iterable[Job], ledger: Ledger) -> None:
    """Do the jobs that the ledger does not know, one after the other."""
    quietness = Quietness()
    for job in jobs:
        if ledger.knows(job):
            continue
        milliseconds = quietness.milliseconds()
        try:
            found = job.run()
        except ImportError as error:
            found = Found(note=f"not installed: {error.name}")
        except Exception as error:  # one solver may fail in any way; the others go on
            found = Found(note=f"failed: {type(error).__name__}: {error}"[:200])
        row = job.done(found, milliseconds)
        ledger.add(row)
        print(_line(row), flush=True)


def _line(row: Row) -> str:
    where = f"{row.part:11} {row.case:24} n={row.n:<5} k={row.k:<4} {row.solver:12} #{row.seed}"
    limit = f" of {row.limit:g}" if isfinite(row.limit) else ""
    gap = f"  gap {row.gap:.4g}%" if isfinite(row.upper_bound) else ""
    best = f"  best known after {row.to_target:.3f} s" if isfinite(row.to_target) else ""
    what = f"{row.seconds:8.4f} s{limit}  {row.objective:.8g}{gap}{best}  {row.note}"
    return f"{where}  {what}".rstrip()


def job(
    part: str,
    matrix: Matrix,
    k: int,
    solver: str,
    task: Callable[[BQP], Found],
    seed: int = 0,
    limit: float = inf,
) -> Job:
    """A task on the problem of choosing k items, whose matrix is made when the job is done."""
    return Job(part, matrix.name, matrix.n, k, solver, lambda: task(matrix.problem(k)), seed, limit)


def run(problem: BQP, solver: str | Solver, seed: int = 0, limit: float = inf) -> Found:
    """One call of a solver, no bound but its own."""
    seconds = limit if isfinite(limit) else None
    solution = solve(problem, None, solver, random_state=seed, time_limit=seconds, bound=None)
    return Found(
        solution.seconds, solution.objective, solution.upper_bound, details=told(solution.details)
    )


def told(details: Any) -> dict[str, Any]:
    """What a solver reports of itself, as far as a table can keep it."""
    return {key: _plain(details[key]) for key in TOLD if key in details}


def _plain(value: Any) -> Any:
    return len(value) if isinstance(value, np.ndarray) else value


class Reached(Exception):  # noqa: N818, an end and not an error
    """The best known value is attained."""


class Watched(Run):
    """A run that notes each better choice, and ends at the best known value."""

    def __init__(self, problem: BQP, target: float, seed: int, limit: float) -> None:
        self.start = perf_counter()
        super().__init__(np.random.default_rng(seed), self.start + limit)
        self.problem = problem
        self.target = target
        self.trace = Trace()

    def keep(self, items: Indices) -> None:
        """Note a choice that is better than all before."""
        super().keep(items)
        seconds = perf_counter() - self.start
        value = self.problem.value(items)
        if not self.trace or value > self.trace[-1][1]:
            self.trace.append((round(seconds, 5), value))
        if value >= self.target * (1 - SAME):
            raise Reached


def watch(problem: BQP, solver: str, seed: int, limit: float, target: float = nan) -> Found:
    """Run a solver until its time is up or a target is attained."""
    run_of_solver = Watched(problem, target, seed, limit)
    reached = nan
    try:
        run_of_solver.keep(SOLVERS[solver].pick(problem, run_of_solver))
    except Reached:
        reached = run_of_solver.trace[-1][0]
    return Found(
        perf_counter() - run_of_solver.start,
        run_of_solver.trace[-1][1],
        run_of_solver.upper_bound,
        target,
        reached,
        details=told(run_of_solver.details),
        trace=run_of_solver.trace,
    )


def certify(problem: BQP, limit: float, seed: int = 0) -> Found:
    """A choice, and the best bound that the rest of the time buys."""
    start = perf_counter()
    first = min(1.0, SEARCH_SHARE * limit)
    choice = solve(problem, None, "search", time_limit=first, random_state=seed, bound=None)
    rest = limit - (perf_counter() - start)
    bound = prove(problem, choice.support, "tight", Budget.within(rest, MAX_OPERATIONS))
    details: dict[str, Any] = {"method": bound.method}
    if bound.fixed_in is not None:
        details |= {"fixed_in": bound.fixed_in, "fixed_out": bound.fixed_out}
    value = max(bound.value, choice.objective)
    return Found(perf_counter() - start, choice.objective, value, details=details)
