"""Plots of the selected features: one by one, and in pairs."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bestk.plots.labels import (
    BLUE,
    MIN_FONT,
    POINTS_PER_INCH,
    SKY,
    add_grid,
    font_size,
    ink,
    name_ticks,
    new_axes,
    read_solution,
    shorten,
    size_in_points,
)
from bestk.problem.solution import TOLD, Solution
from bestk.selection.stability import StabilitySelection

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

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

    Returns
    -------
    Axes

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
    row = TALL_ROW if found.k <= MAX_ROOMY else LOW_ROW
    height = float(np.clip(found.k * row, MIN_HEIGHT, MAX_HEIGHT))
    own = ax is None
    ax = new_axes(ax, 6.4, height + 1.4)
    room = (POINTS_PER_INCH * height if own else size_in_points(ax)[1]) / found.k
    rows = np.arange(found.k)
    artists = [
        ax.barh(rows - 0.2, relevance, 0.4, color=SKY, label="relevance"),
        ax.barh(rows + 0.2, contribution, 0.4, color=BLUE, label="contribution"),
        *ax.plot(new, rows, "|", color=ink(ax), markersize=0.8 * min(room, MAX_MARK),
                 markeredgewidth=2, label="new information"),
    ]  # fmt: skip
    name_ticks(ax.yaxis, _labels(found), room)
    ax.set_xlabel("information about y, nats")
    ax.set_ylim(found.k - 0.4, -0.6)
    add_grid(ax, "x")
    ax.legend(
        handles=artists, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False,
        columnspacing=1.0, handlelength=1.2,
    )  # fmt: skip
    return ax


def plot_frequencies(
    found: StabilitySelection, *, threshold: float = 0.6, top: int = 20, ax: "Axes | None" = None
) -> "Axes":
    """Plot how often features were selected from subsamples, the most frequent first.

    Parameters
    ----------
    found : StabilitySelection
        From :func:`bestk.stability_selection`.
    threshold : float, default=0.6
        A dashed line; features that reach it are darker.
    top : int, default=20
        Number of features.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure with a row for each feature.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from bestk import stability_selection
    >>> found = stability_selection(*load_iris(return_X_y=True), k=1, n_subsamples=5)
    >>> ax = plot_frequencies(found, top=2, ax=Figure().subplots())
    >>> len(ax.patches)
    2
    """
    items = np.argsort(-found.frequencies, kind="stable")[:top]
    height = float(np.clip(len(items) * TALL_ROW, MIN_HEIGHT, MAX_HEIGHT))
    own = ax is None
    ax = new_axes(ax, 6.4, height + 1.0)
    room = (POINTS_PER_INCH * height if own else size_in_points(ax)[1]) / max(1, len(items))
    values = found.frequencies[items]
    colours = [BLUE if value >= threshold else SKY for value in values]
    ax.barh(np.arange(len(items)), values, 0.7, color=colours)
    ax.axvline(threshold, color=ink(ax), linestyle="--", linewidth=1)
    names = [str(found.names[item]) for item in items.tolist()]
    name_ticks(ax.yaxis, shorten(names, items.tolist()), room)
    ax.set(xlabel=f"frequency in {len(found.supports)} subsamples", xlim=(0, 1))
    ax.set_ylim(len(items) - 0.4, -0.6)
    add_grid(ax, "x")
    return ax


def plot_pairs(
    solution: Any, *, ax: "Axes | None" = None, cmap: Any = "viridis", colorbar: bool = True
) -> "Axes":
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
    cmap : str or Colormap, default="viridis"
        Colours from few nats to many.
    colorbar : bool, default=True
        Whether to draw the scale.

    Returns
    -------
    Axes

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
    found = read_solution(solution, "pairs")
    pairs, labels = np.asarray(found.details["pairs"], np.float64), _labels(found)
    cell = WIDE_CELL if found.k <= MAX_NUMBERED else NARROW_CELL
    side = float(np.clip(found.k * cell, MIN_SIDE, MAX_SIDE))
    names = LETTER * max(map(len, labels))
    own = ax is None
    ax = new_axes(ax, side + names + 1.5, side + names + 0.9)
    room = (POINTS_PER_INCH * side if own else min(size_in_points(ax))) / found.k
    least, most = float(pairs.min()), float(pairs.max())
    image = ax.imshow(
        pairs, cmap=cmap, vmin=least if FROM_ZERO * most < least < most else min(0, least)
    )
    _label_axes(ax, labels, room)
    if found.k <= MAX_NUMBERED:
        _write_numbers(ax, image, pairs, room)
    if colorbar:
        label = r"information about y: $I(x_j; y \mid x_i)$, nats"
        bar = ax.figure.colorbar(image, ax=ax, label=label, fraction=0.05, pad=0.03)
        bar.outline.set_visible(False)
    return ax


def _labels(solution: Solution) -> list[str]:
    return shorten(solution._labels(), solution.support.tolist())


def _label_axes(ax: "Axes", labels: list[str], room: float) -> None:
    name_ticks(ax.yaxis, labels, room)
    if 0.7 * font_size(room) * max(map(len, labels)) < room:
        turned: dict[str, Any] = {}
    elif len(labels) <= MAX_NUMBERED:
        turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    else:
        turned = {"rotation": 90}
    name_ticks(ax.xaxis, labels, room, **turned)
    ax.set_title("$I(x_j; y \\mid x_i)$; on the diagonal $I(x_j; y)$")
    ax.set(xlabel="$x_j$, added", ylabel="$x_i$, known")
    ax.spines[:].set_visible(False)


def _write_numbers(ax: "Axes", image: "AxesImage", pairs: NDArray[np.float64], room: float) -> None:
    """Write each value into its cell, dark on bright and bright on dark."""
    largest = float(np.abs(pairs).max())
    digits = 2 if largest == 0 else max(2, 1 - int(np.floor(np.log10(largest))))
    size = min(font_size(), 1.4 * room / (digits + 2))
    if size < MIN_FONT:
        return
    shades = image.to_rgba(pairs, norm=True)[..., :3] @ [0.299, 0.587, 0.114]
    for (i, j), value in np.ndenumerate(pairs.round(digits) + 0.0):  # never -0.00
        ax.text(
            j, i, f"{value:.{digits}f}", ha="center", va="center", fontsize=size,
            color="black" if shades[i, j] > 0.5 else "white",
        )  # fmt: skip
