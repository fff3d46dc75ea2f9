"""Solvers of the quadratic problem, their registry, and the functions that run them."""

from bestk.bqp.solvers._base import Effort, Run, Solver
from bestk.bqp.solvers._path import solve_each, solve_path
from bestk.bqp.solvers._referee import solve, solve_problem, with_useful_bound
from bestk.bqp.solvers._registry import SOLVERS, get_solver

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
