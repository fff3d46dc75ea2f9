"""Shared by all plots: what is drawn, axes, colours, and names as labels."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bestk.problem.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

# Okabe and Ito's palette, for any kind of colour vision, on white and on black
COLOURS = BLUE, RED, GREEN, PINK, YELLOW, SKY = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
)  # fmt: skip
POINTS_PER_INCH = 72
MIN_FONT = 4.5  # points; where there is room for less, some labels are left out
MAX_LABEL = 28  # characters
PLAIN: dict[str, Any] = {"parse_math": False}  # a $ in a name is a dollar


def read_solution(solution: Any, *wanted: str) -> Solution:
    """The solution, or that of a fitted selector; its details must contain what is wanted."""
    found = getattr(solution, "solution_", solution)
    if not isinstance(found, Solution):
        raise TypeError(
            f"expected a Solution or a fitted selector, not {type(solution).__name__}; "
            "get one from bestk.select(X, y, k)"
        )
    for name in wanted:
        if name not in found.details:
            raise ValueError(
                f"this solution has no details[{name!r}], because its solver was given a matrix "
                "and no features; get one from bestk.select(X, y, k) or SelectBestK"
            )
    return found


def new_axes(ax: "Axes | None", width: float = 6.4, height: float = 4.8) -> "Axes":
    """The given axes, or those of a new figure of that size in inches."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib; run: pip install 'bestk[plots]'") from error
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def ink(ax: "Axes") -> Any:
    """The colour of the axis labels: black on white, white on black."""
    return ax.xaxis.label.get_color()


def room_for(axis: "Axis", n: int) -> float:
    """Points along an axis for each of n labels."""
    box = axis.axes.get_window_extent()
    length = box.width if axis is axis.axes.xaxis else box.height
    return POINTS_PER_INCH * float(length) / axis.axes.figure.dpi / n


def font_size(room: float = np.inf) -> float:
    """The size of tick labels in points, smaller where each label has little room."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    size = float(FontProperties(size=rcParams["ytick.labelsize"]).get_size_in_points())
    return max(MIN_FONT, min(size, 0.85 * room))


def add_grid(ax: "Axes", axis: Literal["both", "x", "y"] = "both") -> None:
    """Draw thin lines behind the data, and no frame on the sides without ticks."""
    ax.grid(True, axis=axis, color=ink(ax), alpha=0.15, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def name_ticks(axis: "Axis", labels: Sequence[str], **text: Any) -> None:
    """Label 0, 1, 2, ..., or every few of them where there is no room for all."""
    room = room_for(axis, len(labels))
    size = font_size(room)
    places = range(0, len(labels), max(1, int(np.ceil(size / max(room, 1e-9)))))
    axis.set_ticks(places, [labels[i] for i in places], fontsize=size, **PLAIN, **text)
    axis.set_tick_params(which="both", length=0)


def shorten(names: Sequence[str], items: Sequence[int], longest: int = MAX_LABEL) -> list[str]:
    """Names cut in the middle to fit; equal results get the number of their item.

    Examples
    --------
    >>> shorten(["mean radius", "concentration of sodium in serum"], [0, 1], 16)
    ['mean radius', 'concentr…n serum']
    >>> shorten(["x", "x"], [4, 7])
    ['x #4', 'x #7']
    """
    short = [_cut(" ".join(name.split()), longest) for name in names]
    counts = Counter(short)
    return [
        f"{_cut(name, longest - 6)} #{item}" if counts[name] > 1 else name
        for name, item in zip(short, items, strict=True)
    ]


def _cut(name: str, longest: int) -> str:
    if len(name) <= longest:
        return name
    tail = (longest - 1) // 2
    return f"{name[: longest - 1 - tail]}…{name[len(name) - tail :]}"
