"""Names of features as labels: short, different from each other, never read as formulas."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bestk.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axis import Axis

LONGEST = 28  # characters of a label
PLAIN = {"parse_math": False}  # a $ in a name is a dollar


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
    """Names cut in the middle to fit; those that then look the same get their number.

    Examples
    --------
    >>> shorten(["mean radius", "concentration of sodium in serum"], [0, 1], 16)
    ['mean radius', 'concentr…n serum']
    >>> shorten(["a very long name 1 of two", "a very long name 2 of two"], [4, 7], 12)
    ['a ver…wo #4', 'a ver…wo #7']
    """
    clean = [" ".join(name.split()) for name in names]
    short = [_cut(name, longest) for name in clean]
    often = Counter(short)
    return [
        label if often[label] == 1 else f"{_cut(name, longest - len(end := f' #{item}'))}{end}"
        for label, name, item in zip(short, clean, items, strict=True)
    ]


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
