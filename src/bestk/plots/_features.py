"""The selected features one by one: what each says alone, among the others, and beyond them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bestk.plots._canvas import (
    BLUE, POINTS, SKY, SMALLEST, ink, new_axes, size_in_points, soft_grid, text_size,
)  # fmt: skip
from bestk.plots._names import labels_of, name_ticks, read_solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 0.3  # inches for a feature
LEAST, MOST = 2.4, 20.0  # inches of height


def plot_features(solution: Any, *, ax: "Axes | None" = None) -> "Axes":
    told = read_solution(solution, "relevance", "contribution", "adds")
    height = float(np.clip(told.k * ROW, LEAST, MOST))
    own = ax is None
    ax = new_axes(ax, 6.4, height + 1.0)
    room = (POINTS * height if own else size_in_points(ax)[1]) / told.k
    rows = np.arange(told.k)
    ax.barh(rows - 0.2, told.details["relevance"], 0.38, color=SKY, label="relevance: alone")
    ax.barh(rows + 0.2, told.details["contribution"], 0.38, color=BLUE, label="contribution: mean over the selected, known one at a time")
    ax.plot(told.details["adds"], rows, "|", color=ink(ax), markersize=0.8*room, markeredgewidth=2, label="adds: beyond the one that leaves it least")
    size = max(SMALLEST, min(text_size(), 0.8 * room))
    name_ticks(ax.yaxis, labels_of(told), size, room)
    ax.set_ylim(told.k - 0.4, -0.6)
    ax.set_xlabel("information about y, nats")
    soft_grid(ax, "x")
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(.5, 1))
    return ax
