"""Pictures of the page on quality: mean ranks, and ranks beside times."""

from typing import Any

import pandas as pd

from benchmarks.pictures import pyplot
from benchmarks.quality.ways import DEFAULT, OWN, PREVIOUS

OURS, OTHERS, CHOSEN = "#0072B2", "#D55E00", "#000000"  # of Okabe and Ito
NAME_WIDTH = 1.8  # of a name in a picture, as a ratio of seconds
NAME_HEIGHT = 0.3  # of a name in a picture, in ranks


def draw_ranks(ranks: pd.Series, title: str) -> Any:
    """A bar for each way, best first."""
    height = 1.2 + 0.24 * len(ranks)
    figure, axis = pyplot().subplots(figsize=(8, height), layout="constrained")
    bars = axis.barh(ranks.index, ranks.to_numpy(), color=_colors(ranks), height=0.7)
    axis.bar_label(bars, [f"{rank:.1f}" for rank in ranks], padding=3, fontsize=8)
    axis.invert_yaxis()
    axis.margins(x=0.08)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set(xlabel=f"mean rank of the loss among {len(ranks)} ways; 1 is best", title=title)
    axis.barh([0], [0], color=CHOSEN, label="bestk, default")
    axis.barh([0], [0], color=OURS, label="bestk, other methods")
    axis.barh([0], [0], color=OTHERS, label="other packages")
    axis.legend(fontsize=8, loc="upper right")
    return figure


def draw_times(ranks: pd.Series, seconds: pd.Series, title: str) -> Any:
    """Mean rank against seconds, a point for each way."""
    figure, axis = pyplot().subplots(figsize=(8, 5), layout="constrained")
    seconds = seconds[ranks.index]
    axis.scatter(seconds, ranks, c=_colors(ranks), s=40, zorder=3)
    for way in ranks.index:
        offset, across, up = _free_side(way, ranks, seconds)
        axis.annotate(
            way,
            (seconds[way], ranks[way]),
            offset,
            textcoords="offset points",
            fontsize=8,
            ha=across,
            va=up,
        )
    axis.set(
        xscale="log",
        xlabel="seconds of one processor, median over sets",
        ylabel="mean rank, 1 is best",
        title=title,
    )
    axis.invert_yaxis()
    axis.margins(x=0.15)
    axis.grid(color="#dddddd", linewidth=0.6)
    return figure


def _free_side(way: str, ranks: pd.Series, seconds: pd.Series) -> tuple[tuple[int, int], str, str]:
    """Where the name of a point stands: right of it, left of it, or above it."""
    ratio = seconds / seconds[way]
    beside = (ranks - ranks[way]).abs() < NAME_HEIGHT
    right_is_taken = bool((beside & (ratio > 1) & (ratio < NAME_WIDTH)).any())
    left_is_taken = bool((beside & (ratio < 1) & (ratio > 1 / NAME_WIDTH**2)).any())
    if not right_is_taken:
        return (6, 0), "left", "center"
    if not left_is_taken:
        return (-6, 0), "right", "center"
    return (0, 6), "center", "bottom"


def _colors(ranks: pd.Series) -> list[str]:
    colors = []
    for way in ranks.index:
        if way == DEFAULT:
            colors.append(CHOSEN)
        else:
            colors.append(OURS if way in OWN or way == PREVIOUS else OTHERS)
    return colors
