"""What an item is worth with its k - 1 best partners: bounds, items that they fix, branching."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Floats, Indices, Mask
from bestk.bqp.problem import BQP, grow, largest_entry
from bestk.bqp.relaxations.budget import OPERATIONS_PER_SECOND, Budget
from bestk.bqp.relaxations.subproblem import Bound, k_largest, rounding
from bestk.native import kernels
from bestk.native.threads import run_tiles, spans

# Rows of the matrix that are read at a time.
STRIP = 256
# Entries that are read at a time, where rows are short.
STRIP_ENTRIES = 2**21
# Entries of the rows that one thread reads at a time, where rows are short.
TILE_ENTRIES = 2**20
# Operations that multipliers may take without a time limit: about a minute.
MAX_OPERATIONS = 60e9
# Operations to read an entry of the matrix and to find the largest ones of its row, three times.
OPERATIONS_OF_PASS = 10.0
# Operations of a step of the multipliers: for each of the k n + k^3 entries that it moves.
OPERATIONS_OF_MOVE = 1.0
# Operations of a step of the multipliers, however few entries it moves.
OPERATIONS_OF_STEP = 3e3
# Entries of the rows that have multipliers, at most: 1 GiB.
MAX_HELD = 2**27
# The multipliers have converged when their steps aim at less than this share of the bound.
MIN_TARGET_STEP = 1e-5
# The first step of the multipliers aims at this share of the bound.
FIRST_TARGET_STEP = 0.05
# Shares of the mean of Q_ij over a good choice that are tried as first multipliers.
ADDITIVE = (0.0, 0.5, 1.0)
# Steps of the multipliers from one check of the progress to the next, at least.
MIN_WINDOW = 50


def rows_bound(problem: BQP) -> Bound:
    """Bound each chosen row by its diagonal entry and its k - 1 largest other entries.

    With r_i = Q_ii + the k - 1 largest Q_ij, x'Qx is at most the sum of the k largest r_i.
    """
    values = row_values(problem.matrix, problem.diagonal, problem.k)
    margin = rounding(2 * problem.k, problem.k**2 * problem.largest)
    return Bound(k_largest(values, problem.k) + margin, "rows", row_values=values)


def row_values(Q: Floats, linear: Floats, k: int) -> Floats:
    """For each i, linear_i + the k - 1 largest Q_ij with j other than i."""
    if k == 1:
        return linear
    items = np.arange(len(Q))
    _, _, sums = row_tops(np.ascontiguousarray(Q), items, k)
    return linear + sums


def row_tops(
    rows: Floats,
    items: Indices,
    k: int,
    shift: Floats | None = None,
    candidates: Indices | None = None,
) -> tuple[Indices, Floats, Floats]:
    """The k - 1 largest entries of each row, less a shift of their columns.

    rows: shape (m, n), contiguous; items: the item of each of the m rows, whose own entry does not
    count.
    shift: taken off each of the n columns. A column with the shift infinity does not count, and
    the row of its item is not read: its sum is 0.
    candidates: shape (m, any), where the largest entries of each row were when fewer columns had
    the shift infinity; they are looked at first.

    Returns where the largest entries are, shape (m, k - 1), the smallest of them, and their sums.
    """
    m, n = rows.shape
    n_candidates = 0 if candidates is None else candidates.shape[1]
    tops = np.empty((m, k - 1), np.int64)
    lowest_tops = np.empty(m)
    sums = np.empty(m)

    def find(span: tuple[int, int]) -> None:
        strip = slice(*span)
        kernels.row_tops(
            rows[strip],
            span[1] - span[0],
            n,
            items[strip],
            shift,
            None if candidates is None else candidates[strip],
            n_candidates,
            k - 1,
            tops[strip],
            lowest_tops[strip],
            sums[strip],
        )

    run_tiles(find, spans(m, max(STRIP, TILE_ENTRIES // n)))
    return tops, lowest_tops, sums


def linear_bound(problem: BQP) -> Bound:
    """Bound x'Qx by the sum of the k largest row sums, LP2 of Venkateswara et al. (2015).

    A negative entry off the diagonal counts as zero, which can only raise x'Qx, so the bound
    holds for every symmetric Q; for Q >= 0 it is the optimal value of LP2.
    """
    Q = problem.matrix
    n = problem.n
    k = problem.k
    positive = np.empty(n)
    for first, last in spans(n, STRIP):
        positive[first:last] = np.maximum(Q[first:last], 0.0).sum(axis=1)
    sums = positive + np.minimum(problem.diagonal, 0.0)
    margin = rounding(n, k * n * problem.largest)
    return Bound(k_largest(sums, k) + margin, "linear", row_values=sums)


def antisymmetric_bound(
    problem: BQP,
    time_limit: float | None = None,
    best_known: float | None = None,
    steps: int | None = None,
) -> Bound:
    """Bound x'Qx by rows of Q + A, where A is antisymmetric and chosen to make the bound low.

    x'Ax = 0 for every x, so with r_i = Q_ii + the k - 1 largest Q_ij + A_ij, the sum of the k
    largest r_i is a bound for every such A. The first A_ij is a_i - a_j, a_i the mean of Q_ij over
    a greedy choice; subgradient steps follow. Every step gives a bound, and the lowest counts.
    Where there are very many items, only the rows of the largest r_i take part in the steps; a
    lazy matrix is read by columns, twice. The bound is infinity if the time does not suffice for
    one pass over the matrix. No step aims below ``best_known``, by default a greedy value.
    """
    budget = Budget.within(time_limit, MAX_OPERATIONS)
    return antisymmetric_within(problem, budget, best_known, steps)


def antisymmetric_within(
    problem: BQP,
    budget: Budget,
    best_known: float | None = None,
    steps: int | None = None,
) -> Bound:
    """The bound of :func:`antisymmetric_bound` within a budget."""
    n = problem.n
    k = problem.k
    no_bound = Bound(inf, "antisymmetric")
    start = budget.spent
    chosen = grow(problem, deadline=budget.deadline)
    aim = problem.value(chosen) if best_known is None else best_known
    mean_with_chosen = problem.product(chosen) / k
    operations_of_pass = OPERATIONS_OF_PASS * n**2
    if not budget.is_timed and operations_of_pass > OPERATIONS_PER_SECOND * budget.left:
        return no_bound
    budget.spend(operations_of_pass)
    additive = [share * mean_with_chosen for share in ADDITIVE]
    values = np.tile(problem.diagonal, (len(ADDITIVE), 1))  # r_i of each of these multipliers
    size = 0.0
    for items, rows in _strips(problem):
        if budget.left < 0:
            return no_bound
        size = max(size, largest_entry(rows))
        if k > 1:
            for r, a in zip(values, additive, strict=True):
                _, _, sums = row_tops(rows, items, k, shift=a)
                r[items] += (k - 1) * a[items] + sums
    bounds = [k_largest(r, k) for r in values]
    best = bounds.index(min(bounds))
    a = additive[best]
    values_of_best = values[best]
    size += 2 * largest_entry(a)
    max_rows = min(n, max(2 * k, MAX_HELD // n))
    # To copy rows takes about as long as they took in the pass.
    seconds_of_pass = budget.spent - start
    is_time_for_all = seconds_of_pass * max_rows / n < budget.left
    n_rows = max_rows if is_time_for_all else min(n, 2 * k)
    largest_first = np.argsort(-values_of_best, kind="stable")
    held = np.sort(largest_first[:n_rows])
    rows = np.ascontiguousarray(problem.columns(held).T)  # a copy
    for first, last in spans(len(held), STRIP):
        rows[first:last] += a[held[first:last], None] - a
    some_rows = SomeRows(held, values_of_best, size)
    return lower_rows(rows, problem.diagonal, k, aim, budget, steps, some_rows)


@dataclass(frozen=True, eq=False)
class SomeRows:
    """What is known of a matrix of which only some rows are at hand."""

    items: Indices
    """The items of those rows."""

    values: Floats
    """Of every item, the linear term and the k - 1 largest entries of its row."""

    size: float
    """The largest absolute value of the whole matrix, or more."""


# What ``lower_rows`` in rows.c reads and writes, in the order in which it stands there.
LOWERING = np.dtype(
    [
        # The lowest sum of the k largest values so far.
        ("best_sum", np.float64),
        # By how much a step tries to lower that sum.
        ("target_step", np.float64),
        # No step tries to get below this sum.
        ("aim", np.float64),
        # The largest absolute value of an entry so far.
        ("size", np.float64),
        # The lowest sum when the last call ended.
        ("sum_before", np.float64),
        # 1 when no step can lower the sum any more, else 0.
        ("done", np.float64),
    ]
)


def _first_state(bound: float, aim: float, size: float) -> NDArray[np.void]:
    """The state before the first step, in which the sum of the k largest values is the bound."""
    state = np.zeros((), LOWERING)
    state["best_sum"] = bound
    state["target_step"] = FIRST_TARGET_STEP * abs(bound)
    state["aim"] = aim
    state["size"] = size
    state["sum_before"] = bound
    return state


def _as_numbers(state: NDArray[np.void]) -> Floats:
    """A record of numbers as an array of them, which shares its memory."""
    return state[np.newaxis].view(np.float64)


def lower_rows(
    rows: Floats,
    linear: Floats,
    k: int,
    aim: float,
    budget: Budget | None = None,
    steps: int | None = None,
    some_rows: SomeRows | None = None,
) -> Bound:
    """Lower the bound that rows give by antisymmetric multipliers.

    The bound is the sum of the k largest r_i = linear_i + the k - 1 largest entries of row i.

    rows: contiguous, of shape (n, n), or some of these rows; they are overwritten.
    aim: no step tries to get below it.
    steps: how many at most.
    some_rows: what the rows at hand are, if they are not those of all items.
    """
    n = len(linear)
    linear = np.ascontiguousarray(linear)
    budget = budget or Budget()
    if some_rows is None:
        some_rows = SomeRows(np.arange(n), linear, largest_entry(rows))
    items = some_rows.items
    values = some_rows.values.copy()
    if k == 1:
        margin = rounding(2, some_rows.size)
        return Bound(k_largest(values, 1) + margin, "antisymmetric", row_values=values)
    tops, lowest_tops, sums = row_tops(rows, items, k)
    values[items] = linear[items] + sums
    row_of_item = np.full(n, -1)
    row_of_item[items] = np.arange(len(items))
    state = _first_state(k_largest(values, k), aim, some_rows.size)
    # A step in rows.c lowers the k - 1 largest entries of each of the k largest rows by the same,
    # C_ij by t, and raises C_ji by t, so that the change is antisymmetric. t is such that the bound
    # would fall by the target step if no other row came among the largest.
    make_steps = kernels.lower_rows.bind(
        rows,
        len(items),
        n,
        k - 1,
        items,
        row_of_item,
        linear,
        tops,
        lowest_tops,
    )
    best_values = values.copy()
    operations_of_step = OPERATIONS_OF_STEP + OPERATIONS_OF_MOVE * (k * n + k**3)
    max_steps = inf if steps is None else steps
    window = MIN_WINDOW + n // k
    n_steps = 0
    while n_steps < max_steps and budget.left > 0 and not state["done"]:
        n_next = int(min(window, max_steps - n_steps))
        make_steps(values, n_next, best_values, _as_numbers(state))
        n_steps += n_next
        budget.spend(n_next * operations_of_step)
        if state["target_step"] < MIN_TARGET_STEP * abs(state["best_sum"]):
            break
    # Each step may round an entry once more.
    size = k**2 * float(state["size"])
    margin = rounding(2 * k + n_steps, size)
    value = k_largest(best_values, k) + margin
    return Bound(value, "antisymmetric", row_values=best_values, steps=n_steps)


def _strips(problem: BQP) -> Iterator[tuple[Indices, Floats]]:
    """Items and their rows, some at a time."""
    items = np.arange(problem.n)
    if problem.lazy_columns is not None:
        for block, columns in problem.lazy_columns.stream(items):
            yield block, np.ascontiguousarray(columns.T)
    else:
        height = max(STRIP, STRIP_ENTRIES // problem.n)
        for first, last in spans(problem.n, height):
            rows = np.ascontiguousarray(problem.matrix[first:last])
            yield items[first:last], rows


def screen(value: float, row_values: Floats, k: int, floor: float) -> tuple[Mask, Mask]:
    """Items that are in every choice worth at least ``floor``, and items that are in none.

    The bound ``value`` is a constant and the k largest row values r. A choice with an item i that
    is not among them is worth at most value - r_(k) + r_i; one without an item i that is among
    them is worth at most value - r_i + r_(k+1).
    """
    n = len(row_values)
    order = np.argsort(-row_values, kind="stable")
    is_top = np.zeros(n, np.bool_)
    is_top[order[:k]] = True
    largest = np.abs(row_values[order[: k + 1]]).max()
    floor = floor - rounding(n, float(largest))
    last_inside = row_values[order[k - 1]]
    first_outside = row_values[order[k]] if k < n else -np.inf
    inside = is_top & (value - row_values + first_outside < floor)
    outside = ~is_top & (value - last_inside + row_values < floor)
    return inside, outside


def fix_by_rows(problem: BQP, floor: float) -> tuple[Mask, Mask, float]:
    """The items that plain rows fix in and out, and an upper bound on all choices.

    An item is fixed if no choice worth at least ``floor`` would otherwise be left; each round of
    fixing makes the rows of the next smaller. Q stays as it is: an item that is in adds to the
    linear terms of the others, and no row counts the columns of decided items.
    """
    Q = problem.rows
    n = problem.n
    k = problem.k
    all_items = np.arange(n)
    inside = np.zeros(n, np.bool_)
    outside = np.zeros(n, np.bool_)
    shift = np.zeros(n)  # infinity for the items that are decided
    margin = rounding(2 * k, k**2 * problem.largest)
    value = inf
    tops = None
    while True:
        chosen = np.flatnonzero(inside)
        open_items = np.flatnonzero(shift == 0.0)
        n_missing = k - len(chosen)
        value_inside = float(Q[np.ix_(chosen, chosen)].sum())
        base = value_inside + margin
        if n_missing in (0, len(open_items)):
            inside[open_items] = n_missing > 0
            outside[open_items] = n_missing == 0
            only_value = problem.value(np.flatnonzero(inside)) + margin
            return inside, outside, min(value, only_value)
        values = problem.diagonal + 2 * Q[chosen].sum(axis=0)
        if n_missing > 1:
            if tops is None:  # the first round, in which no item is decided
                tops, _, sums = row_tops(Q, all_items, n_missing)
            else:
                tops, _, sums = row_tops(Q, all_items, n_missing, shift, candidates=tops)
            values += sums
        values = values[open_items]
        bound = k_largest(values, n_missing)
        value = min(value, base + bound)
        new_inside, new_outside = screen(bound, values, n_missing, floor - base)
        if not (new_inside | new_outside).any():
            return inside, outside, value
        inside[open_items[new_inside]] = True
        outside[open_items[new_outside]] = True
        shift[inside | outside] = inf


# What ``branch_advance`` in branch.c reads and writes of the whole search, in this order.
SEARCH = np.dtype(
    [
        # Where the search stands; -1 when it is complete.
        ("depth", np.float64),
        # A choice must be worth more than this.
        ("floor", np.float64),
        # Nodes visited so far.
        ("nodes", np.float64),
    ]
)
# Rows of the path of a search, as in branch.c: at each depth, the number of open items, the place
# of the next one among them, and the item that was chosen; then the best choice so far.
OPEN_COUNT = 0
NEXT_PLACE = 1
PATH_CHOSEN = 2
PATH_BEST = 3


class Branching:
    """Find the best choice worth more than a floor by depth-first search, in slices of nodes.

    Items are taken in the order of their row values, included first. At a node where r more items
    are to be chosen, each open item is worth its gain and at most its r - 1 best open partners.
    Where more than half of the items are to be chosen, the search chooses what to leave out.
    """

    def __init__(self, Q: Floats, k: int, floor: float) -> None:
        n = len(Q)
        self.is_complement = 2 * k > n
        base = 0.0
        if self.is_complement:
            # With y = e - x, x'Qx = e'Qe - 2 e'Qy + y'Qy.
            base = float(Q.sum())
            Q = Q - np.diag(2 * Q.sum(axis=1))
            k = n - k
        values = row_values(Q, Q.diagonal(), k)
        self.order = np.argsort(-values, kind="stable")
        self.Q = Q[np.ix_(self.order, self.order)]
        # [m, p, i]: the sum of the m largest Q_ij over j >= p other than i.
        self.partners = np.empty((k, n, n))
        kernels.branch_partners(self.Q, n, k, self.partners)
        # [d, i]: Q_ii + 2 sum of Q_ij over the d chosen.
        self.gains = np.empty((k, n))
        self.gains[0] = self.Q.diagonal()
        # [d, :]: items that may be chosen at depth d.
        self.open_items = np.empty((k, n), np.int64)
        self.open_items[0] = np.arange(n)
        self.path = np.zeros((4, k), np.int64)
        self.path[OPEN_COUNT, 0] = n
        self.path[PATH_BEST] = -1
        # [d]: what the d chosen items are worth together.
        self.values = np.zeros(k)
        self.state = np.zeros((), SEARCH)
        self.state["floor"] = floor - base

    def advance(self, nodes: int) -> bool:
        """Visit so many more nodes; True when the search is complete."""
        k, n = self.gains.shape
        kernels.branch_advance(
            self.Q,
            self.partners,
            n,
            k,
            nodes,
            self.gains,
            self.open_items,
            self.path,
            self.values,
            _as_numbers(self.state),
        )
        return bool(self.state["depth"] < 0)

    @property
    def nodes(self) -> int:
        """Nodes visited so far."""
        return int(self.state["nodes"])

    @property
    def choice(self) -> Indices | None:
        """The best choice so far that is worth more than the floor."""
        places = self.path[PATH_BEST]
        if places[0] < 0:
            return None
        items = self.order[places]
        if self.is_complement:
            return np.setdiff1d(self.order, items)
        return np.sort(items)
