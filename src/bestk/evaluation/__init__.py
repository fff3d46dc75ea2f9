"""How well selected features predict: error against k, fair comparison, stability."""

from bestk.evaluation._classifier import linear_svm
from bestk.evaluation._compare import Comparison, TTest, paired_t_test, win_tie_loss
from bestk.evaluation._curves import Curves, Row
from bestk.evaluation._error_curves import error_curves
from bestk.evaluation._stability import Stability, stability

__all__ = [
    "Comparison",
    "Curves",
    "Row",
    "Stability",
    "TTest",
    "error_curves",
    "linear_svm",
    "paired_t_test",
    "stability",
    "win_tie_loss",
]
