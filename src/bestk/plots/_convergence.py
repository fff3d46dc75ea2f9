"""What a solve had found and proved, against time."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bestk.plots._canvas import BLUE, RED, new_axes, soft_grid, write_ticks
from bestk.plots._progress import Point, Progress
from bestk.problem.solution import ROUNDING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
AT_ONCE = 1e-4  # seconds; what took less is drawn there


def plot_convergence(
    found: Progress | Iterable[Point],
    bounds: Iterable[Point] = (),
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the best value found and the lowest bound proved against time, down to the gap.

    Parameters
    ----------
    found : Progress, or iterable of (seconds, value)
        What :func:`watch` has seen, or the values of choices and when they were found.
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
    'gap 10%, after 2 s'
    """
    try:
        progress = found if isinstance(found, Progress) else Progress(tuple(found), tuple(bounds))
        values = _stairs(progress.found, np.maximum.accumulate)
        limits = _stairs(progress.bounds, np.minimum.accumulate)
    except (TypeError, ValueError) as failure:
        raise TypeError(
            "progress is drawn from what bestk.plots.watch returns, or from (seconds, value) "
            f"points, not from {type(found).__name__}"
        ) from failure
    if not len(values):
        raise ValueError("there is nothing to draw: no value was found at any time")
    ax = new_axes(ax)
    end = max([values[-1, 0], *limits[-1:, 0]])
    _draw(ax, limits, end, RED, "upper bound")
    _draw(ax, values, end, BLUE, "best found")
    _shade(ax, values, limits, end)
    name = f"{progress.solver}: " if progress.solver else ""
    ax.set(
        xscale="log", xlabel="seconds", ylabel="objective $x^T Q x$",
        title=name + _verdict(values, limits),
    )  # fmt: skip
    ax.set_xlim(_round_times(min([values[0, 0], *limits[:1, 0]]), end))
    write_ticks(ax.xaxis, "{:g}".format)
    soft_grid(ax)
    ax.legend(framealpha=0.7, edgecolor="none")
    return ax


def _stairs(points: Iterable[Point], best: Callable[[Floats], Floats]) -> Floats:
    """Points by time, each with the best value until then; infinite ones are left out."""
    rows = np.array([(seconds, value) for seconds, value in points], np.float64).reshape(-1, 2)
    rows = rows[np.isfinite(rows).all(axis=1)]
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    return np.column_stack([np.maximum(rows[:, 0], AT_ONCE), best(rows[:, 1])])


def _draw(ax: "Axes", stairs: Floats, end: float, colour: str, name: str) -> None:
    """A staircase to the end of the time, with a dot at each point."""
    if len(stairs):
        # each level lasts until the next time; corners as points, where a legend can see them
        times = np.append(np.repeat(stairs[:, 0], 2)[1:], end)
        ax.plot(
            times, np.repeat(stairs[:, 1], 2), "-o", color=colour, linewidth=1.6, markersize=4,
            markevery=2, label=f"{name}: {stairs[-1, 1]:.6g}",
        )  # fmt: skip


def _shade(ax: "Axes", values: Floats, limits: Floats, end: float) -> None:
    """Fill what lies between the two, from when there are both."""
    if not len(limits):
        return
    first = max(values[0, 0], limits[0, 0])
    times = np.unique([end, *values[:, 0], *limits[:, 0]])
    times = times[times >= first]
    low, high = (s[np.searchsorted(s[:, 0], times, "right") - 1, 1] for s in (values, limits))
    ax.fill_between(times, low, high, step="post", color=RED, alpha=0.12, linewidth=0)


def _verdict(values: Floats, limits: Floats) -> str:
    """The last gap, and how long it took."""
    if not len(limits):
        return "no bound"
    found, bound = values[-1, 1], limits[-1, 1]
    seconds = f"{max(values[-1, 0], limits[-1, 0]):.2g} s"
    gap = max(0.0, bound - found) / (abs(found) or 1.0)
    return (
        f"optimal, after {seconds}" if gap < ROUNDING else f"gap {100 * gap:.2g}%, after {seconds}"
    )


def _round_times(first: float, last: float) -> tuple[float, float]:
    """The nearest of 1, 2, 5, 10, ... that are not after the first and not before the last.

    Examples
    --------
    >>> _round_times(0.03, 11.0)
    (0.02, 20.0)
    """
    times = np.array([float(f"{m}e{e}") for e in range(-5, 9) for m in (1, 2, 5)])
    before, after = times[times <= first], times[times >= max(last, 1.1 * first)]
    return float(before[-1]), float(after[0]) if len(after) else last
