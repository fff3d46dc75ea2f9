"""The solvers by name."""

from bestk.bqp.solvers._base import Solver
from bestk.bqp.solvers._exact import Exact
from bestk.bqp.solvers._greedy import Forward, Linear, Spectral, Swap
from bestk.bqp.solvers._lowrank import LowRank
from bestk.bqp.solvers._sdp import SDP
from bestk.bqp.solvers._search import Search
from bestk.bqp.solvers._simplex import Simplex
from bestk.bqp.solvers._tpower import TruncatedPower
from bestk.errors import ParameterError, Registry

# To add a solver, add its line here.
SOLVERS: Registry[Solver] = Registry(
    "solver",
    {
        "linear": Linear(),
        "spectral": Spectral(),
        "tpower": TruncatedPower(),
        "lowrank": LowRank(),
        "sdp": SDP(),
        "forward": Forward(),
        "swap": Swap(),
        "search": Search(),
        "exact": Exact(),
        "simplex": Simplex(),
    },
)


def get_solver(solver: str | Solver) -> Solver:
    """The solver of that name, or the one given."""
    if isinstance(solver, str):
        return SOLVERS[solver]
    if isinstance(solver, Solver):
        return solver
    raise ParameterError(
        f"solver must be a name from SOLVERS or a solver, an object of a subclass of "
        f"bestk.bqp.Solver, not {solver!r}"
    )
