"""The selected features one by one: what each says alone, among the others, and beyond them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bestk.plots._canvas import (
    BLUE,
    POINTS,
    SKY,
    SMALLEST,
    ink,
    new_axes,
    size_in_points,
    soft_grid,
    text_size,
)
from bestk.plots._names import labels_of, name_ticks, read_solution
from bestk.problem.solution import TOLD

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TALL, LOW = 0.3, 0.19  # inches for a feature, where there are few and where there are many
FEW = 25
STROKE = 22.0  # points, the longest
LEAST, MOST = 0.6, 20.0  # inches of height


def plot_features(solution: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw what each selected feature says about y, best first, in nats.

    Its relevance is I(xj; y). Its contribution is its part of the objective, the sum of all. Its
    new information is the smallest I(xj; y | xi) over the other selected features xi.

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
    told = read_solution(solution, *TOLD)
    height = float(np.clip(told.k * (TALL if told.k <= FEW else LOW), LEAST, MOST))
    own = ax is None
    ax = new_axes(ax, 6.4, height + 1.4)
    room = (POINTS * height if own else size_in_points(ax)[1]) / told.k
    artists = _draw(ax, told.details, room)
    size = max(SMALLEST, min(text_size(), 0.85 * room))
    name_ticks(ax.yaxis, labels_of(told), size, room)
    ax.set_xlabel("information about y, nats")
    ax.set_ylim(told.k - 0.4, -0.6)
    soft_grid(ax, "x")
    if own:
        ax.figure.legend(handles=artists, loc="outside upper left", frameon=False)
    else:
        _add_legend(ax, artists, room)
    return ax


def _add_legend(ax: "Axes", artists: list[Any], room: float) -> None:
    """One line of single words, in a strip that is made free for it above the bars."""
    ax.set_ylim(top=-0.6 - 2 * text_size() / room)
    words = [str(artist.get_label()).partition(":")[0] for artist in artists]
    ax.legend(
        artists, words, loc="upper left", ncols=3, frameon=False, borderaxespad=0,
        columnspacing=1.0, handlelength=1.2,
    )  # fmt: skip


def _draw(ax: "Axes", told: Mapping[str, Any], room: float) -> list[Any]:
    """Two bars for each feature, and a stroke across them."""
    rows = np.arange(len(told["new_information"]))
    relevance = ax.barh(rows - 0.2, told["relevance"], 0.4, color=SKY, label="relevance: alone")
    contribution = ax.barh(
        rows + 0.2, told["contribution"], 0.4, color=BLUE,
        label="contribution: part of the objective",
    )  # fmt: skip
    (new,) = ax.plot(
        told["new_information"], rows, "|", color=ink(ax), markersize=0.8 * min(room, STROKE),
        markeredgewidth=2, label="new information: the smallest, given another",
    )  # fmt: skip
    return [relevance, contribution, new]
