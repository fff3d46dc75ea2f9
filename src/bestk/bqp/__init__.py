"""The quadratic problem, its choices and its solutions, independent of data."""

from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP
from bestk.bqp.solution import Solution

__all__ = ["BQP", "CachedColumns", "Solution"]
