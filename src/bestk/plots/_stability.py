"""How alike the features of different folds are, against their number."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bestk.plots._canvas import new_axes
from bestk.plots._lines import FEW, Line, draw_lines, tell_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_stability(
    curves: Any, *, bands: bool | None = None, legend: bool = True, ax: "Axes | None" = None
) -> "Axes":
    """Draw the stability of each method's selections against k, with its confidence interval.

    Parameters
    ----------
    curves : Curves
        From :func:`bestk.evaluation.error_curves`.
    bands : bool, default=None
        Whether to shade the confidence intervals; by default for up to four methods.
    legend : bool, default=True
        Whether to say which line is which.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from bestk.evaluation import Curves, Row
    >>> rows = [Row("jmi", 1, 0, 0.1, 9, 0.0, [3]), Row("jmi", 1, 1, 0.2, 9, 0.0, [3])]
    >>> ax = plot_stability(Curves(tuple(rows), "abcde", "nested"), ax=Figure().subplots())
    >>> ax.lines[0].get_ydata()
    array([1.])
    """
    if not hasattr(curves, "stability"):
        raise TypeError(
            "stability is drawn from Curves, as bestk.evaluation.error_curves returns them, "
            f"not {type(curves).__name__}"
        )
    ks = np.array(curves.ks, np.float64)
    lines = []
    for method, measured in curves.stability().items():
        values = np.array([(s.index, s.lower, s.upper) for s in measured], np.float64)
        lines.append(Line(method, ks, *values.T))
    own = ax is None
    ax = new_axes(ax, 6.4 if len(lines) <= FEW else 8.0)
    artists = draw_lines(ax, lines, bands)
    ax.set_ylabel("stability (1: the same features in every fold)")
    if legend:
        order = sorted(range(len(lines)), key=lambda i: -lines[i].values.mean())
        tell_apart(ax, [artists[i] for i in order], own=own)
    return ax
