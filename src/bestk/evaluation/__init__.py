"""How well selected features predict: error against k, fair comparison, stability."""

from bestk.evaluation._comparison import Comparison, TTest, paired_t_test, win_tie_loss
from bestk.evaluation._curves import BASELINE, Curves, Row
from bestk.evaluation._error_curves import error_curves
from bestk.evaluation._models import linear_svm
from bestk.evaluation._stability import Stability, stability
from bestk.selection.shared import SharedEntropies, shared_tasks

__all__ = [
    "BASELINE",
    "Comparison",
    "Curves",
    "Row",
    "SharedEntropies",
    "Stability",
    "TTest",
    "error_curves",
    "linear_svm",
    "paired_t_test",
    "shared_tasks",
    "stability",
    "win_tie_loss",
]
