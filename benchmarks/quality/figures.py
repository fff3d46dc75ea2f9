"""The figures: mean ranks with what they prove, and error against the time of selection."""

from typing import Any

import numpy as np

from benchmarks.pictures import pyplot
from benchmarks.quality.comparisons import Standing
from benchmarks.quality.methods import DEFAULT
from benchmarks.quality.plan import is_ours
from experiments.statistics import Ranks

OURS, PEER, CHOSEN = "#0072B2", "#D55E00", "#000000"  # of Okabe and Ito
HALF_MARKS = {"tune": "<", "judge": ">"}
GRID = {"color": "#dddddd", "linewidth": 0.6}
GAP = 0.012  # between a point and its name, in widths of the axis


def draw_ranks(overall: Ranks, halves: dict[str, Standing], title: str) -> Any:
    """A line for each method, best first; a band over those that may be as good as the first."""
    order = overall.order
    size = (9, 1.6 + 0.25 * len(order))
    figure, axis = pyplot().subplots(figsize=size, layout="constrained")
    best = overall.rank(order[0])
    text = f"not told from the first by Nemenyi's test ({overall.critical_difference:.1f})"
    axis.axvspan(best, best + overall.critical_difference, color="#eeeeee", label=text, zorder=0)
    for half, ranks in halves.items():
        values = [ranks.rank(name) for name in order]
        axis.scatter(values, range(len(order)), s=16, marker=HALF_MARKS[half], c="#999999",
                     label=f"sets of {half} only ({ranks.n_sets})")  # fmt: skip
    for line, name in enumerate(order):
        colour, marker = _style(name)
        axis.scatter(overall.rank(name), line, s=_size(name), c=colour, marker=marker, zorder=3)
        axis.text(overall.rank(name), line - 0.32, f"{overall.rank(name):.1f}", fontsize=7,
                  ha="center", va="bottom")  # fmt: skip
    axis.set_yticks(range(len(order)), order, fontsize=9)
    for label, name in zip(axis.get_yticklabels(), order, strict=True):
        label.set_color(_style(name)[0])
    axis.set_ylim(len(order) - 0.4, -0.9)
    axis.set(xlabel="mean rank of the error, 1 is best", title=title)
    axis.grid(axis="x", **GRID)
    _legend(axis)
    return figure


def draw_times(seconds: dict[str, float], errors: dict[str, float], title: str) -> Any:
    """Mean error against median seconds of a selection, by method."""
    figure, axis = pyplot().subplots(figsize=(10.5, 7), layout="constrained")
    names = [name for name in errors if name in seconds]
    for name in names:
        colour, marker = _style(name)
        axis.scatter(seconds[name], errors[name], s=_size(name), c=colour, marker=marker, zorder=3)
    axis.set_xscale("log")
    _label(axis, {name: (seconds[name], errors[name]) for name in names})
    axis.set(xlabel="seconds of one selection, median over the real sets",
             ylabel="mean error over sets, %", title=title)  # fmt: skip
    axis.grid(**GRID)
    _legend(axis)
    return figure


def _style(name: str) -> tuple[str, str]:
    if name == DEFAULT:
        return CHOSEN, "*"
    return (OURS, "o") if is_ours(name) else (PEER, "^")


def _size(name: str) -> int:
    return 140 if name == DEFAULT else 38


def _legend(axis: Any) -> None:
    for colour, marker, text in ((CHOSEN, "*", "bestk's default"), (OURS, "o", "bestk"),
                                 (PEER, "^", "others")):  # fmt: skip
        axis.scatter([], [], c=colour, marker=marker, label=text)
    axis.legend(fontsize=8, loc="best", framealpha=0.9)


def _label(axis: Any, points: dict[str, tuple[float, float]]) -> None:
    """Names beside their points, moved up or down until none covers another or a point."""
    low, high = axis.get_ylim()
    left, right = np.log10(axis.get_xlim())
    spot = {name: ((np.log10(x) - left) / (right - left), (y - low) / (high - low))
            for name, (x, y) in points.items()}  # fmt: skip
    taken: list[tuple[float, float, float]] = [
        (x - GAP / 2, x + GAP / 2, y) for x, y in spot.values()
    ]
    height = 0.026
    for name, (x, y) in sorted(spot.items(), key=lambda item: item[1][1]):
        width = 0.0078 * len(name) + GAP
        flip = x + GAP + width > 1
        start = x - GAP - width if flip else x + GAP
        near = (y + sign * step * height / 4 for step in range(99) for sign in (1, -1))
        place = next(
            place for place in near
            if not any(abs(place - other) < height and start < end and begin < start + width
                       for begin, end, other in taken)
        )  # fmt: skip
        taken.append((start, start + width, place))
        edge = start + (width if flip else 0)
        if abs(place - y) > height / 2:
            axis.plot([x, edge], [y, place], color="#aaaaaa", linewidth=0.6,
                      transform=axis.transAxes)  # fmt: skip
        axis.text(edge, place, name, fontsize=8, va="center", ha="right" if flip else "left",
                  transform=axis.transAxes)  # fmt: skip
    axis.set_xlim(10**left, 10**right)
    axis.set_ylim(low, high)
