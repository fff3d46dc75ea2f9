"""Plots of a run: bars of the packages, lines by size."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.counting.laws import exponent
from benchmarks.counting.record import digits
from benchmarks.machine import Machine
from benchmarks.pictures import pyplot, save
from benchmarks.selectors import against_peers, against_sklearn, curve, every_method, growth
from benchmarks.selectors.record import Row, pick, quietness

COLOURS = {"bestk": "#c1272d", "peer": "#2f6f9f"}
LINES = ("#c1272d", "#2f6f9f", "#e0a030", "#3b8a4f", "#7a4fa0")
GUIDE = "#555555"


def draw(rows: list[Row], machine: Machine, path: Path) -> None:
    """Write ``path`` as PNG and as SVG."""
    plt = pyplot()
    figure, axes = plt.subplots(2, 3, figsize=(17, 11), layout="constrained")
    panels: list[Callable[[Any, list[Row]], None]] = [
        _peers, _sklearn, _methods, _curve, _growth("n"), _growth("m")
    ]  # fmt: skip
    for axis, panel in zip(axes.flat, panels, strict=True):
        panel(axis, rows)
    figure.suptitle(
        f"Selecting features on {machine.threads} threads of {machine.cpu}\n"
        f"bestk {machine.commit}, {machine.date} UTC; {quietness(rows)}",
        fontsize=11,
    )
    save(figure, path)


def _peers(axis: Any, rows: list[Row]) -> None:
    _bars(axis, pick(rows, against_peers.PART), "JMI and mRMR, k = {k}\n{case}, n = {n}, m = {m}")
    best = min((r.seconds_min for r in pick(rows, against_peers.PART, "peer")), default=np.nan)
    _limit(axis, against_peers.LIMIT * best, "1% of the fastest peer")


def _sklearn(axis: Any, rows: list[Row]) -> None:
    title = "Beside scikit-learn, k = {k}\n{case}, n = {n}, m = {m}"
    _bars(axis, pick(rows, against_sklearn.PART), title)


def _methods(axis: Any, rows: list[Row]) -> None:
    own = pick(rows, every_method.PART)
    _bars(axis, own, "Every method from numbers to choice, k = {k}\n{case}, n = {n}, m = {m}")
    _limit(axis, every_method.LIMIT, f"{every_method.LIMIT:g} s")


def _bars(axis: Any, rows: list[Row], title: str) -> None:
    """Seconds of each, the quickest on top."""
    own = sorted(rows, key=lambda row: row.seconds_min)
    for place, row in enumerate(own):
        ended = "ended" in row.note
        axis.barh(place, row.seconds_min, color=COLOURS[row.kind], height=0.72,
                  hatch="//" if row.share < 1 or ended else None, edgecolor="white")  # fmt: skip
        sign = "> " if ended else "~ " if row.share < 1 else ""
        axis.text(row.seconds_min * 1.1, place, f"{sign}{digits(row.seconds_min)} s", va="center",
                  fontsize=8)  # fmt: skip
    axis.set_yticks(range(len(own)), [_label(row) for row in own], fontsize=8)
    axis.invert_yaxis()
    axis.set(xscale="log", xlabel="seconds; hatched: scaled from a part, or ended")
    if own:
        first = own[0]
        axis.set_title(title.format(k=first.k, case=first.case, n=first.n_features,
                                    m=first.n_samples), fontsize=10)  # fmt: skip
        axis.set_xlim(first.seconds_min / 2, own[-1].seconds_min * 8)
    axis.grid(axis="x", color="#dddddd", linewidth=0.6)
    axis.set_axisbelow(True)


def _label(row: Row) -> str:
    limit = row.note.split(" ")[0] if row.note.startswith("time_limit") else ""
    return f"{row.contender}, {limit}" if limit else row.contender


def _limit(axis: Any, value: float, text: str) -> None:
    """A line that bars are to stay left of."""
    axis.axvline(value, color=GUIDE, linewidth=1, linestyle="--", label=text)
    if np.isfinite(value):
        axis.set_xlim(left=min(axis.get_xlim()[0], value / 2))
    axis.legend(frameon=False, fontsize=8, loc="upper right")


def _curve(axis: Any, rows: list[Row]) -> None:
    """How many times one k a curve costs, a group of bars for each method."""
    found = curve.ratios(rows)
    cases = list(dict.fromkeys(case for case, _ in found))
    methods = list(dict.fromkeys(method for _, method in found))
    width = 0.8 / max(1, len(cases))
    for number, case in enumerate(cases):
        places = [p for p, method in enumerate(methods) if (case, method) in found]
        heights = [found[case, methods[p]] for p in places]
        x = np.array(places) + (number - (len(cases) - 1) / 2) * width
        axis.bar(x, heights, width, label=case, color=LINES[number])
    axis.axhline(curve.LIMIT, color=GUIDE, linewidth=1, linestyle="--")
    axis.set_xticks(range(len(methods)), methods, rotation=30, ha="right", fontsize=8)
    axis.set(ylabel="times the selection time of one k", title="SelectBestKCV: a curve over k")
    axis.title.set_fontsize(10)
    axis.grid(axis="y", color="#dddddd", linewidth=0.6)
    axis.set_axisbelow(True)
    if cases:
        axis.legend(frameon=False, fontsize=8)


def _growth(name: str) -> Callable[[Any, list[Row]], None]:
    def panel(axis: Any, rows: list[Row]) -> None:
        own: list[Row] = []
        for method, colour in zip(growth.METHODS, LINES, strict=True):
            own = growth.line(rows, name, method)
            if len(own) > 1:
                sizes = [row.n_features if name == "n" else row.n_samples for row in own]
                label = f"{method}: ${name}^{{{exponent(own, name):.2f}}}$"
                seconds = [row.seconds_min for row in own]
                axis.loglog(sizes, seconds, "o-", color=colour, label=label, markersize=4)
                axis.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axis.minorticks_off()
        word = "features" if name == "n" else "samples"
        if own:
            other = f"m = {own[0].n_samples}" if name == "n" else f"n = {own[0].n_features}"
            axis.set(xlabel=f"{word} {name}, {other}", ylabel="seconds of a fit")
            axis.legend(frameon=False, fontsize=8)
        axis.set_title(f"A fit against {word}, k = {growth.K}", fontsize=10)
        axis.grid(color="#dddddd", linewidth=0.6)

    return panel
