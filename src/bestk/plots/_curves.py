"""Plots over the number of features: errors and cross-validation scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestk._typing import Floats
from bestk.evaluation import BASELINE, Curves
from bestk.plots._selection import COLOURS, PLAIN, add_grid, ink, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

COLUMNS = ("method", "k", "error")
MAX_BANDS = 4  # lines whose bands do not hide each other
MARKERS, STYLES = "os^DvPX", ("-", "--", "-.", ":")


@dataclass(frozen=True)
class Line:
    """A value for each k, its interval, and perhaps one k to mark."""

    label: str
    ks: Floats
    values: Floats
    low: Floats
    high: Floats
    mark: int | None = None  # place of the k to mark
    order: float = 0.0  # in the legend, smallest first


def plot_error_curves(
    curves: Any, *, bands: bool | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Plot the mean error over folds against k, a line for each method.

    The smallest error of each method is marked, at the smallest such k. The error with all
    features, if it was measured, is a dashed line. Errors between 0 and 1 are in percent. Curves
    with a ``scoring`` are drawn as scores.

    Parameters
    ----------
    curves : Curves, or table with columns "method", "k" and "error"
        From :func:`bestk.evaluation.error_curves`, or your own: a row for each method, k and
        fold, those of all features with the method "all". NaN errors are left out.
    bands : bool, default=None
        Whether to shade one standard error around the mean; by default for up to four methods.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> table = {"method": ["jmi"] * 4, "k": [1, 1, 2, 2], "error": [0.3, 0.5, 0.1, 0.1]}
    >>> ax = plot_error_curves(table, ax=Figure().subplots())
    >>> ax.lines[0].get_ydata(), ax.lines[0].get_label()
    (array([0.4, 0.1]), 'jmi: 10.0% at k = 2')
    """
    methods, ks, errors = _read_columns(curves)
    scored = isinstance(curves, Curves) and curves.scoring is not None
    sign = -1 if scored and curves.rising else 1  # scores are minus the errors
    percent = not scored and bool(((errors >= 0) & (errors <= 1) | np.isnan(errors)).all())
    errors, write = sign * errors, "{:.1%}".format if percent else "{:.3g}".format
    names = dict.fromkeys(methods[methods != BASELINE].tolist())
    lines = [
        _error_line(str(name), ks[methods == name], errors[methods == name], write, sign)
        for name in names
    ]
    known = errors[(methods == BASELINE) & np.isfinite(errors)]
    level = None
    if len(known):
        label = f"all {ks[methods == BASELINE].max():g} features: {write(known.mean())}"
        level = (float(known.mean()), label)
    ax = _draw(ax, lines, bands, level)
    ax.set_ylabel(curves.measure.replace("_", " ") if scored else "error")
    ax.yaxis.set_major_formatter(
        lambda value, _: f"{100 * value:.3g}%" if percent else f"{value:.4g}"
    )
    return ax


