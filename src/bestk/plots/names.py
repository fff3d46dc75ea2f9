"""Names of features as labels: short, and different from each other."""

import re
from collections.abc import Sequence
from typing import Any

from bestk.problem.solution import Solution

MAX_LABEL = 28  # characters


def read_solution(solution: Any, *wanted: str) -> Solution:
    """The solution, or that of a fitted selector; its details must contain what is wanted."""
    found = getattr(solution, "solution_", solution)
    if not isinstance(found, Solution):
        raise TypeError(
            f"expected a Solution or a fitted selector, not {type(solution).__name__}; "
            "get one from bestk.select(X, y, k)"
        )
    for name in wanted:
        if name not in found.details:
            raise ValueError(
                f"this solution has no details[{name!r}], because its solver was given a matrix "
                "and no features; get one from bestk.select(X, y, k) or SelectBestK"
            )
    return found


def shorten(names: Sequence[str], items: Sequence[int], longest: int = MAX_LABEL) -> list[str]:
    """Names cut in the middle to fit; equal results lose their common start.

    Names that are still equal get the number of their item.

    Examples
    --------
    >>> shorten(["mean radius", "concentration of sodium in serum"], [0, 1], 16)
    ['mean radius', 'concentr…n serum']
    >>> shorten(["expression of gene 12 in liver", "expression of gene 13 in liver"], [0, 1], 16)
    ['…12 in liver', '…13 in liver']
    >>> shorten(["x", "x"], [4, 7])
    ['x #4', 'x #7']
    """
    clean = [" ".join(name.split()) for name in names]
    short = [_cut(name, longest) for name in clean]
    for equal in _groups(short):
        start = _common_start([clean[i] for i in equal])
        for i in equal if start else ():
            short[i] = _cut(f"…{clean[i][start:]}", longest)
    for equal in _groups(short):
        for i in equal:
            short[i] = f"{_cut(short[i], longest - 6)} #{items[i]}"
    return short


def _groups(labels: Sequence[str]) -> list[list[int]]:
    """Places of equal labels."""
    places: dict[str, list[int]] = {}
    for i, label in enumerate(labels):
        places.setdefault(label, []).append(i)
    return [equal for equal in places.values() if len(equal) > 1]


def _common_start(names: Sequence[str]) -> int:
    """Number of letters with which different names begin, up to the end of a word."""
    first = min(names)
    if first == max(names):
        return 0
    same = max(i for i in range(len(first) + 1) if all(n.startswith(first[:i]) for n in names))
    return len(re.sub(r"[^\W_]*$", "", first[:same]))


def _cut(name: str, longest: int) -> str:
    if len(name) <= longest:
        return name
    tail = (longest - 1) // 2
    return f"{name[: longest - 1 - tail]}…{name[len(name) - tail :]}"
