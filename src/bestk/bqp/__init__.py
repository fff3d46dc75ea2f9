"""Cardinality-constrained binary quadratic problems: maximise x'Qx over choices of k items.

A library of its own: it knows nothing of tables, features or information. ``BQP`` states a
problem, ``solve`` and ``solve_path`` choose items, and ``upper_bound`` proves how good a choice can
be. ``Solver`` is what a solver must be, and ``SOLVERS`` holds those that there are.

Read in this order: ``problem.py``, the problem and what is quick to compute of a choice;
``solvers/``, one file for each way of choosing; ``bounds.py``, which bound is computed when; and
``relaxations/``, the mathematics of the bounds.

Examples
--------
>>> Q = [[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]]
>>> solution = solve(Q, k=2, solver="exact")
>>> solution.support, solution.objective, solution.upper_bound
(array([0, 1]), 10.0, 10.0)
"""

from bestk.bqp.bounds import BOUNDS, upper_bound
from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP
from bestk.bqp.solution import Solution
from bestk.bqp.solvers import SOLVERS, Run, Solver, solve, solve_path

__all__ = [
    "BOUNDS",
    "BQP",
    "SOLVERS",
    "CachedColumns",
    "Run",
    "Solution",
    "Solver",
    "solve",
    "solve_path",
    "upper_bound",
]
