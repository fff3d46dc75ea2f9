"""The solvers by name."""

from bestk.solvers._auto import Auto
from bestk.solvers._base import Solver
from bestk.solvers._exact import Exact
from bestk.solvers._greedy import Backward, Forward
from bestk.solvers._linear import Linear
from bestk.solvers._lowrank import LowRank
from bestk.solvers._sdp import SDP
from bestk.solvers._search import Search
from bestk.solvers._simplex import Simplex
from bestk.solvers._spectral import Spectral
from bestk.solvers._swap import Swap
from bestk.solvers._tpower import TruncatedPower

SOLVERS: dict[str, Solver] = {
    solver.name: solver
    for solver in (
        Linear(),
        Spectral(),
        TruncatedPower(),
        LowRank(),
        SDP(),
        Forward(),
        Backward(),
        Swap(),
        Search(),
        Exact(),
        Simplex(),
        Auto(),
    )
}


def get_solver(solver: str | Solver) -> Solver:
    """The solver of that name, or the one given."""
    if hasattr(solver, "pick") and not isinstance(solver, str | type):
        return solver
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ValueError(f"unknown solver {solver!r}; choose one of {', '.join(SOLVERS)}")
    return SOLVERS[solver]
