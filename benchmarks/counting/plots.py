"""Plots of a run: time by n, time by m, and time per pair for each method."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.counting.laws import exponent, seconds, sizes
from benchmarks.counting.record import Row, digits
from benchmarks.machine import Machine
from benchmarks.pictures import pyplot, save

COLOURS = {"bestk": "#c1272d", "limit": "#8a8a8a", "yardstick": "#e0a030", "peer": "#2f6f9f"}
WORDS = {
    "bestk": "bestk",
    "limit": "a part of the work alone: a limit, not a peer",
    "yardstick": "numpy, written for this benchmark",
    "peer": "package on PyPI",
}
POWERS = {"n": 2, "m": 1}
AXES = {"n": "features n", "m": "samples m"}


def draw(rows: list[Row], machine: Machine, path: Path) -> None:
    """Write ``path`` as PNG and as SVG."""
    plt = pyplot()
    laws = [law for law in POWERS if any(r.part == "laws" and r.case == law for r in rows)]
    cases = list(dict.fromkeys(row.case for row in rows if row.part == "cases"))
    heights = ([4.2] if laws else []) + ([7.5] if cases else [])
    figure = plt.figure(figsize=(15, sum(heights) + 1), layout="constrained")
    parts = iter(figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0])
    if laws:
        axes = next(parts).subplots(1, len(laws), squeeze=False)[0]
        for axis, law in zip(axes, laws, strict=True):
            _draw_law(axis, law, [r for r in rows if r.part == "laws" and r.case == law])
    if cases:
        _draw_bars(next(parts), [row for row in rows if row.part == "cases"], cases)
    figure.suptitle(
        f"Counting all pairs of columns on {machine.threads} threads of {machine.cpu}\n"
        f"bestk {machine.commit}, {machine.date} UTC",
        fontsize=11,
    )
    save(figure, path)


def _draw_law(axis: Any, law: str, rows: list[Row]) -> None:
    styles = {"bestk": "o-", "bestk, counting only": "s--", "bestk, pairs only": "v:"}
    for name in dict.fromkeys(row.contender for row in rows):
        own = [row for row in rows if row.contender == name]
        label = f"{name}: ${law}^{{{exponent(own, law):.2f}}}$"
        axis.loglog(
            sizes(own, law), seconds(own), styles.get(name, "x-"), label=label,
            color=COLOURS[own[0].kind], markersize=5,
        )  # fmt: skip
    whole = [row for row in rows if row.contender == "bestk"]
    x, top = sizes(whole, law), seconds(whole)[-1]
    guide = 1.6 * top * (x / x[-1]) ** POWERS[law]
    text = f"law: ${law}^{POWERS[law]}$" if POWERS[law] != 1 else f"law: ${law}$"
    axis.loglog(x, guide, "-", color="black", linewidth=0.8, label=text)
    other = f"m = {rows[0].n_samples}" if law == "n" else f"n = {rows[0].n_features}"
    axis.set(
        xlabel=f"{AXES[law]} (binary columns, 2 classes, {other})",
        ylabel="seconds, all pairs",
        title=f"Time against {AXES[law]}",
    )
    axis.set_xticks(x, [f"{size:,.0f}" for size in x])
    axis.minorticks_off()
    axis.grid(color="#dddddd", linewidth=0.6)
    axis.set_ylim(top=12 * guide[-1])
    axis.legend(frameon=False, loc="upper left", ncols=2)


def _draw_bars(figure: Any, rows: list[Row], cases: list[str]) -> None:
    timed = [row for row in rows if row.unit == "pair" and row.seconds_min]
    middle = {
        name: np.median([np.log(r.microseconds) for r in timed if r.contender == name])
        for name in {row.contender for row in timed}
    }
    names = sorted(middle, key=lambda name: middle[name])
    computes = {row.contender: row.computes for row in timed}
    axes = figure.subplots(1, len(cases), sharey=True, sharex=True, squeeze=False)[0]
    for axis, case in zip(axes, cases, strict=True):
        own = {row.contender: row for row in timed if row.case == case}
        for place, name in enumerate(names):
            if name in own:
                row = own[name]
                axis.barh(place, row.microseconds, color=COLOURS[row.kind], height=0.72)
                axis.text(row.microseconds * 1.15, place, _short(row), va="center", fontsize=8)
            else:
                axis.text(0.02, place, "not run", va="center", fontsize=8, color="#8a8a8a",
                          transform=axis.get_yaxis_transform())  # fmt: skip
        some = next(iter(own.values()))
        axis.set_title(f"{case}\nn = {some.n_features}, m = {some.n_samples}", fontsize=10)
        axis.set_xscale("log")
        axis.set_xlabel("microseconds per pair")
        axis.grid(axis="x", color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
    axes[0].set_yticks(range(len(names)), [f"{name}   {computes[name]}" for name in names])
    axes[0].invert_yaxis()
    low = min(row.microseconds for row in timed)
    axes[0].set_xlim(low / 2, max(row.microseconds for row in timed) * 200)
    _legend(figure, {row.kind for row in timed})


def _short(row: Row) -> str:
    """Time of a pair for bestk; for others how many times bestk's it is."""
    if row.contender == "bestk":
        return f"{row.microseconds:.3g} µs"
    return f"{digits(row.times_bestk)}x"


def _legend(figure: Any, kinds: set[str]) -> None:
    from matplotlib.patches import Patch

    patches = [Patch(color=COLOURS[kind], label=WORDS[kind]) for kind in COLOURS if kind in kinds]
    figure.legend(
        handles=patches, loc="outside lower center", ncols=len(patches), frameon=False,
        title="beside the bars: time as a multiple of that of bestk, the whole call",
    )  # fmt: skip
