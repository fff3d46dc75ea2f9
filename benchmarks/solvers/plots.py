"""Plots of a run: time by n, objective by cell and by time, gap by time."""

from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import Machine
from benchmarks.pictures import pyplot, save
from benchmarks.solvers import information, peers, simulation, wide
from benchmarks.solvers.record import Row, pick

COLOURS = {
    "linear": "#8a8a8a", "spectral": "#6f8f5f", "sdp": "#8a5fa8", "lowrank": "#e0a030",
    "tpower": "#2f6f9f", "forward": "#5fb0b0", "search": "#c1272d",
    "exact": "#7a1015", "choice+bound": "#f08080", "HiGHS": "#2f6f9f", "CP-SAT": "#6f8f5f",
    "annealing": "#e0a030", "tabu": "#8a5fa8",
}  # fmt: skip
FLOOR, TRACK = 1e-4, 1.3  # percent: what is smaller is drawn below it, each on its own track
RACERS = ("HiGHS", "CP-SAT", "annealing", "tabu", "exact", "search")
GRID = {"color": "#dddddd", "linewidth": 0.6}


def draw(rows: list[Row], machine: Machine, folder: Path) -> list[Path]:
    """Write every picture for which there are rows."""
    pictures: dict[str, Callable[[list[Row]], Any]] = {
        "solvers_time": draw_time,
        "solvers_objective": draw_bars,
        "solvers_race": draw_race,
        "solvers_gap": draw_gaps,
        "solvers_wide": draw_wide,
    }
    written = []
    for name, make in pictures.items():
        figure = make(rows)
        if figure is not None:
            figure.text(0.995, 0.003, str(machine), ha="right", fontsize=6, color="#8a8a8a")
            save(figure, folder / name)
            written.append(folder / name)
    return written


def draw_time(rows: list[Row]) -> Any:
    """Time against n where k = n/10, with the fitted powers."""
    times = simulation.mean_seconds(rows)
    if not times:
        return None
    figure, axis = pyplot().subplots(figsize=(8, 5.5), layout="constrained")
    for name, own in times.items():
        timed = name in simulation.TIMED
        label = f"{name}: as told" if timed else f"{name}: $n^{{{simulation.exponent(own):.1f}}}$"
        axis.loglog(
            own.keys(), own.values(), "x:" if timed else "o-", color=COLOURS[name], label=label
        )
    sizes = sorted({n for own in times.values() for n in own})
    axis.set_xticks(sizes, [f"{n:,}" for n in sizes])
    axis.minorticks_off()
    axis.set(
        xlabel="items n (k = n/10)", ylabel="seconds, mean of the runs",
        title="Time to choose k of n items, random symmetric matrices",
    )  # fmt: skip
    axis.grid(**GRID)
    axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def draw_bars(rows: list[Row]) -> Any:
    """By cell, how far each solver's objective is above Linear's."""
    cells = simulation.above_linear(rows)
    if not cells:
        return None
    figure, axis = pyplot().subplots(figsize=(max(8, 1.4 * len(cells)), 5), layout="constrained")
    names = [name for name in simulation.SOLVERS if name != "linear"]
    width = 0.84 / len(names)
    for place, name in enumerate(names):
        heights = [own.get(name, np.nan) for own in cells.values()]
        left = np.arange(len(cells)) + (place - (len(names) - 1) / 2) * width
        axis.bar(left, heights, width, color=COLOURS[name], label=name)
    axis.axhline(0, color="black", linewidth=0.8)
    axis.set_xticks(range(len(cells)), [f"({n:,}, {k})" for n, k in cells])
    axis.set(
        xlabel="(n, k)", ylabel="objective over Linear's, percent",
        title="Objective compared with Linear, mean over random matrices",
    )  # fmt: skip
    axis.grid(axis="y", **GRID)
    axis.set_axisbelow(True)
    axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def draw_race(rows: list[Row]) -> Any:
    """For each problem that peers were given: how far from the best they are, against time."""
    problems = peers.problems(rows)
    if not problems:
        return None
    figure, axes = _panels(len(problems))
    for axis, (case, n, k) in zip(axes, problems, strict=False):
        own = pick(rows, peers.PART, case=case, n=n, k=k)
        best = max(row.objective for row in own if isfinite(row.objective))
        for row in own:
            if row.solver in RACERS and isfinite(row.objective):
                _draw_run(axis, row, best, RACERS.index(row.solver))
        axis.set_title(f"{case}, n = {n}, k = {k}", fontsize=10)
    _scale(axes[: len(problems)], len(RACERS))
    _label(figure, "seconds", f"percent below the best found (grey: under {FLOOR:g})")
    return figure


