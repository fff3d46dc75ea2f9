"""Plots over the number of features: errors and cross-validation scores."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bestk._typing import Floats
from bestk.evaluation import BASELINE, Curves
from bestk.plots._selection import COLOURS, PLAIN, add_grid, ink, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = ("method", "k", "error")
MAX_BANDS = 4  # lines whose bands do not hide each other
MARKERS, STYLES = "os^DvPX", ("-", "--", "-.", ":")


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
    from matplotlib.ticker import PercentFormatter

    methods, ks, errors = _read_columns(curves)
    scored = isinstance(curves, Curves) and curves.scoring is not None
    sign = -1 if scored and curves.rising else 1  # scores are minus the errors
    percent = not scored and not ((errors < 0) | (errors > 1)).any()
    write = "{:.1%}".format if percent else "{:.3g}".format
    names = list(dict.fromkeys(methods[methods != BASELINE].tolist()))
    many, own = len(names) > MAX_BANDS, ax is None
    ax = _curve_axes(ax, 8.0 if many else 6.4)
    handles = []
    for name in names:
        each, means, spread = _mean_of_folds(ks[methods == name], errors[methods == name])
        least, label, best = np.inf, f"{name}: no errors", None
        if np.isfinite(means).any():
            best = int(np.nanargmin(means))
            least = float(means[best])
            label = f"{name}: {write(sign * least)} at k = {each[best]:g}"
        shaded = spread if bands or (bands is None and not many) else None
        handles.append((least, _draw_line(ax, each, sign * means, shaded, best, label)))
    handles.sort(key=lambda both: both[0])
    lines = [line for _, line in handles]
    known = sign * errors[(methods == BASELINE) & np.isfinite(errors)]
    if len(known):
        label = f"all {ks[methods == BASELINE].max():g} features: {write(known.mean())}"
        lines.append(_draw_level(ax, float(known.mean()), label))
    ax.set_ylabel(curves.measure.replace("_", " ") if scored else "error")
    if percent:
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    beside = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)} if own and many else {}
    _add_legend(ax, lines, **beside)
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
    ks, mean, error = _mean_of_folds(np.tile(results["k"], len(folds)), folds.ravel())
    chosen = int(np.flatnonzero(ks == selector.best_k_)[0])
    ax = _curve_axes(ax)
    label = f"k = {selector.best_k_} chosen: {mean[chosen]:.3g}"
    lines = [_draw_line(ax, ks, mean, error, chosen, label)]
    if selector.rule == "one-se":
        best = int(np.nanargmax(mean))
        threshold = float(mean[best] - error[best])
        label = f"best minus one standard error: {threshold:.3g}"
        lines.append(_draw_level(ax, threshold, label))
    ax.set_ylabel("score, mean over folds")
    _add_legend(ax, lines)
    return ax


def _curve_axes(ax: "Axes | None", width: float = 6.4) -> "Axes":
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


def _draw_line(
    ax: "Axes", ks: Floats, values: Floats, spread: Floats | None, mark: int | None, label: str
) -> Any:
    """Draw a line with a marker at one place, and a band around it."""
    (line,) = ax.plot(
        ks, values, linewidth=1.6, markevery=[] if mark is None else [mark], markersize=8,
        markeredgecolor=ax.get_facecolor(), label=label, zorder=3,
    )  # fmt: skip
    if spread is not None:
        low, high, colour = values - spread, values + spread, line.get_color()
        ax.fill_between(ks, low, high, color=colour, alpha=0.15, linewidth=0)
    return line


def _draw_level(ax: "Axes", height: float, label: str) -> Any:
    return ax.axhline(height, color=ink(ax), linestyle="--", linewidth=1, label=label)


def _add_legend(ax: "Axes", lines: list[Any], **where: Any) -> None:
    for text in ax.legend(handles=lines, framealpha=0.7, edgecolor="none", **where).get_texts():
        text.set(**PLAIN)


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


def _mean_of_folds(ks: Floats, values: Floats) -> tuple[Floats, Floats, Floats]:
    """Each k, and the mean and the standard error of its known values."""
    each = np.unique(ks)
    folds = [values[(ks == k) & np.isfinite(values)] for k in each]
    means = np.array([e.mean() if len(e) else np.nan for e in folds])
    spread = np.array([e.std(ddof=1) / len(e) ** 0.5 if len(e) > 1 else 0.0 for e in folds])
    return each, means, spread
