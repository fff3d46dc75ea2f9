"""Notes on features that are selected though they say nothing alone."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bestk.solution import ROUNDING, Solution
from bestk.table import Table

ADVICE = "try a smaller -k, or -k auto"


def about_idle(table: Table, solution: Solution) -> Iterator[str]:
    """A note on those that are constant, and one on the others."""
    idle = solution.support[np.abs(solution.details["relevance"]) < ROUNDING]
    same = _constant(table, idle)
    if same.any():
        names, one = _named(table, idle[same])
        yield f"{names}: selected, though {'it is' if one else 'they are'} constant; {ADVICE}"
    if not same.all():
        names, one = _named(table, idle[~same])
        says = "it says" if one else "they say"
        yield (
            f"{names}: selected, though alone {says} nothing of the target, as the columns left "
            f"repeat others or tell no more; {ADVICE}"
        )


def _named(table: Table, places: Any) -> tuple[str, bool]:
    """The names of columns, and whether it is one."""
    return ", ".join(str(table.names[j]) for j in places.tolist()), len(places) == 1


def _constant(table: Table, places: Any) -> Any:
    """Which columns have the same value in all rows, or none at all; rows not held are unknown."""
    constant = np.zeros(table.n_features, dtype=bool)
    for block in table.keep(np.sort(places)).blocks:
        for columns, values in block.strips():
            missing = block.missing(values)
            alike = (values == values[:1]) | (missing & missing[:1])
            constant[np.sort(places)[columns]] = alike.all(axis=0)
    return constant[places]
