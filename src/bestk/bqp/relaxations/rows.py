"""What an item is worth with its k - 1 best partners: bounds, items that they fix, branching."""

from collections.abc import Iterator
from math import inf

import numpy as np

from bestk._typing import Floats, Indices, Mask
from bestk.bqp.problem import BQP, grow, largest_entry
from bestk.bqp.relaxations.budget import OPERATIONS_PER_SECOND, Budget
from bestk.bqp.relaxations.subproblem import Bound, k_largest, rounding
from bestk.native import kernels
from bestk.native.threads import run_tiles, spans

STRIP = 256  # rows that are read at a time
# Operations of the multipliers without a time limit: about a minute.
MAX_OPERATIONS = 60e9
# Operations to read an entry of the matrix and to find the largest ones of its row, three times.
OPERATIONS_OF_PASS = 10.0
# Operations of a step of the multipliers: for each of the k n + k^3 entries that it moves, and
# besides.
OPERATIONS_OF_MOVE = 1.0
OPERATIONS_OF_STEP = 3e3
MAX_HELD = 2**27  # entries of the rows that have multipliers: 1 GiB
MIN_TARGET_STEP = 1e-5  # of the bound, below which the multipliers have converged
FIRST_TARGET_STEP = 0.05  # of the bound
ADDITIVE = (0.0, 0.5, 1.0)  # shares of the mean with a good choice that are tried as multipliers
MIN_WINDOW = 50  # steps after which the progress is checked
LEFT_COUNT, PATH_BEST = 0, 3  # rows of the path of a search, as in branch.c


def rows_bound(problem: BQP) -> Bound:
    """Bound each chosen row by its diagonal entry and its k - 1 largest other entries.

    With r_i = Q_ii + the k - 1 largest Q_ij, x'Qx is at most the sum of the k largest r_i.
    """
    values = row_values(problem.Q, problem.diagonal, problem.k)
    margin = rounding(2 * problem.k, problem.k**2 * problem.largest)
    return Bound(k_largest(values, problem.k) + margin, "rows", row_values=values)


def row_values(Q: Floats, linear: Floats, k: int) -> Floats:
    """For each i, linear_i + the k - 1 largest Q_ij with j other than i."""
    return linear + row_tops(np.ascontiguousarray(Q), np.arange(len(Q)), k)[2] if k > 1 else linear


