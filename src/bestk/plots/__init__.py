"""Plots of selected features, and of errors against their number.

Each function draws into the given axes or makes a new figure, returns the axes, and neither shows
nor saves anything. matplotlib comes with ``pip install 'bestk[plots]'``.
"""

from bestk.plots._curves import plot_error_curves
from bestk.plots._selection import cut_middle as cut_middle
from bestk.plots._selection import plot_features, plot_pairs
from bestk.plots._selection import read_solution as read_solution
from bestk.plots._selection import shorten as shorten

__all__ = ["plot_error_curves", "plot_features", "plot_pairs"]
