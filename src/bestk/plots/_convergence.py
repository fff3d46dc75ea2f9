"""The values found and the bounds proved by a solver, against time."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf, nextafter
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bestk.bounds import bound_problem
from bestk.plots._canvas import BLUE, RED, add_grid, format_ticks, new_axes
from bestk.problem.problem import BQP
from bestk.problem.solution import ROUNDING
from bestk.solvers import Run, Solver, check_matrix, get_solver, read_problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Point = tuple[float, float]  # seconds, value
BOUND_LIMITS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)  # of the longest, for one bound after the other
MIN_SECONDS = 1e-4  # earlier times are drawn here


@dataclass(frozen=True)
class Progress:
    """The values found and the bounds proved by a solver, with their times."""

    found: Sequence[Point]  # seconds since the start, value of a better choice than all before
    bounds: Sequence[Point] = ()  # seconds since the start, value that no choice exceeds
    solver: str = ""


def watch(
    Q: Any,
    k: int | None = None,
    solver: str | Solver = "auto",
    *,
    random_state: Any = None,
    time_limit: float = 1.0,
    bound_limit: float = 5.0,
) -> Progress:
    """Solve a problem and record each better choice and each lower bound.

    First comes a fast bound, then the solver, then, if the gap is open, the tight bound: it is
    computed several times with growing time limits, and each result is recorded at the time that
    it took, as if it had been the only one.

    Parameters
    ----------
    Q, k, solver, random_state
        As for :func:`bestk.solve`.
    time_limit : float, default=1.0
        Seconds for the solver.
    bound_limit : float, default=5.0
        Seconds for the longest of the tight bounds; all of them take up to twice as long.

    Returns
    -------
    Progress
        For :func:`plot_convergence`.

    Examples
    --------
    >>> Q = [[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]]
    >>> progress = watch(Q, k=2, solver="exact")
    >>> progress.found[-1][1], progress.bounds[-1][1]
    (10.0, 10.0)
    """
    problem, chosen = read_problem(Q, k), get_solver(solver)
    check_matrix(problem, chosen)
    run = _RecordedRun(problem, random_state)
    run.upper_bound = bound_problem(problem, "fast").value
    run.deadline = perf_counter() + time_limit
    run.add_choice(chosen.pick(problem, run))
    begun = run.seconds
    for limit in (share * bound_limit for share in BOUND_LIMITS):
        if run.upper_bound <= run.best:
            break
        bound = bound_problem(problem, "tight", limit, best_known=run.best)
        run.add_bound(max(bound.value, run.best), begun + bound.seconds)
        if bound.seconds < limit:
            break
    return Progress(tuple(run.found), tuple(run.bounds), chosen.name)


class _RecordedRun(Run):
    """A run that records better choices and lower bounds with their times."""

    def __init__(self, problem: BQP, random_state: Any) -> None:
        self.problem, self.start = problem, perf_counter()
        self.found: list[Point] = []
        self.bounds: list[Point] = []
        super().__init__(np.random.default_rng(random_state), details=_Details(self.add_choice))

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return perf_counter() - self.start

    @property
    def best(self) -> float:
        """The value of the best choice so far."""
        return self.found[-1][1] if self.found else -inf

    @property
    def upper_bound(self) -> float:
        """The lowest bound so far."""
        return self.bounds[-1][1] if self.bounds else inf

    @upper_bound.setter
    def upper_bound(self, bound: float) -> None:
        self.add_bound(bound, self.seconds)

    def add_choice(self, items: Any) -> None:
        """Record the value of a choice that is better than all before."""
        value = self.problem.value(items)
        if value > self.best:
            self.found.append((self.seconds, value))

    def add_bound(self, bound: float, seconds: float) -> None:
        """Record a bound that is lower than all before."""
        if bound < self.upper_bound:
            last = self.bounds[-1][0] if self.bounds else -inf  # a longer one may end sooner
            self.bounds.append((max(seconds, nextafter(last, inf)), bound))


class _Details(dict[str, Any]):
    """The details of a run, which pass on each incumbent."""

    def __init__(self, add_choice: Callable[[Any], None]) -> None:
        super().__init__()
        self.add_choice = add_choice

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        if key == "incumbent":
            self.add_choice(value)


def plot_convergence(
    found: Progress | Iterable[Point], bounds: Iterable[Point] = (), *, ax: "Axes | None" = None
) -> "Axes":
    """Plot the best value found and the lowest upper bound proved, against time.

    Parameters
    ----------
    found : Progress, or iterable of (seconds, value)
        From :func:`watch`, or the values of choices and when they were found.
    bounds : iterable of (seconds, value), optional
        Upper bounds, and when they were proved; not needed with a Progress.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_convergence([(0.1, 8.0), (0.5, 10.0)], [(0.2, 15.0), (2.0, 11.0)],
    ...                       ax=Figure().subplots())
    >>> ax.get_title()
    'optimality gap 10% after 2 s'
    """
    try:
        progress = found if isinstance(found, Progress) else Progress(tuple(found), tuple(bounds))
        values = _best_so_far(progress.found, np.maximum.accumulate)
        limits = _best_so_far(progress.bounds, np.minimum.accumulate)
    except (TypeError, ValueError) as failure:
        raise TypeError(
            "convergence needs the result of bestk.plots.watch, or (seconds, value) points, not "
            f"{type(found).__name__}"
        ) from failure
    if not len(values):
        raise ValueError("nothing to draw: no value was found at any time")
    ax = new_axes(ax)
    end = max([values[-1, 0], *limits[-1:, 0]])
    _draw_steps(ax, limits, end, RED, "upper bound")
    _draw_steps(ax, values, end, BLUE, "best found")
    name = f"{progress.solver}: " if progress.solver else ""
    title = name + _describe_gap(values, limits, end)
    ax.set(xscale="log", xlabel="seconds", ylabel="objective $x^T Q x$", title=title)
    format_ticks(ax.xaxis, "{:g}".format)
    add_grid(ax)
    ax.legend(framealpha=0.7, edgecolor="none")
    return ax


def _best_so_far(points: Iterable[Point], best: Callable[[Floats], Floats]) -> Floats:
    """Finite points by time, each with the best value until then."""
    rows = np.array([(seconds, value) for seconds, value in points], np.float64).reshape(-1, 2)
    rows = rows[np.isfinite(rows).all(axis=1)]
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    return np.column_stack([np.maximum(rows[:, 0], MIN_SECONDS), best(rows[:, 1])])


def _draw_steps(ax: "Axes", steps: Floats, end: float, colour: str, name: str) -> None:
    """Draw a staircase to the end of the time, with a dot at each point."""
    if len(steps):
        # each level lasts until the next time; corners as points, where a legend can see them
        times = np.append(np.repeat(steps[:, 0], 2)[1:], end)
        ax.plot(
            times, np.repeat(steps[:, 1], 2), "-o", color=colour, linewidth=1.6, markersize=4,
            markevery=2, label=f"{name}: {steps[-1, 1]:.6g}",
        )  # fmt: skip


def _describe_gap(values: Floats, limits: Floats, end: float) -> str:
    if not len(limits):
        return "no bound"
    found, bound = values[-1, 1], limits[-1, 1]
    gap = max(0.0, bound - found) / (abs(found) or 1.0)
    state = "proved optimal" if gap < ROUNDING else f"optimality gap {100 * gap:.2g}%"
    return f"{state} after {end:.2g} s"
