"""Items that every good choice has, or none has: proved by row bounds, again and again."""

from math import inf
from time import perf_counter

import numpy as np

from bestk.problem import BQP
from bestk.relaxations.antisymmetric import antisymmetric_bound
from bestk.relaxations.rounding import Bound
from bestk.relaxations.rows import rows_bound
from bestk.relaxations.subproblem import Subproblem, screen


def fix_items(
    part: Subproblem, floor: float, steps: int = 0, deadline: float = inf
) -> tuple[Subproblem, float]:
    """Decide items as long as bounds decide any; return the rest and an upper bound on all.

    An item is fixed in if every choice without it is worth less than ``floor``, and out if every
    choice with it is. The rest is smaller and its bound lower, which may decide more items. No
    choice is worth more than the larger of ``floor`` and the bound.

    Parameters
    ----------
    part : Subproblem
        The problem, or what is left of it.
    floor : float
        The value of the best known choice.
    steps : int, default=0
        Subgradient steps of each bound; 0 is the plain bound by rows.
    deadline : float, default=inf
        No bound starts after it, on the clock of ``time.perf_counter``.

    Examples
    --------
    >>> problem = BQP(np.diag([9.0, 8.0, 1.0, 0.0]), k=2)
    >>> rest, bound = fix_items(Subproblem.of(problem), floor=17.0)
    >>> rest.n, sorted(rest.inside.tolist()), round(bound, 6)
    (0, [0, 1], 17.0)
    """
    value = inf
    while perf_counter() < deadline:
        choice = part.settled()
        if choice is not None and part.k in (0, part.n):
            everything = np.ones(part.n, np.bool_)
            decided = (everything, ~everything) if part.k else (~everything, everything)
            return part.without(*decided), min(value, choice[1])
        bound = _bound(BQP.trusted(part.Q, part.k), floor - part.base, steps, deadline)
        value = min(value, part.base + bound.value)
        if bound.row_values is None:
            break
        inside, outside = screen(bound.value, bound.row_values, part.k, floor - part.base)
        if not (inside | outside).any():
            break
        if inside.sum() > part.k or part.n - outside.sum() < part.k:
            break  # the floor is above every choice
        part = part.without(inside, outside)
    return part, value


def _bound(problem: BQP, floor: float, steps: int, deadline: float) -> Bound:
    if steps == 0:
        return rows_bound(problem)
    return antisymmetric_bound(problem, deadline - perf_counter(), floor, steps)