def plot_cv_scores(selector: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Plot the mean score over folds against k, one standard error around it, and the chosen k.

    With ``rule="one-se"`` a dashed line shows the score that the chosen k had to reach.

    Parameters
    ----------
    selector : fitted SelectBestKCV
        Its ``cv_results_`` and ``best_k_`` are drawn.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bestk import SelectBestKCV
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = SelectBestKCV(KNeighborsClassifier(), method="forward").fit(X, y)
    >>> ax = plot_cv_scores(selector, ax=Figure().subplots())
    >>> ax.lines[0].get_xdata()
    array([1, 2, 3, 4])
    """
    if not hasattr(selector, "cv_results_"):
        raise TypeError(f"expected a fitted SelectBestKCV, not {type(selector).__name__}")
    results = selector.cv_results_
    folds = np.array([v for name, v in results.items() if name.startswith("split")])
    mean = folds.mean(axis=0)
    error = folds.std(axis=0, ddof=1) / len(folds) ** 0.5 if len(folds) > 1 else 0 * mean
    chosen = int(np.flatnonzero(results["k"] == selector.best_k_)[0])
    label = f"k = {selector.best_k_} chosen: {mean[chosen]:.3g}"
    level = None
    if selector.rule == "one-se":
        best = int(np.nanargmax(mean))
        threshold = float(mean[best] - error[best])
        level = (threshold, f"best minus one standard error: {threshold:.3g}")
    line = Line(label, results["k"], mean, mean - error, mean + error, chosen)
    ax = _draw(ax, [line], True, level)
    ax.set_ylabel("score, mean over folds")
    return ax


def _draw(
    ax: "Axes | None", lines: Sequence[Line], bands: bool | None,
    level: tuple[float, str] | None = None,
) -> "Axes":  # fmt: skip
    """Draw lines of different looks, a dashed level if there is one, and a legend."""
    from matplotlib.ticker import MaxNLocator

    many, own = len(lines) > MAX_BANDS, ax is None
    ax = new_axes(ax, 8.0 if many else 6.4)
    palette = (*COLOURS, ink(ax))
    artists: list[Line2D] = []
    for place, line in enumerate(lines):
        colour, turn = palette[place % len(palette)], place // len(palette)
        artists += ax.plot(
            line.ks, line.values, STYLES[turn % len(STYLES)], color=colour, linewidth=1.6,
            marker=None if line.mark is None else MARKERS[(place + turn) % len(MARKERS)],
            markevery=[] if line.mark is None else [line.mark], markersize=8,
            markeredgecolor=ax.get_facecolor(), label=line.label, zorder=3,
        )  # fmt: skip
        if bands or (bands is None and not many):
            ax.fill_between(line.ks, line.low, line.high, color=colour, alpha=0.15, linewidth=0)
    artists = [artists[i] for i in np.argsort([line.order for line in lines], kind="stable")]
    if level is not None:
        height, label = level
        artists.append(ax.axhline(height, color=ink(ax), linestyle="--", linewidth=1, label=label))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
    ax.set_xlabel("number of features k")
    add_grid(ax)
    legend: dict[str, Any] = {"framealpha": 0.7, "edgecolor": "none"}
    if own and many:
        legend = {"frameon": False, "loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
    for text in ax.legend(handles=artists, **legend).get_texts():
        text.set(**PLAIN)
    return ax


def _read_columns(curves: Any) -> tuple[Any, Floats, Floats]:
    """The methods, ks and errors of all rows."""
    try:
        if isinstance(curves, Curves):
            columns = [[getattr(row, name) for row in curves.rows] for name in COLUMNS]
        else:
            columns = [np.asarray(curves[name]).tolist() for name in COLUMNS]
    except Exception as failure:  # each kind of table has its own for a missing column
        raise ValueError(
            "error curves need Curves, as returned by bestk.evaluation.error_curves, or a table "
            f"with columns 'method', 'k' and 'error'; got {type(curves).__name__}"
        ) from failure
    methods, ks, errors = columns
    if not methods:
        raise ValueError("nothing to draw: the curves have no rows")
    return np.array(methods, object), np.array(ks, np.float64), np.array(errors, np.float64)


def _error_line(method: str, ks: Floats, errors: Floats, write: Any, sign: int) -> Line:
    """Mean and standard error for each k, and the k of the best mean."""
    each = np.unique(ks)
    folds = [errors[(ks == k) & np.isfinite(errors)] for k in each]
    means = np.array([e.mean() if len(e) else np.nan for e in folds])
    sure = np.array([e.std(ddof=1) / len(e) ** 0.5 if len(e) > 1 else 0.0 for e in folds])
    if np.isnan(means).all():
        return Line(f"{method}: no errors", each, means, means, means, order=np.inf)
    best = int(np.nanargmin(sign * means))
    label = f"{method}: {write(means[best])} at k = {each[best]:g}"
    order = sign * means[best]
    return Line(label, each, means, means - sure, means + sure, best, order)
