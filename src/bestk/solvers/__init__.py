"""Solvers of the quadratic problem, their registry, and the functions that run them."""

from bestk.relaxations import Fixed
from bestk.solvers._base import Run, Solver
from bestk.solvers._path import solve_each, solve_path
from bestk.solvers._referee import (
    SOLVERS,
    BoundEffort,
    get_solver,
    prove,
    solve,
    solve_problem,
    with_useful_bound,
)

__all__ = [
    "SOLVERS",
    "BoundEffort",
    "Fixed",
    "Run",
    "Solver",
    "get_solver",
    "prove",
    "solve",
    "solve_each",
    "solve_path",
    "solve_problem",
    "with_useful_bound",
]