def row_tops(
    rows: Floats, items: Indices, k: int, shift: Floats | None = None, known: Indices | None = None
) -> tuple[Indices, Floats, Floats]:
    """Of the rows of some items: the k - 1 largest entries, the least of them, and their sum.

    A column with the shift infinity does not count, nor is the row of its item read. ``known``:
    where the largest were when fewer columns had that shift.
    """
    (m, n), n_known = rows.shape, 0 if known is None else known.shape[1]
    tops, least, sums = np.empty((m, k - 1), np.int64), np.empty(m), np.empty(m)

    def work(span: tuple[int, int]) -> None:
        part = slice(*span)
        kernels.row_tops(
            rows[part], span[1] - span[0], n, items[part], shift,
            None if known is None else known[part], n_known, k - 1,
            tops[part], least[part], sums[part],
        )  # fmt: skip

    run_tiles(work, spans(m, max(STRIP, 2**20 // n)))
    return tops, least, sums


def linear_bound(problem: BQP) -> Bound:
    """Bound x'Qx by the sum of the k largest row sums, LP2 of Venkateswara et al. (2015).

    A negative entry off the diagonal counts as zero, which can only raise x'Qx, so the bound
    holds for every symmetric Q; for Q >= 0 it is the optimal value of LP2.
    """
    Q, n, k = problem.Q, problem.n, problem.k
    strips = (Q[i : i + STRIP] for i in range(0, n, STRIP))
    positive = np.concatenate([np.maximum(strip, 0.0).sum(axis=1) for strip in strips])
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
    problem: BQP, budget: Budget, best_known: float | None = None, steps: int | None = None
) -> Bound:
    """The bound of :func:`antisymmetric_bound` within a budget."""
    n, k = problem.n, problem.k
    start = budget.spent
    chosen = grow(problem, deadline=budget.deadline)
    aim = problem.value(chosen) if best_known is None else best_known
    additive = problem.product(chosen) / k
    values, size = np.tile(problem.diagonal, (len(ADDITIVE), 1)), 0.0
    operations_of_pass = OPERATIONS_OF_PASS * n**2
    if not budget.is_timed and operations_of_pass > OPERATIONS_PER_SECOND * budget.left:
        return Bound(inf, "antisymmetric")
    budget.spend(operations_of_pass)
    for items, rows in _strips(problem):
        if budget.left < 0:
            return Bound(inf, "antisymmetric")
        size = max(size, largest_entry(rows))
        for value, share in zip(values, ADDITIVE, strict=True):
            if k > 1:
                a = share * additive
                value[items] += (k - 1) * a[items] + row_tops(rows, items, k, a)[2]
    best = min(range(len(ADDITIVE)), key=lambda which: k_largest(values[which], k))
    a, values = ADDITIVE[best] * additive, values[best]
    size += 2 * largest_entry(a)
    least = min(n, 2 * k)
    most = min(n, max(2 * k, MAX_HELD // n))
    # To copy rows takes about as long as they took in the pass.
    seconds_of_pass = budget.spent - start
    room = most if seconds_of_pass * most / n < budget.left else least
    held = np.sort(np.argsort(-values, kind="stable")[:room])
    rows = np.ascontiguousarray(problem.columns(held).T)  # a copy
    for first, last in spans(len(held), STRIP):
        rows[first:last] += a[held[first:last], None] - a
    return lower_rows(rows, problem.diagonal, k, aim, budget, steps, (held, values, size))


def lower_rows(
    rows: Floats,
    linear: Floats,
    k: int,
    aim: float,
    budget: Budget | None = None,
    steps: int | None = None,
    known: tuple[Indices, Floats, float] | None = None,
) -> Bound:
    """Lower the bound that rows give, which are overwritten, by antisymmetric multipliers.

    ``known``, where the rows are not those of all items: the items they are of, the values of the
    rows of all items, and the size of the largest entry.
    """
    n, linear = len(linear), np.ascontiguousarray(linear)
    budget = budget or Budget()
    operations_of_step = OPERATIONS_OF_STEP + OPERATIONS_OF_MOVE * (k * n + k**3)
    items, values, size = known or (np.arange(n), linear, largest_entry(rows))
    values, done = values.copy(), 0
    state = np.array([inf, 0.0, aim, size, inf, 0.0])
    if k > 1:
        tops, least, sums = row_tops(rows, items, k)
        values[items] = linear[items] + sums
        place = np.full(n, -1)
        place[items] = np.arange(len(items))
        state[0] = state[4] = k_largest(values, k)
        state[1] = FIRST_TARGET_STEP * abs(state[0])
        window = MIN_WINDOW + n // k
        lower = kernels.lower_rows.bind(
            rows, len(items), n, k - 1, items, place, linear, tops, least
        )
    best, limit = values.copy(), inf if steps is None else steps
    while k > 1 and done < limit and budget.left > 0 and not state[5]:
        some = int(min(window, limit - done))
        lower(values, some, best, state)
        done += some
        budget.spend(some * operations_of_step)
        if state[1] < MIN_TARGET_STEP * abs(state[0]):
            break
    # each step may round an entry once more
    margin = rounding(2 * k + done, k**2 * float(state[3]))
    value = k_largest(best, k) + margin
    return Bound(value, "antisymmetric", row_values=best, details={"steps": done})


def _strips(problem: BQP) -> Iterator[tuple[Indices, Floats]]:
    """Items and their rows, some at a time."""
    everything = np.arange(problem.n)
    if problem.is_lazy:
        for items, columns in problem.Q.stream(everything):
            yield items, np.ascontiguousarray(columns.T)
    else:
        for first, last in spans(problem.n, max(STRIP, 2**21 // problem.n)):
            yield everything[first:last], np.ascontiguousarray(problem.Q[first:last])


def screen(value: float, row_values: Floats, k: int, floor: float) -> tuple[Mask, Mask]:
    """Items that are in every choice worth at least ``floor``, and items that are in none.

    The bound ``value`` is a constant and the k largest row values r. A choice with an item i that
    is not among them is worth at most value - r_(k) + r_i; one without an item i that is among
    them is worth at most value - r_i + r_(k+1).
    """
    n = len(row_values)
    order = np.argsort(-row_values, kind="stable")
    top = np.zeros(n, np.bool_)
    top[order[:k]] = True
    floor = floor - rounding(n, float(np.abs(row_values[order[: k + 1]]).max()))
    last_in = row_values[order[k - 1]]
    first_out = row_values[order[k]] if k < n else -np.inf
    inside = top & (value - row_values + first_out < floor)
    outside = ~top & (value - last_in + row_values < floor)
    return inside, outside


def fix_by_rows(problem: BQP, floor: float) -> tuple[Mask, Mask, float]:
    """The items that plain rows fix in and out, and an upper bound on all.

    Q stays as it is: an item that is in adds to the linear terms of the others, and no row counts
    the columns of decided items.
    """
    Q, n, k, linear = problem.rows, problem.n, problem.k, problem.diagonal
    inside, outside, closed = np.zeros(n, np.bool_), np.zeros(n, np.bool_), np.zeros(n)
    margin, value, tops = rounding(2 * k, k**2 * problem.largest), inf, None
    while True:
        chosen, open_items = np.flatnonzero(inside), np.flatnonzero(closed == 0.0)
        left, base = k - len(chosen), float(Q[np.ix_(chosen, chosen)].sum()) + margin
        if left in (0, len(open_items)):
            inside[open_items], outside[open_items] = left > 0, left == 0
            return inside, outside, min(value, problem.value(np.flatnonzero(inside)) + margin)
        values = linear + 2 * Q[chosen].sum(axis=0)
        if left > 1:
            shift = None if tops is None else closed
            tops, _, sums = row_tops(Q, np.arange(n), left, shift, tops)
            values += sums
        values = values[open_items]
        bound = k_largest(values, left)
        value = min(value, base + bound)
        new_inside, new_outside = screen(bound, values, left, floor - base)
        if not (new_inside | new_outside).any():
            return inside, outside, value
        inside[open_items[new_inside]] = outside[open_items[new_outside]] = True
        closed[inside | outside] = inf


class Branching:
    """Find the best choice worth more than a floor by depth-first search, in slices of nodes.

    Items are taken in the order of their row values, included first. At a node where r more items
    are to be chosen, each open item is worth its gain and at most its r - 1 best open partners.
    """

    def __init__(self, Q: Floats, k: int, floor: float) -> None:
        self.turned = 2 * k > len(Q)  # then it is quicker to choose what to leave out
        base = 0.0
        if self.turned:
            base = float(Q.sum())
            Q, k = Q - np.diag(2 * Q.sum(axis=1)), len(Q) - k
        self.order = np.argsort(-row_values(Q, Q.diagonal(), k), kind="stable")
        self.Q, n = Q[np.ix_(self.order, self.order)], len(Q)
        self.partners = np.empty((k, n, n))  # [m, p, i]: the m largest Q_ij over j >= p, j != i
        kernels.branch_partners(self.Q, n, k, self.partners)
        self.gains = np.empty((k, n))  # [d, i]: Q_ii + 2 sum of Q_ij over the d chosen
        self.left = np.empty((k, n), np.int64)  # [d, :]: items that may still be chosen
        self.path = np.zeros((4, k), np.int64)  # [:, d]: number left, position, chosen; the best
        self.value = np.zeros(k)  # [d]: of the chosen
        self.state = np.array([0.0, floor - base, 0.0])  # depth, floor, nodes
        self.gains[0], self.left[0] = self.Q.diagonal(), np.arange(n)
        self.path[LEFT_COUNT, 0], self.path[PATH_BEST] = n, -1

    def advance(self, nodes: int) -> bool:
        """Visit so many more nodes; True when the search is complete."""
        k, n = self.gains.shape
        kernels.branch_advance(
            self.Q, self.partners, n, k, nodes, self.gains, self.left, self.path, self.value,
            self.state,
        )  # fmt: skip
        return bool(self.state[0] < 0)

    @property
    def nodes(self) -> int:
        """Nodes visited so far."""
        return int(self.state[2])

    @property
    def choice(self) -> Indices | None:
        """The best choice found that is worth more than the floor."""
        found = self.path[PATH_BEST]
        if found[0] < 0:
            return None
        best = self.order[found]
        return np.setdiff1d(self.order, best) if self.turned else np.sort(best)
