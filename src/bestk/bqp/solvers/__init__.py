"""Solvers of the quadratic problem, their registry, and the functions that run them."""

from bestk.bqp.solvers._base import Effort, Run, Solver
from bestk.bqp.solvers._path import solve_each, solve_path
from bestk.bqp.solvers._referee import SOLVERS, get_solver, solve, solve_problem, with_useful_bound

__all__ = [
    "SOLVERS",
    "Effort",
    "Run",
    "Solver",
    "get_solver",
    "solve",
    "solve_each",
    "solve_path",
    "solve_problem",
    "with_useful_bound",
]
