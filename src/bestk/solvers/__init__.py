"""Solvers of the quadratic problem: one file each, one registry, one referee."""

from bestk.solvers._path import solve_path
from bestk.solvers._referee import solve
from bestk.solvers._registry import SOLVERS, get_solver

__all__ = ["SOLVERS", "get_solver", "solve", "solve_path"]
