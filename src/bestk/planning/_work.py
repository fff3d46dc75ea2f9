"""How many pairs a path counts, and what a pair costs by the kernels' own model."""

from collections.abc import Callable
from typing import Any

from bestk.criteria import DISR, NJMIM, get_criterion
from bestk.information._blend import WHOLE
from bestk.information.backends._costs import LANES, SAMPLE_COST, planes_cost
from bestk.information.backends._native import MOST_PLANE_LEVELS
from bestk.information.backends._packed import WORD
from bestk.methods import Greedy, Quadratic, get_method
from bestk.planning._path import Path
from bestk.planning._shape import Shape
from bestk.solvers._registry import get_solver
from bestk.solvers._search import CORE
from bestk.solvers._swap import FEWEST, GROW, LOOK

NORMAL_PAIR, NORMAL_ROW = 15.0, 0.1  # nanoseconds for a pair of numbers, and for each of its rows


def pairs_counted(shape: Shape, path: Path, method: Any, k: int) -> int:
    """Pairs of features that are counted, a pair as often as it is."""
    n = shape.columns
    if path.pairs == "none":
        return 0
    if path.rows == "counts" or path.pairs == "matrix":
        by_strips = len(path.counted) + path.covariances > 1 and 8 * n * n > WHOLE
        return n * n if by_strips else n * (n - 1) // 2
    return n * columns_made(method, n, k)


def columns_made(method: Any, n: int, k: int) -> int:
    """Columns of pairs that a method asks for where none are kept ready, about.

    Examples
    --------
    >>> columns_made("jmi", 1_000_000, 100), columns_made("tpower", 1_000_000, 100)
    (99, 456)
    """
    chosen = get_method(method)
    if isinstance(chosen, Greedy):
        criterion = get_criterion(chosen.criterion)
        twice = isinstance(criterion, DISR | NJMIM)  # they divide one measure by another
        return (k - 1) * (2 if twice else 1) if criterion.uses_pairs else 0
    solver: Any = get_solver(chosen.solver) if isinstance(chosen, Quadratic) else None
    return min(_ASKED.get(getattr(solver, "name", ""), _all)(solver, n, k), n + 2 * k)


def columns_together(method: Any, n: int, k: int) -> int:
    """Those of the columns that are asked for at once, which takes less than one by one."""
    solver: Any = getattr(get_method(method), "solver", None)
    chosen: Any = None if solver is None else get_solver(solver)
    if getattr(chosen, "name", "") == "swap" and swap_starts(chosen, n, k):
        return max(FEWEST, LOOK // n)
    return getattr(chosen, "sample", None) or 0


def _all(solver: Any, n: int, k: int) -> int:
    return n


def _swap(solver: Any, n: int, k: int) -> int:
    """The greedy start, partners of the most relevant items, and starts that end much alike."""
    return 2 * k + max(FEWEST, LOOK // n) if swap_starts(solver, n, k) else k


def swap_starts(solver: Any, n: int, k: int) -> int:
    """Pairs that the solver by swaps starts from, beside the greedy start."""
    return max(0, min(solver.pairs, GROW // (n * k))) if 2 <= k < n else 0


def _tpower(solver: Any, n: int, k: int) -> int:
    """Row sums, all of them or a sample; the starts, and as much again for the climb."""
    return row_sums(n) + k if n <= solver.exact_rows else solver.sample + 2 * k


def row_sums(n: int) -> int:
    """Columns' worth of pairs, each counted once."""
    return -(-n // 2)


def adds_up_rows(method: Any, n: int) -> bool:
    """Whether a method needs all row sums, for which pairs are counted as for a matrix."""
    solver: Any = getattr(get_method(method), "solver", None)
    chosen: Any = None if solver is None else get_solver(solver)
    if getattr(chosen, "name", "") == "linear":
        return not chosen.sample or chosen.sample >= n
    tpower = get_solver("tpower") if getattr(chosen, "name", "") == "auto" else chosen
    return n <= getattr(tpower, "exact_rows", 0)


def _linear(solver: Any, n: int, k: int) -> int:
    return solver.sample if solver.sample and solver.sample < n else row_sums(n)


def _search(solver: Any, n: int, k: int) -> int:
    return min(n, 2 * k + max(CORE, min(3 * k, 16 * CORE)))


def _auto(solver: Any, n: int, k: int) -> int:
    return k + _tpower(get_solver("tpower"), n, k) + _search(solver, n, k)


_ASKED: dict[str, Callable[[Any, int, int], int]] = {
    "forward": lambda solver, n, k: k,
    "swap": _swap,
    "tpower": _tpower,
    "linear": _linear,
    "search": _search,
    "auto": _auto,
}


def pair_cost(shape: Shape, path: Path) -> float:
    """Nanoseconds of one core for a pair, over all estimates, as the kernels expect.

    Examples
    --------
    >>> path = Path("discrete", (None,), False, "table", "matrix")
    >>> pair_cost(Shape(1000, 100), path) < pair_cost(Shape(1000, 100, levels=5), path)
    True
    """
    numbers = shape.numeric / shape.columns
    normal = numbers**2 * (NORMAL_PAIR + NORMAL_ROW * shape.rows) if path.covariances else 0.0
    return normal + sum(_counted_cost(shape, way) for way in path.counted)


def _counted_cost(shape: Shape, discretizer: Any) -> float:
    """The mean over pairs of columns of every kind."""
    kinds = shape.kinds(discretizer)
    words = shape.classes * -(-shape.rows // (shape.classes * WORD))
    by_rows = SAMPLE_COST * shape.rows
    total = 0.0
    for some, a in kinds:
        for others, b in kinds:
            planes = planes_cost(a - 1, b - 1, words, shape.classes) / LANES
            best = min(planes, by_rows) if max(a, b) <= MOST_PLANE_LEVELS else by_rows
            total += some * others / shape.columns**2 * best
    return total


def plane_bytes(shape: Shape, path: Path) -> float:
    """What the kernels read of the table, for all columns once."""
    numbers = 8.0 * shape.numeric * shape.rows if path.covariances else 0.0
    return numbers + sum(shape.planes(way) * shape.rows / 8.0 for way in path.counted)
