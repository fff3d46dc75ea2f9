"""Names of features as labels: short, different from each other, never read as formulas."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bestk.problem.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axis import Axis

LONGEST = 28  # characters of a label
PLAIN: dict[str, Any] = {"parse_math": False}  # a $ in a name is a dollar


def read_solution(solution: Any, *wanted: str) -> Solution:
    """A solution, or that of a fitted selector, whose details tell what is wanted."""
    found = getattr(solution, "solution_", solution)
    if not isinstance(found, Solution):
        raise TypeError(
            f"a Solution or a fitted selector is wanted, not {type(solution).__name__}; "
            "get one from bestk.select(X, y, k)"
        )
    for name in wanted:
        if name not in found.details:
            raise ValueError(
                f"this solution has no details[{name!r}], because its solver saw a matrix and no "
                "features; get one from bestk.select(X, y, k) or SelectBestK"
            )
    return found


def labels_of(solution: Solution, longest: int = LONGEST) -> list[str]:
    """A label for each selected feature, in their order."""
    items = [int(item) for item in solution.support]
    names = items if solution.names is None else [solution.names[item] for item in items]
    return shorten([str(name) for name in names], items, longest)


def shorten(names: Sequence[str], items: Sequence[int], longest: int = LONGEST) -> list[str]:
    """Names cut in the middle to fit; those that then look the same lose how they all begin.

    Where they still look the same, they get the number of their item.

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
    for alike in _groups(short):
        start = _common_start([clean[i] for i in alike])
        for i in alike if start else ():
            short[i] = _cut(f"…{clean[i][start:]}", longest)
    for alike in _groups(short):
        for i in alike:
            short[i] = f"{_cut(short[i], longest - 6)} #{items[i]}"
    return short


def _groups(labels: Sequence[str]) -> list[list[int]]:
    """Places of labels that are the same."""
    places: dict[str, list[int]] = {}
    for i, label in enumerate(labels):
        places.setdefault(label, []).append(i)
    return [alike for alike in places.values() if len(alike) > 1]


def _common_start(names: Sequence[str]) -> int:
    """Letters with which different names begin, up to the end of a word."""
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


def name_ticks(axis: "Axis", labels: Sequence[str], size: float, room: float, **text: Any) -> None:
    """Put a label at each of 0, 1, 2, ..., or at every so many where there is no room for all.

    ``size`` and ``room`` are in points: of the letters, and from one label to the next.
    """
    every = max(1, int(np.ceil(size / max(room, 1e-9))))
    places = range(0, len(labels), every)
    axis.set_ticks(places, [labels[i] for i in places], fontsize=size, **PLAIN, **text)
    axis.set_tick_params(which="both", length=0)
