"""Plots of selected features, of the errors of methods, and of the convergence of a solver.

Each function draws into the given axes or makes a new figure, returns the axes, and neither shows
nor saves anything. matplotlib comes with ``pip install 'bestk[plots]'``.
"""

from bestk.plots._convergence import Progress, plot_convergence, watch
from bestk.plots._curves import plot_cv_scores, plot_error_curves, plot_stability
from bestk.plots._selection import plot_features, plot_pairs

__all__ = [
    "Progress",
    "plot_convergence",
    "plot_cv_scores",
    "plot_error_curves",
    "plot_features",
    "plot_pairs",
    "plot_stability",
    "watch",
]
