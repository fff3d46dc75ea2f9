"""Pictures of selected features, of the errors of methods, and of the progress of a solve.

Each function draws into the axes it is given or makes a figure of its own, returns the axes, and
neither shows nor saves anything. matplotlib comes with ``pip install 'bestk[plots]'``.
"""

from bestk.plots._convergence import plot_convergence
from bestk.plots._curves import plot_error_curves
from bestk.plots._features import plot_features
from bestk.plots._pairs import plot_pairs
from bestk.plots._progress import Progress, watch
from bestk.plots._scores import plot_cv_scores
from bestk.plots._stability import plot_stability

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
