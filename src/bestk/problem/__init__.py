"""The quadratic problem, its choices and its solutions, independent of data."""

from bestk.problem.lazy import CachedColumns
from bestk.problem.problem import (
    BQP,
    NO_ITEMS,
    best_first,
    good_choice,
    grow,
    grow_each,
    improve,
    top_k,
)
from bestk.problem.solution import Solution

__all__ = [
    "BQP",
    "NO_ITEMS",
    "CachedColumns",
    "Solution",
    "best_first",
    "good_choice",
    "grow",
    "grow_each",
    "improve",
    "top_k",
]
