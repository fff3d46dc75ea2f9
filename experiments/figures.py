"""The figures, in the paper's layout."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.pictures import pyplot
from experiments.classification.curves import Curves
from experiments.statistics import Ranks
from experiments.verdicts import form

LABELS = {
    "maxrel": "MaxRel", "mrmr": "MRMR", "jmi": "JMI", "qpfs": "QPFS", "linear": "Linear",
    "spectral": "Spectral", "sdp": "SDP", "lowrank": "LowRank, best pair", "tpower": "TPower",
    "lowrank-scored": "LowRank, scored on Q", "tpower-warm": "TPower, warm start",
    "search": "search (ours)",
}  # fmt: skip
SOLVER_LABELS = LABELS | {"lowrank": LABELS["lowrank-scored"]}  # on random matrices
# Okabe and Ito's colours and two greys; each line has a marker of its own as well
STYLES = {
    "maxrel": ("#999999", "s"), "mrmr": ("#56B4E9", "^"), "jmi": ("#009E73", "v"),
    "qpfs": ("#E69F00", "D"), "linear": ("#444444", "x"), "spectral": ("#F0A0C8", "P"),
    "sdp": ("#8A5FA8", "*"), "lowrank": ("#D55E00", "o"), "tpower": ("#0072B2", "o"),
    "lowrank-scored": ("#D55E00", "d"), "tpower-warm": ("#0072B2", "d"),
    "search": ("#000000", "X"),
}  # fmt: skip
GREEDY_PANEL = ("maxrel", "mrmr", "jmi")
GLOBAL_PANEL = ("qpfs", "spectral", "sdp")
GRID = {"color": "#dddddd", "linewidth": 0.6}


def draw_times(times: dict[tuple[int, int], dict[str, float]]) -> Any:
    """Figure 2: seconds of each algorithm in each experiment (n, k)."""
    figure, axis = pyplot().subplots(figsize=(9, 4.6), layout="constrained")
    names = [name for name in LABELS if any(name in own for own in times.values())]
    for name in names:
        colour, marker = STYLES[name]
        seconds = [own.get(name, np.nan) for own in times.values()]
        style = ":" if name == "search" else "-"
        label = "search (ours), with 1 s" if name == "search" else SOLVER_LABELS[name]
        axis.plot(seconds, style, marker=marker, color=colour, label=label)
    axis.set_yscale("log")
    _cells(axis, list(times))
    axis.set(ylabel="seconds, median of the runs", title="Time to choose k of n items")
    axis.grid(**GRID)
    axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def draw_objectives(percent: dict[tuple[int, int], dict[str, float]]) -> Any:
    """Figure 3: how far each algorithm's objective is above Linear's."""
    figure, axis = pyplot().subplots(figsize=(11, 4.6), layout="constrained")
    names = ["spectral", "sdp", "lowrank", "tpower", "search"]
    width = 0.84 / len(names)
    for place, name in enumerate(names):
        left = np.arange(len(percent)) + (place - (len(names) - 1) / 2) * width
        heights = [own.get(name, np.nan) for own in percent.values()]
        axis.bar(left, heights, width, color=STYLES[name][0], label=SOLVER_LABELS[name])
    axis.axhline(0, color="black", linewidth=0.8)
    _cells(axis, list(percent))
    axis.set(ylabel="objective over Linear's, percent", title="Objective compared with Linear")
    axis.grid(axis="y", **GRID)
    axis.set_axisbelow(True)
    axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _cells(axis: Any, cells: Sequence[tuple[int, int]]) -> None:
    axis.set_xticks(range(len(cells)), [f"{n}\n{k}" for n, k in cells])
    axis.set_xlabel("experiment: n items (above), k chosen (below)")


def draw_curves(sets: dict[str, Curves], title: str) -> Any:
    """Figure 4: error against k, greedy methods above and global ones below, a column a set."""
    figure, axes = pyplot().subplots(
        2, len(sets), figsize=(3.9 * len(sets) + 1.6, 6.6), sharex="col", sharey="col",
        squeeze=False, layout="constrained",
    )  # fmt: skip
    for column, (name, curves) in enumerate(sets.items()):
        forms = [form(curves, name) for name in ("lowrank", "tpower")]
        for row, methods in enumerate((GREEDY_PANEL, GLOBAL_PANEL)):
            draw_panel(axes[row, column], curves, (*methods, *forms, "search"))
        axes[0, column].set_title(name)
        axes[1, column].set_xlabel("number of features k")
    for row, kind in enumerate(("Greedy", "Global")):
        axes[row, 0].set_ylabel(f"{kind} methods\nmean cross-validation error, %")
        handles, labels = axes[row, 0].get_legend_handles_labels()
        axes[row, -1].legend(handles, labels, frameon=False, loc="center left",
                             bbox_to_anchor=(1, 0.5))  # fmt: skip
    figure.suptitle(title)
    return figure


def draw_panel(axis: Any, curves: Curves, methods: Sequence[str]) -> None:
    """Lines of some methods, a marker where k is a multiple of ten."""
    for name in methods:
        if name in curves:
            curve, (colour, marker) = curves[name], STYLES[name]
            marked = [place for place, k in enumerate(curve.ks) if k % 10 == 0]
            axis.plot(curve.ks, curve.mean, marker=marker, markevery=marked, markersize=5,
                      color=colour, label=LABELS[name], linewidth=1.3)  # fmt: skip
    axis.grid(**GRID)


def draw_all(sets: dict[str, dict[str, Curves]]) -> Any:
    """Every set: TPower, search and two greedy methods, by two protocols."""
    columns = 4
    lines = -(-len(sets) // columns)
    figure, axes = pyplot().subplots(lines, columns, figsize=(15, 3.1 * lines), squeeze=False,
                                     layout="constrained")  # fmt: skip
    for axis, (name, by_protocol) in zip(axes.flat, sets.items(), strict=False):
        for protocol, style in (("authors", "-"), ("nested", "--")):
            own = by_protocol.get(protocol, {})
            for method in ("mrmr", "jmi", form(own, "tpower"), "search"):
                if method in own:
                    curve = own[method]
                    label = f"{LABELS[method]}, {protocol}"
                    axis.plot(curve.ks, curve.mean, style, color=STYLES[method][0], label=label)
        axis.set_title(name, fontsize=10)
        axis.grid(**GRID)
    spare = list(axes.flat[len(sets) :])
    for axis in spare:
        axis.axis("off")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    if spare:
        spare[-1].legend(handles, labels, loc="center", frameon=False)
    else:
        figure.legend(handles, labels, loc="outside right upper", frameon=False)
    figure.supxlabel("number of features k")
    figure.supylabel("mean cross-validation error, %")
    return figure


def draw_optimism(rows: dict[str, dict[str, float]]) -> Any:
    """By set and method: how much the error grows when test rows are kept from the selection."""
    figure, axis = pyplot().subplots(figsize=(9, 4.6), layout="constrained")
    methods = list(dict.fromkeys(name for own in rows.values() for name in own))
    for place, method in enumerate(methods):
        colour, marker = STYLES[method]
        left = np.arange(len(rows)) + (place - (len(methods) - 1) / 2) * 0.07
        heights = [own.get(method, np.nan) for own in rows.values()]
        axis.plot(left, heights, marker, color=colour, label=LABELS[method], markersize=6)
    axis.axhline(0, color="black", linewidth=0.8)
    axis.set_xticks(range(len(rows)), list(rows), rotation=30, ha="right")
    axis.set(ylabel="error of `nested` less that of `paper`, points",
             title="What selecting from the test rows hides")  # fmt: skip
    axis.grid(axis="y", **GRID)
    axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def draw_ranks(ranks: Ranks, title: str) -> Any:
    """A critical-difference diagram: mean ranks, and bars over those that may be equal."""
    order, count = ranks.order, len(ranks.names)
    half = -(-count // 2)
    groups = ranks.groups()
    height = 1.4 + 0.28 * half + 0.14 * len(groups)
    figure, axis = pyplot().subplots(figsize=(9, height), layout="constrained")
    bottom = -0.5 - 0.22 * len(groups)
    for place, name in enumerate(order):
        rank, left = ranks.rank(name), place < half
        line = place if left else count - 1 - place
        y = bottom - 0.4 * (line + 1)
        edge = 0.6 if left else count + 0.4
        axis.plot([rank, rank, edge], [0, y, y], color="#555555", linewidth=0.9)
        label = LABELS.get(name, name)
        text = f"{label}  {rank:.2f}" if left else f"{rank:.2f}  {label}"
        axis.text(edge, y, text, ha="right" if left else "left", va="center", fontsize=9)
    for place, group in enumerate(groups):
        y = -0.3 - 0.22 * place
        first, last = ranks.rank(group[0]), ranks.rank(group[-1])
        axis.plot([first - 0.04, last + 0.04], [y, y], color="#D55E00", linewidth=3.5)
    axis.plot([1, count], [0, 0], color="black", linewidth=1)
    for tick in range(1, count + 1):
        axis.plot([tick, tick], [0, 0.12], color="black", linewidth=1)
        axis.text(tick, 0.2, str(tick), ha="center", fontsize=8)
    axis.plot([1, 1 + ranks.critical_difference], [0.75, 0.75], color="black", linewidth=1.5)
    text = f"critical difference {ranks.critical_difference:.2f}"
    axis.text(1 + ranks.critical_difference / 2, 0.85, text, ha="center", fontsize=8)
    axis.set(xlim=(-1.6, count + 2.6), ylim=(bottom - 0.4 * (half + 0.7), 1.3), title=title)
    axis.axis("off")
    return figure
