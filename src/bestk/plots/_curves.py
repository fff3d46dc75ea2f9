"""Error against the number of features, a line for each method."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from bestk.plots._canvas import COLOURS, POINTS, ink, new_axes, size_in_points, soft_grid, text_size
from bestk.plots._names import PLAIN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]
FEW = 4  # lines that can have bands, and names at their ends
MARKERS, STYLES = "os^DvPX", ("-", "--", "-.", ":")


@dataclass(frozen=True)
class Curve:
    """The mean error over folds for each k, with its standard error."""

    method: str
    ks: Floats
    errors: Floats
    spread: Floats  # 0 where there is one fold

    @property
    def best(self) -> int | None:
        """Where the error is least, the smallest k of equals; None where all are NaN."""
        return None if np.isnan(self.errors).all() else int(np.nanargmin(self.errors))

    @property
    def label(self) -> str:
        """The method, its least error and the k of it."""
        if self.best is None:
            return f"{self.method}: no error known"
        return f"{self.method}: {self.errors[self.best]:.1%} at k = {self.ks[self.best]:g}"


def read_curves(curves: Any) -> list[Curve]:
    """Means over folds, from a tidy table with columns method, k and error."""
    table = curves.to_frame() if hasattr(curves, "to_frame") else curves
    try:
        methods, ks, errors = (np.asarray(table[name]) for name in ("method", "k", "error"))
    except (KeyError, TypeError, IndexError) as failure:
        raise ValueError(
            "error curves are drawn from Curves, or a table with the columns 'method', 'k' and "
            "'error' and a row for each fold"
        ) from failure
    ks, errors = ks.astype(np.float64), errors.astype(np.float64)
    names = dict.fromkeys(methods.tolist())
    return [_mean_curve(str(name), ks[methods == name], errors[methods == name]) for name in names]


def _mean_curve(method: str, ks: Floats, errors: Floats) -> Curve:
    grouped = [errors[(ks == k) & ~np.isnan(errors)] for k in (every := np.unique(ks))]
    means = [e.mean() if len(e) else np.nan for e in grouped]
    spread = [e.std(ddof=1) / np.sqrt(len(e)) if len(e) > 1 else 0.0 for e in grouped]
    return Curve(method, every, np.array(means), np.array(spread))


def plot_error_curves(
    curves: Any,
    *,
    baseline: float | None = None,
    bands: bool | None = None,
    labels: Literal["auto", "direct", "legend"] | None = "auto",
    ax: "Axes | None" = None,
) -> "Axes":
    found = read_curves(curves)
    own = ax is None
    ax = new_axes(ax)
    few = len(found) <= FEW
    lines = [_draw(ax, c, i, few if bands is None else bands) for i, c in enumerate(found)]
    if baseline is not None:
        ax.axhline(baseline, color=ink(ax), linestyle="--", linewidth=1, label="all features")
    _scale(ax)
    if labels == "direct" or (labels == "auto" and few and own):
        _name_ends(ax, found, lines)
    elif labels is not None:
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, .5)) if own else ax.legend(framealpha=.8)
    return ax


def _draw(ax: "Axes", curve: Curve, place: int, band: bool) -> "Line2D":
    """A line, its band, and a ring where the error is least."""
    palette = (*COLOURS, ink(ax))
    colour = palette[place % len(palette)]
    style = STYLES[place // len(palette) % len(STYLES)]
    marker = MARKERS[place % len(MARKERS)]
    (line,) = ax.plot(
        curve.ks, curve.errors, style, color=colour, linewidth=1.6, label=curve.label,
    )  # fmt: skip
    if band:
        low, high = curve.errors - curve.spread, curve.errors + curve.spread
        ax.fill_between(curve.ks, low, high, color=colour, alpha=0.15, linewidth=0)
    if curve.best is not None:
        ax.plot(
            curve.ks[curve.best], curve.errors[curve.best], marker, color=colour, markersize=8,
            markeredgecolor=ax.get_facecolor(), markeredgewidth=1.2, zorder=3,
        )  # fmt: skip
    return line


def _scale(ax: "Axes") -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set(xlabel="number of features k", ylabel="error")
    soft_grid(ax)


def _name_ends(ax: "Axes", curves: Sequence[Curve], lines: Sequence["Line2D"]) -> None:
    """Write each name at the end of its line, moved apart where ends are close."""
    ends = [c.errors[~np.isnan(c.errors)][-1] for c in curves]
    bottom, top = ax.get_ylim()
    size = text_size()
    step = 1.3 * size / size_in_points(ax)[1] * (top - bottom)
    for curve, line, end, height in zip(curves, lines, ends, _apart(ends, step, bottom, top), strict=True):
        ax.annotate(
            curve.label, (curve.ks[-1], end), (1.03, height), xycoords="data",
            textcoords=("axes fraction", "data"), va="center", fontsize=size, color=line.get_color(),
            arrowprops={"arrowstyle": "-", "color": line.get_color(), "linewidth": 0.6, "shrinkA": 0, "shrinkB": 2},
            annotation_clip=False, **PLAIN,
        )  # fmt: skip


def _apart(heights: Sequence[float], step: float, bottom: float, top: float) -> list[float]:
    """Heights at least a step apart, near to those given and in the same order."""
    order = np.argsort(heights, kind="stable")
    moved = np.array(heights)[order]
    for _ in range(100):
        for i in range(1, len(moved)):
            overlap = step - (moved[i] - moved[i - 1])
            if overlap > 1e-12:
                moved[i] += overlap / 2
                moved[i - 1] -= overlap / 2
    result = np.empty(len(moved))
    result[order] = moved
    return result.tolist()
