"""Plots of the selected features, one by one and in pairs; axes and labels of all plots."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bestk.problem.solution import TOLD, Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

# Okabe and Ito's palette, for any kind of colour vision, on white and on black
COLOURS = BLUE, RED, GREEN, PINK, YELLOW, SKY = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
)  # fmt: skip
POINTS_PER_INCH = 72
MIN_FONT = 1.0  # points
MAX_LABEL = 28  # characters
PLAIN: dict[str, Any] = {"parse_math": False}  # a $ in a name is a dollar
MAX_ROOMY = 25  # features that get tall rows
TALL_ROW, LOW_ROW = 0.3, 0.19  # inches
MIN_HEIGHT, MAX_HEIGHT = 0.6, 20.0  # inches of the bars
MAX_MARK = 22.0  # points
MAX_NUMBERED = 12  # features whose pairs are written as numbers
WIDE_CELL, NARROW_CELL = 0.46, 0.19  # inches for a cell with a number and for one without
MIN_SIDE, MAX_SIDE = 3.2, 15.0  # inches of the heat map
LETTER = 0.075  # inches for a letter of a name
FROM_ZERO = 1 / 3  # colours begin at 0, unless all values exceed this part of the largest


def plot_features(solution: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Plot the information of each selected feature about y, best first, in nats.

    The relevance is I(xj; y). The contribution is the feature's part of the objective, which is
    the sum of all. The new information is the smallest I(xj; y | xi) over the other selected xi.

    Parameters
    ----------
    solution : Solution or fitted selector
        From :func:`bestk.select` or :class:`bestk.SelectBestK`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure with a row for each feature.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from bestk import select
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ax = plot_features(select(X, y, k=2, method="exact"), ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['petal width (cm)', 'petal length (cm)']
    """
    found = read_solution(solution, *TOLD)
    relevance, contribution, new = (found.details[name] for name in TOLD)
    row, rows = TALL_ROW if found.k <= MAX_ROOMY else LOW_ROW, np.arange(found.k)
    ax = new_axes(ax, 6.4, float(np.clip(found.k * row, MIN_HEIGHT, MAX_HEIGHT)) + 1.4)
    ax.set_ylim(found.k - 0.4, -0.6)  # the first on top
    name_ticks(ax.yaxis, shorten(found._labels(), found.support.tolist()))
    add_grid(ax, "x")
    mark = min(300 / found.k, MAX_MARK)
    artists = [
        ax.barh(rows - 0.2, relevance, 0.4, color=SKY, label="relevance"),
        ax.barh(rows + 0.2, contribution, 0.4, color=BLUE, label="contribution"),
        *ax.plot(new, rows, "|", color=ink(ax), markersize=mark, markeredgewidth=2,
                 label="new information"),
    ]  # fmt: skip
    ax.set_xlabel("information about y, nats")
    ax.legend(
        handles=artists, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False,
        columnspacing=1.0, handlelength=1.2,
    )  # fmt: skip
    return ax


def plot_pairs(solution: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Plot a heat map of the information that selected features add to each other.

    The diagonal is the relevance I(xj; y); off it, the cell in row i and column j is
    I(xj; y | xi). A dark cell below a bright diagonal is a feature that the row makes redundant;
    a cell brighter than the diagonal of its column is a synergy of the two.

    Parameters
    ----------
    solution : Solution or fitted selector
        From :func:`bestk.select` or :class:`bestk.SelectBestK`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure that has room for the names.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from bestk import select
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ax = plot_pairs(select(X, y, k=2, method="exact"), ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['petal width (cm)', 'petal length (cm)']
    """
    from sklearn.metrics import ConfusionMatrixDisplay  # draws any matrix with names and numbers

    found = read_solution(solution, "pairs")
    pairs = np.asarray(found.details["pairs"], np.float64)
    labels = shorten(found._labels(), found.support.tolist())
    numbered = found.k <= MAX_NUMBERED
    side = float(np.clip(found.k * (WIDE_CELL if numbered else NARROW_CELL), MIN_SIDE, MAX_SIDE))
    names = LETTER * max(map(len, labels))
    ax = new_axes(ax, side + names + 1.5, side + names + 0.9)
    least, most = float(pairs.min()), float(pairs.max())
    largest = max(abs(least), abs(most))
    digits = 2 if largest == 0 else max(2, 1 - int(np.floor(np.log10(largest))))
    display = ConfusionMatrixDisplay(pairs).plot(
        ax=ax, include_values=numbered, values_format=f"z.{digits}f",
        im_kw={"vmin": least if FROM_ZERO * most < least < most else min(0, least)},
        text_kw={"fontsize": "small"},
    )  # fmt: skip
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    name_ticks(ax.yaxis, labels)
    name_ticks(ax.xaxis, labels, **(turned if numbered else {"rotation": 90}))
    ax.set_title("$I(x_j; y \\mid x_i)$; on the diagonal $I(x_j; y)$")
    ax.set(xlabel="$x_j$, added", ylabel="$x_i$, known")
    ax.spines[:].set_visible(False)
    display.im_.colorbar.set_label(r"information about y: $I(x_j; y \mid x_i)$, nats")
    return ax


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


def add_grid(ax: "Axes", axis: Literal["both", "x", "y"] = "both") -> None:
    """Draw thin lines behind the data, and no frame on the sides without ticks."""
    ax.grid(True, axis=axis, color=ink(ax), alpha=0.15, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def name_ticks(axis: "Axis", labels: Sequence[str], **text: Any) -> None:
    """Label 0, 1, 2, ..., in smaller letters where there is little room for each."""
    box, axes = axis.axes.get_window_extent(), axis.axes
    length = (box.width if axis is axes.xaxis else box.height) / axes.figure.dpi
    size = axis.get_major_ticks()[0].label1.get_fontsize()
    size = max(MIN_FONT, min(size, 0.85 * POINTS_PER_INCH * length / len(labels)))
    axis.set_ticks(range(len(labels)), labels, fontsize=size, **PLAIN, **text)
    axis.set_tick_params(which="both", length=0)


def shorten(names: Sequence[str], items: Sequence[int], longest: int = MAX_LABEL) -> list[str]:
    """Names cut in the middle to fit; equal results get the number of their item."""
    short = [cut_middle(" ".join(name.split()), longest) for name in names]
    counts = Counter(short)
    return [
        f"{cut_middle(name, longest - 6)} #{item}" if counts[name] > 1 else name
        for name, item in zip(short, items, strict=True)
    ]


def cut_middle(text: str, longest: int) -> str:
    """A text of at most so many characters, with an ellipsis in place of its middle."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"
