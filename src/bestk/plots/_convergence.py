"""The values found and the bounds proved by a solver, against time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bestk._typing import Floats
from bestk.bounds import bound_problem
from bestk.plots._canvas import BLUE, RED, add_grid, format_ticks, new_axes
from bestk.problem.problem import BQP
from bestk.problem.solution import ROUNDING
from bestk.solvers import solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = tuple[float, float]  # seconds, value
TIME_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)  # of the longest time limit
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
    solver: Any = "auto",
    *,
    random_state: Any = None,
    time_limit: float = 1.0,
    bound_limit: float = 5.0,
) -> Progress:
    """Solve a problem with growing time limits, and record better choices and lower bounds.

    First comes a fast bound, then the solver, then, if the gap is open, the tight bound. Each
    result is recorded at the time that it took, as if its time limit had been the only one.

    Parameters
    ----------
    Q, k, solver, random_state
        As for :func:`bestk.solve`.
    time_limit : float, default=1.0
        Seconds for the longest run of the solver; all of them take up to twice as long.
    bound_limit : float, default=5.0
        Seconds for the longest of the tight bounds, likewise.

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
    problem = Q if isinstance(Q, BQP) else BQP(Q, cast(int, k))
    problem = problem if k is None else problem.with_k(k)
    start, found = perf_counter(), list[Point]()
    value = bound_problem(problem, "fast").value
    bounds = [(perf_counter() - start, value)]
    for limit in (share * time_limit for share in TIME_SHARES):
        solution = solve(problem, solver=solver, random_state=random_state, time_limit=limit,
                         bound=None)  # fmt: skip
        found.append((solution.seconds, solution.objective))
        bounds.append((solution.seconds, solution.upper_bound))
        if solution.seconds < limit:
            break
    best = max(value for _, value in found)
    for limit in (share * bound_limit for share in TIME_SHARES):
        if min(value for _, value in bounds) <= best:
            break
        bound = bound_problem(problem, "tight", limit, best_known=best)
        bounds.append((found[-1][0] + bound.seconds, max(bound.value, best)))
        if bound.seconds < limit:
            break
    return Progress(_improvements(found), _improvements(bounds, falling=True), solution.solver)


def _improvements(points: Iterable[Point], *, falling: bool = False) -> list[Point]:
    """Finite points by time, each better than all before."""
    kept = list[Point]()
    for seconds, value in sorted((float(seconds), float(value)) for seconds, value in points):
        better = not kept or (value < kept[-1][1] if falling else value > kept[-1][1])
        if isfinite(value) and better:
            kept.append((seconds, value))
    return kept


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
        progress = found if isinstance(found, Progress) else Progress(list(found), list(bounds))
        values = _as_steps(_improvements(progress.found))
        limits = _as_steps(_improvements(progress.bounds, falling=True))
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


def _as_steps(points: Sequence[Point]) -> Floats:
    """Times and values, no time before the first that is drawn."""
    steps = np.array(points, np.float64).reshape(-1, 2)
    return np.column_stack([np.maximum(steps[:, 0], MIN_SECONDS), steps[:, 1]])


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
