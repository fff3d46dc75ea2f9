"""Score in cross-validation against the number of features, and the number chosen."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bestk.plots._canvas import ink, new_axes
from bestk.plots._lines import Line, draw_lines, tell_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_cv_scores(selector: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the mean score over folds against k, one standard error about it, and the chosen k.

    With ``rule="one-se"`` a dashed line shows what the chosen k had to reach.

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
        raise TypeError(f"a fitted SelectBestKCV is wanted, not {type(selector).__name__}")
    results = selector.cv_results_
    folds = np.array([v for name, v in results.items() if name.startswith("split")])
    mean = folds.mean(axis=0)
    sure = folds.std(axis=0, ddof=1) / len(folds) ** 0.5 if len(folds) > 1 else 0 * mean
    chosen = int(np.flatnonzero(results["k"] == selector.best_k_)[0])
    label = f"k = {selector.best_k_} chosen: {mean[chosen]:.3g}"
    own = ax is None
    ax = new_axes(ax)
    line = Line(label, results["k"], mean, mean - sure, mean + sure, chosen)
    artists = draw_lines(ax, [line], bands=True)
    if selector.rule == "one-se":
        best = int(np.nanargmax(mean))
        threshold = float(mean[best] - sure[best])
        label = f"best less one standard error: {threshold:.3g}"
        artists.append(
            ax.axhline(threshold, color=ink(ax), linestyle="--", linewidth=1, label=label)
        )
    ax.set_ylabel("score, mean over folds")
    tell_apart(ax, artists, own=own)
    return ax
