"""The quadratic problem, its choices and its solutions, independent of data."""

from bestk.problem.lazy import CachedColumns
from bestk.problem.problem import BQP
from bestk.problem.solution import Solution

__all__ = ["BQP", "CachedColumns", "Solution"]
