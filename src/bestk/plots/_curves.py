"""Error against the number of features, a line for each method."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bestk.evaluation._curves import BASELINE, Curves
from bestk.plots._canvas import ink, new_axes, write_ticks
from bestk.plots._lines import FEW, Line, draw_lines, tell_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]
COLUMNS = ("method", "k", "error")


def plot_error_curves(
    curves: Any,
    *,
    bands: bool | None = None,
    legend: bool = True,
    percent: bool | None = None,
    log: bool = False,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the mean error over folds against k, a line for each method.

    The least error of each is marked, at the smallest k of equals. The rows of all features, if
    there are any, become a dashed line.

    Parameters
    ----------
    curves : Curves, or table with columns "method", "k" and "error"
        From :func:`bestk.evaluation.error_curves`, or your own: a row for each method, k and
        fold, those of all features with the method "all". NaN errors are left out.
    bands : bool, default=None
        Whether to shade one standard error about the mean; by default for up to four methods.
    legend : bool, default=True
        Whether to say which line is which: at their ends, where these lie apart in a figure of
        its own, or in a legend, the least error first.
    percent : bool, default=None
        Whether errors are shares, to be written in percent; by default if all lie in 0 to 1.
    log : bool, default=False
        Whether the errors get a logarithmic scale, which shows small ones beside large ones.
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
    methods, ks, errors = _columns(curves)
    percent = _are_shares(errors) if percent is None else percent
    names = dict.fromkeys(methods[methods != BASELINE].tolist())
    lines = [_line(str(n), ks[methods == n], errors[methods == n], percent) for n in names]
    own = ax is None
    ax = new_axes(ax, 6.4 if len(lines) <= FEW else 8.0)
    artists = draw_lines(ax, lines, bands)
    best_first = sorted(artists, key=lambda artist: _least(artist.get_ydata()))
    all_features = methods == BASELINE
    best_first += _draw_baseline(ax, ks[all_features], errors[all_features], percent)
    ax.set(ylabel="error", yscale="log" if log else "linear")
    write_ticks(ax.yaxis, lambda value: f"{100 * value:.3g}%" if percent else f"{value:.4g}")
    if legend:
        tell_apart(ax, best_first, own=own)
    return ax


def _columns(curves: Any) -> tuple[NDArray[Any], Floats, Floats]:
    """The methods, ks and errors of all rows."""
    try:
        if isinstance(curves, Curves):
            columns = [[getattr(row, name) for row in curves.rows] for name in COLUMNS]
        else:
            columns = [np.asarray(curves[name]).tolist() for name in COLUMNS]
    except Exception as failure:  # each kind of table has its own for a column that is not there
        raise ValueError(
            "error curves are drawn from Curves, as bestk.evaluation.error_curves returns them, or "
            f"from a table with columns 'method', 'k' and 'error'; got {type(curves).__name__}"
        ) from failure
    methods, ks, errors = columns
    if not methods:
        raise ValueError("there is nothing to draw: the curves have no rows")
    return np.array(methods, object), np.array(ks, np.float64), np.array(errors, np.float64)


def _line(method: str, ks: Floats, errors: Floats, percent: bool) -> Line:
    """Mean and standard error for each k, and the k of the least mean."""
    each = np.unique(ks)
    folds = [errors[(ks == k) & np.isfinite(errors)] for k in each]
    means = np.array([e.mean() if len(e) else np.nan for e in folds])
    sure = np.array([e.std(ddof=1) / len(e) ** 0.5 if len(e) > 1 else 0.0 for e in folds])
    if np.isnan(means).all():
        return Line(f"{method}: no errors", each, means, means, means)
    best = int(np.nanargmin(means))
    label = f"{method}: {_write(means[best], percent)} at k = {each[best]:g}"
    return Line(label, each, means, means - sure, means + sure, best)


def _draw_baseline(ax: "Axes", ks: Floats, errors: Floats, percent: bool) -> "list[Line2D]":
    """A dashed line at the mean error of all features, if it is known."""
    known = errors[np.isfinite(errors)]
    if not len(known):
        return []
    label = f"all {ks.max():g} features: {_write(known.mean(), percent)}"
    return [ax.axhline(known.mean(), color=ink(ax), linestyle="--", linewidth=1, label=label)]


def _least(values: Any) -> float:
    known = np.asarray(values)[np.isfinite(values)]
    return float(known.min()) if len(known) else np.inf


def _are_shares(errors: Floats) -> bool:
    return bool(((errors >= 0) & (errors <= 1) | np.isnan(errors)).all())


def _write(error: float, percent: bool) -> str:
    return f"{error:.1%}" if percent else f"{error:.3g}"
