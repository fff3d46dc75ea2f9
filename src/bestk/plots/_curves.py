"""Plots of errors over the number of features."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bestk.evaluation import BASELINE, Curves
from bestk.plots._selection import COLOURS, PLAIN, add_grid, ink, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_BANDS = 4  # lines whose bands do not hide each other
MARKERS, STYLES = "os^DvPX", ("-", "--", "-.", ":")


def plot_error_curves(curves: Curves, *, ax: "Axes | None" = None) -> "Axes":
    """Plot the mean error over folds against k, a line for each method.

    The smallest error of each method is marked, at the smallest such k. The error with all
    features, if it was measured, is a dashed line. Errors between 0 and 1 are in percent. Curves
    with a ``scoring`` are drawn as scores. One standard error is shaded for up to four methods.

    Parameters
    ----------
    curves : Curves
        From :func:`bestk.evaluation.error_curves`. Where a fold has no error, the line has a gap.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from bestk.evaluation import Curves, Row
    >>> measured = ((1, 0, 0.3), (1, 1, 0.5), (2, 0, 0.1), (2, 1, 0.1))  # k, fold, error
    >>> rows = [Row("jmi", k, fold, error, 10, 0.0, []) for k, fold, error in measured]
    >>> ax = plot_error_curves(Curves(tuple(rows), ["a", "b"]), ax=Figure().subplots())
    >>> ax.lines[0].get_ydata(), ax.lines[0].get_label()
    (array([0.4, 0.1]), 'jmi: 10.0% at k = 2')
    """
    from matplotlib.ticker import PercentFormatter

    if not isinstance(curves, Curves) or not curves.methods:
        came = type(curves).__name__
        raise ValueError(f"nothing to draw: give Curves that error_curves has measured, not {came}")
    sign = -1 if curves.rising else 1  # scores are minus the errors
    errors = np.array([row.error for row in curves.rows])
    percent = curves.scoring is None and not ((errors < 0) | (errors > 1)).any()
    write = "{:.1%}".format if percent else "{:.3g}".format
    many, own = len(curves.methods) > MAX_BANDS, ax is None
    ax = _curve_axes(ax, 8.0 if many else 6.4)
    handles = []
    for name in curves.methods:
        ks = sorted({row.k for row in curves.rows if row.method == name})
        folds = curves.errors(name)
        means = folds.mean(axis=1)
        best = int(np.nan_to_num(means, nan=np.inf).argmin())
        label = f"{name}: {write(sign * means[best])} at k = {ks[best]}"
        (line,) = ax.plot(
            ks, sign * means, linewidth=1.6, markevery=[best], markersize=8,
            markeredgecolor=ax.get_facecolor(), label=label, zorder=3,
        )  # fmt: skip
        if not many and folds.shape[1] > 1:
            spread = folds.std(axis=1, ddof=1) / folds.shape[1] ** 0.5
            low, high, colour = sign * means - spread, sign * means + spread, line.get_color()
            ax.fill_between(ks, low, high, color=colour, alpha=0.15, linewidth=0)
        handles.append((means[best], line))
    handles.sort(key=lambda both: both[0])
    lines = [line for _, line in handles]
    everything = [row for row in curves.rows if row.method == BASELINE]
    if everything:
        level = sign * float(np.mean([row.error for row in everything]))
        label = f"all {everything[0].k} features: {write(level)}"
        lines.append(ax.axhline(level, color=ink(ax), linestyle="--", linewidth=1, label=label))
    ax.set_ylabel(curves.measure.replace("_", " "))
    if percent:
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    beside: Any = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)} if own and many else {}
    for text in ax.legend(handles=lines, framealpha=0.7, edgecolor="none", **beside).get_texts():
        text.set(**PLAIN)
    return ax


def _curve_axes(ax: "Axes | None", width: float) -> "Axes":
    """Axes over k, whose lines all look different."""
    from cycler import cycler
    from matplotlib.ticker import MaxNLocator

    ax = new_axes(ax, width)
    looks = cycler(color=(*COLOURS, ink(ax))) + cycler(marker=list(MARKERS))
    ax.set_prop_cycle(cycler(linestyle=STYLES) * looks)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
    ax.set_xlabel("number of features k")
    add_grid(ax)
    return ax
