"""How well selected features predict: error against k, fair comparison, stability."""

from bestk.evaluation._curves import BASELINE, Curves, Row, stability, t_statistics
from bestk.evaluation._error_curves import error_curves

__all__ = ["BASELINE", "Curves", "Row", "error_curves", "stability", "t_statistics"]
