"""How well selected features predict: error against k, fair comparison, stability."""

from bestk.evaluation._comparison import Comparison, win_tie_loss
from bestk.evaluation._curves import BASELINE, Curves, Row, Stability, stability
from bestk.evaluation._error_curves import error_curves
from bestk.evaluation._study import linear_svm
from bestk.selection.shared import SharedEntropies, shared_tasks

__all__ = [
    "BASELINE",
    "Comparison",
    "Curves",
    "Row",
    "SharedEntropies",
    "Stability",
    "error_curves",
    "linear_svm",
    "shared_tasks",
    "stability",
    "win_tie_loss",
]
