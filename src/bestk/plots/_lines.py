"""Lines over the number of features: a mark on each, a band about it, and which is which."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bestk.plots._canvas import COLOURS, ink, pixels_per_point, soft_grid, text_size, whole_numbers
from bestk.plots._names import PLAIN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]
FEW = 4  # lines up to which bands do not hide each other
MARKERS, STYLES = "os^DvPX", ("-", "--", "-.", ":")


@dataclass(frozen=True)
class Line:
    """A value for each k, how sure it is, and perhaps one k to point out."""

    label: str
    ks: Floats
    values: Floats
    low: Floats
    high: Floats
    mark: int | None = None  # place of the k to point out

    @property
    def marked(self) -> list[int]:
        """Places to mark: that one, and values between gaps, which no line would show."""
        known = np.pad(np.isfinite(self.values), 1)
        alone = np.flatnonzero(known[1:-1] & ~known[:-2] & ~known[2:]).tolist()
        return alone if self.mark is None else sorted({self.mark, *alone})


def draw_lines(ax: "Axes", lines: Sequence[Line], bands: bool | None) -> "list[Line2D]":
    """Draw lines that differ in colour and mark, and in dashes where colours come again."""
    palette = (*COLOURS, ink(ax))
    artists = []
    for place, line in enumerate(lines):
        colour, turn = palette[place % len(palette)], place // len(palette)
        artists += ax.plot(
            line.ks, line.values, STYLES[turn % len(STYLES)], color=colour, linewidth=1.6,
            marker=MARKERS[(place + turn) % len(MARKERS)] if line.marked else None,
            markevery=line.marked, markersize=8, markeredgecolor=ax.get_facecolor(),
            label=line.label, zorder=3,
        )  # fmt: skip
        if len(lines) <= FEW if bands is None else bands:
            ax.fill_between(line.ks, line.low, line.high, color=colour, alpha=0.15, linewidth=0)
    whole_numbers(ax.xaxis)
    ax.set_xlabel("number of features k")
    soft_grid(ax)
    return artists


def tell_apart(ax: "Axes", artists: "Sequence[Line2D]", *, own: bool) -> None:
    """Name lines at their ends where that tells them apart, or in a legend.

    A figure of our ``own`` makes room beside the axes; other axes get a legend inside.
    """
    many = len(artists) > FEW + 1
    if own and not many and _ends_are_apart(ax, artists):
        for artist in artists:
            ax.text(
                1.02, _end(artist), str(artist.get_label()), color=artist.get_color(),
                transform=ax.get_yaxis_transform(), va="center", fontsize=text_size(), **PLAIN,
            )  # fmt: skip
        return
    names = [str(artist.get_label()) for artist in artists]
    beside: dict[str, Any] = {"frameon": False, "loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
    inside: dict[str, Any] = {"framealpha": 0.7, "edgecolor": "none"}
    legend = ax.legend(artists, names, **(beside if own and many else inside))
    for text in legend.get_texts():
        text.set(**PLAIN)


def _ends_are_apart(ax: "Axes", artists: "Sequence[Line2D]") -> bool:
    """Whether names fit at the ends of the lines, one above the other."""
    ax.get_ylim()  # settles the limits, which the next line reads
    heights = ax.transData.transform([(1.0, _end(artist)) for artist in artists])[:, 1]
    step = 1.3 * text_size() * pixels_per_point(ax)
    return bool((np.diff(np.sort(heights)) >= step).all())


def _end(artist: "Line2D") -> float:
    """The last height of a line, or NaN."""
    heights = np.asarray(artist.get_ydata(), np.float64)
    known = heights[np.isfinite(heights)]
    return float(known[-1]) if len(known) else np.nan
