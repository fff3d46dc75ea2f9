"""Relaxations of the quadratic problem, shared by bounds and solvers."""

from bestk.relaxations.dnn import Gap, dnn_bound
from bestk.relaxations.eigen import lanczos, product
from bestk.relaxations.rows import (
    Branching,
    antisymmetric_bound,
    fix_items,
    linear_bound,
    rows_bound,
)
from bestk.relaxations.sdp import only_choice, relax, sdp_bound
from bestk.relaxations.spheres import LowRankFactor
from bestk.relaxations.subproblem import (
    Bound,
    Fixed,
    Subproblem,
    largest_entry,
    moderate,
    rounding,
    screen,
)

__all__ = [
    "Bound",
    "Branching",
    "Fixed",
    "Gap",
    "LowRankFactor",
    "Subproblem",
    "antisymmetric_bound",
    "dnn_bound",
    "fix_items",
    "lanczos",
    "largest_entry",
    "linear_bound",
    "moderate",
    "only_choice",
    "product",
    "relax",
    "rounding",
    "rows_bound",
    "screen",
    "sdp_bound",
]
