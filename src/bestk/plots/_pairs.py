"""The selected features in pairs, as a heat map."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bestk.plots._canvas import POINTS, SMALLEST, new_axes, size_in_points, text_size
from bestk.plots._names import labels_of, name_ticks, read_solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

FAR = 1 / 3  # colours begin at 0, unless all values exceed this share of the largest
NUMBERED = 12  # features up to which the numbers are written into the cells
WIDE, NARROW = 0.46, 0.19  # inches for a cell with a number and for one without
LEAST, MOST = 3.2, 15.0  # inches of a side of the map
LETTER = 0.075  # inches for a letter of a name


def plot_pairs(
    solution: Any, *, ax: "Axes | None" = None, cmap: Any = "viridis", colorbar: bool = True
) -> "Axes":
    """Draw what each selected feature says alone, and what it adds once another is known.

    The diagonal is the relevance I(xj; y); off it, the cell in row i and column j is
    I(xj; y | xi). A dark cell beside a bright diagonal is a feature that the row makes
    redundant; a cell brighter than its column's diagonal is a pair that says more together.

    Parameters
    ----------
    solution : Solution or fitted selector
        From :func:`bestk.select` or :class:`bestk.SelectBestK`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure that has room for the names.
    cmap : str or Colormap, default="viridis"
        From few nats to many.
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
    told = read_solution(solution, "pairs")
    pairs, labels = np.asarray(told.details["pairs"], np.float64), labels_of(told)
    side = float(np.clip(told.k * (WIDE if told.k <= NUMBERED else NARROW), LEAST, MOST))
    names = LETTER * max(map(len, labels))
    own = ax is None
    ax = new_axes(ax, side + names + 1.5, side + names + 0.9)
    room = (POINTS * side if own else min(size_in_points(ax))) / told.k
    least, most = float(pairs.min()), float(pairs.max())
    image = ax.imshow(pairs, cmap=cmap, vmin=least if FAR * most < least < most else min(0, least))
    _frame_diagonal(ax, told.k)
    _label(ax, labels, room)
    if told.k <= NUMBERED:
        _write_numbers(ax, image, pairs, room)
    if colorbar:
        label = r"information about y: $I(x_j; y \mid x_i)$, nats"
        bar = ax.figure.colorbar(image, ax=ax, label=label, fraction=0.05, pad=0.03)
        bar.outline.set_visible(False)
    return ax


def _frame_diagonal(ax: "Axes", k: int) -> None:
    """A line round each cell of the diagonal, which means something else than the others."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    cells = [Rectangle((i - 0.5, i - 0.5), 1, 1) for i in range(k)]
    width = 1.2 if k <= NUMBERED else 0.6
    ax.add_collection(PatchCollection(cells, facecolor="none", edgecolor="white", linewidth=width))


def _label(ax: "Axes", labels: list[str], room: float) -> None:
    """Name the rows and the columns, and say how to read a cell."""
    size = max(SMALLEST, min(text_size(), 0.85 * room))
    name_ticks(ax.yaxis, labels, size, room)
    if 0.7 * size * max(map(len, labels)) < room:
        turned: dict[str, Any] = {}
    elif len(labels) <= NUMBERED:
        turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    else:
        turned = {"rotation": 90}
    name_ticks(ax.xaxis, labels, size, room, **turned)
    ax.set_title("What the column adds once the row is known;\nframed: what it says alone")
    ax.set(xlabel="$x_j$, added", ylabel="$x_i$, known")
    ax.spines[:].set_visible(False)


def _write_numbers(ax: "Axes", image: "AxesImage", pairs: NDArray[np.float64], room: float) -> None:
    """Write each value into its cell, dark on bright and bright on dark."""
    largest = float(np.abs(pairs).max())
    digits = 2 if largest == 0 else max(2, 1 - int(np.floor(np.log10(largest))))
    size = min(text_size(), 1.4 * room / (digits + 2))
    if size < SMALLEST:
        return
    shades = image.to_rgba(pairs, norm=True)[..., :3] @ [0.299, 0.587, 0.114]
    for (i, j), value in np.ndenumerate(pairs.round(digits) + 0.0):  # never -0.00
        ax.text(
            j, i, f"{value:.{digits}f}", ha="center", va="center", fontsize=size,
            color="black" if shades[i, j] > 0.5 else "white",
        )  # fmt: skip