def _draw_run(axis: Any, row: Row, best: float, place: int) -> None:
    """A staircase where the way is known, a mark at the end where it is not."""
    points = row.trace or [(row.seconds, row.objective)]
    times = [time for time, _ in points] + [row.seconds]
    values = [value for _, value in points] + [points[-1][1]]
    short = _on_track(100 * (1 - np.array(values) / best), place)
    colour = COLOURS[row.solver]
    axis.step(np.maximum(1e-4, times), short, where="post", color=colour, label=row.solver)
    axis.plot(times[:1], short[:1], "o", color=colour, markersize=4)


def draw_gaps(rows: list[Row]) -> Any:
    """The gap that is proved against the time it took, a panel for each k."""
    gaps = pick(rows, information.PART, "choice+bound")
    if not gaps:
        return None
    ks = sorted({row.k for row in gaps})
    figure, axes = _panels(len(ks))
    plt = pyplot()
    names = sorted({(row.n, row.case) for row in gaps})
    shades = plt.get_cmap("viridis")(np.linspace(0, 0.92, len(names)))
    for axis, k in zip(axes, ks, strict=False):
        for place, ((n, case), shade) in enumerate(zip(names, shades, strict=True)):
            own = sorted(
                (r for r in gaps if (r.k, r.n, r.case) == (k, n, case)), key=lambda r: r.limit
            )
            if own:
                axis.plot(
                    [r.seconds for r in own], _on_track([r.gap for r in own], place), "o-",
                    color=shade, markersize=4, label=f"{case} ({n})",
                )  # fmt: skip
        axis.set_title(f"k = {k}", fontsize=10)
    _scale(axes[: len(ks)], len(names))
    _label(figure, "seconds", f"proved gap, percent (grey: under {FLOOR:g})")
    return figure


def draw_wide(rows: list[Row]) -> Any:
    """The gap of each wide table against time, before and after."""
    if not pick(rows, wide.PART):
        return None
    figure, axes = _panels(len(wide.GOALS))
    for axis, name in zip(axes, wide.GOALS, strict=True):
        for place, (label, own) in enumerate(wide.before_and_after(rows, name).items()):
            if own:
                axis.plot(
                    [r.seconds for r in own], _on_track([r.gap for r in own], place), "o-",
                    color=("#8a8a8a", "#c1272d")[place], markersize=4, label=label,
                )  # fmt: skip
        axis.set_title(f"{name}, k = {wide.K}", fontsize=10)
    _scale(axes[: len(wide.GOALS)], 2)
    for axis, goal in zip(axes, wide.GOALS.values(), strict=True):
        axis.axhline(goal, color="black", linestyle=":", linewidth=0.8)
    _label(figure, "seconds", "proved gap, percent (dotted: goal)")
    return figure


def _panels(count: int) -> tuple[Any, list[Any]]:
    """Panels in rows of four at most, all to one scale."""
    columns = min(4, count)
    lines = -(-count // columns)
    figure, axes = pyplot().subplots(
        lines, columns, figsize=(3.6 * columns + 2.2, 3.4 * lines + 0.6),
        sharex=True, sharey=True, squeeze=False, layout="constrained",
    )  # fmt: skip
    for axis in axes.flat[count:]:
        axis.axis("off")
    return figure, list(axes.flat)


def _on_track(percent: Any, place: int) -> Any:
    """Percentages, those too small to draw on a line of their own below the floor."""
    values = np.asarray(percent, float)
    return np.where(values < FLOOR, FLOOR / TRACK ** (place + 1), values)


def _scale(axes: list[Any], tracks: int) -> None:
    """Whole decades of time; percent down to the floor, and the tracks below it."""
    from matplotlib.ticker import NullFormatter

    times = np.concatenate([line.get_xdata() for axis in axes for line in axis.lines])
    first, last = np.floor(np.log10(times.min())), np.ceil(np.log10(times.max()))
    bottom = FLOOR / TRACK ** (tracks + 1)
    decades = 10.0 ** np.arange(np.log10(FLOOR), 3)
    for axis in axes:
        axis.set(xscale="log", yscale="log", ylim=(bottom, 200), xlim=(10**first, 10**last))
        axis.axhspan(bottom, FLOOR, color="#eeeeee", zorder=0)
        axis.set_yticks(decades, [f"{value:g}" for value in decades])
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.minorticks_off()
        axis.grid(**GRID)


def _label(figure: Any, x: str, y: str) -> None:
    figure.supxlabel(x, fontsize=10)
    figure.supylabel(y, fontsize=10)
    found: dict[str, Any] = {}
    for axis in figure.axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend(
        found.values(), found.keys(), loc="outside right upper", frameon=False, fontsize=8
    )
