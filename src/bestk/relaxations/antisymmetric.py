"""The bound by rows with antisymmetric multipliers: one item of a pair gains, the other pays."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from time import perf_counter

import numpy as np

from bestk._typing import Floats, Indices
from bestk.problem import BQP, good_choice, stream
from bestk.relaxations.rounding import Bound, k_largest, largest_entry, rounding

MAX_SECONDS = 60.0  # by default
MAX_HELD = 2**24  # entries of the rows that have multipliers: 128 MiB
PATIENCE = 20  # steps without a lower bound after which steps become shorter
MIN_STEP = 0.01  # relative step at which the bound has converged


def antisymmetric_bound(
    problem: BQP,
    time_limit: float | None = None,
    best_known: float | None = None,
    steps: int = 2000,
) -> Bound:
    """Bound x'Qx by rows of Q + A, where A is antisymmetric and chosen to make the bound low.

    x'Ax = 0 for every x, so with r_i = Q_ii + the k - 1 largest Q_ij + A_ij, the sum of the k
    largest r_i is a bound for every such A. A subgradient step changes A only where an active row
    uses an entry: the row that counts a pair pays, and its partner gains. Every step gives a
    bound, and the lowest counts. Where there are very many items, only the rows of the largest
    r_i have multipliers; a lazy matrix is read by columns, twice.

    Parameters
    ----------
    problem : BQP
        Of any size and sign, also lazy.
    time_limit : float, default=60
        Seconds. The bound is infinity if that does not suffice for one pass over the matrix.
    best_known : float, optional
        The value of a choice, at which the steps aim; by default that of a greedy one.
    steps : int, default=2000
        Maximum number of subgradient steps.

    Examples
    --------
    Rows alone give 6, because items 0 and 1 would each bring a partner of their own:

    >>> Q = np.array([[2.0, 0, 1, 0], [0, 2, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]])
    >>> round(antisymmetric_bound(BQP(Q, k=2)).value, 3)
    4.0
    """
    deadline = perf_counter() + (MAX_SECONDS if time_limit is None else time_limit)
    rows = _read_rows(problem, deadline)
    if rows is None:
        return Bound(inf, "antisymmetric")
    if best_known is None:
        best_known = -inf if problem.is_lazy else problem.value(good_choice(problem))
    best, done = rows.bound(), 0
    kept, length, stale = rows.values.copy(), 1.0, 0
    while done < steps and length > MIN_STEP and perf_counter() < deadline:
        aim = best_known if best_known > -inf else 0.9 * best
        if not rows.step(length, aim):
            break
        done += 1
        value = rows.bound()
        if value < best:
            best, kept, stale = value, rows.values.copy(), 0
        else:
            stale += 1
        if stale > PATIENCE:
            length, stale = 0.7 * length, 0
    return Bound(best, "antisymmetric", row_values=kept, details={"steps": done})


@dataclass
class _Rows:
    """The values of all rows, and the rows that have multipliers."""

    Q: Floats  # [m, n]: the rows that have multipliers
    items: Indices  # which rows these are
    A: Floats  # [m, m]: the multipliers, exactly antisymmetric
    linear: Floats  # the diagonal of the whole matrix
    values: Floats  # r_i of every row
    k: int
    size: float  # largest entry of the whole matrix

    def bound(self) -> float:
        """The sum of the k largest row values, rounding included."""
        size = self.size + largest_entry(self.A)
        return k_largest(self.values, self.k) + rounding(2 * self.k, self.k**2 * size)

    def step(self, length: float, aim: float) -> bool:
        """One subgradient step towards a value; False if the bound is as low as it gets."""
        n, k, m = len(self.values), self.k, len(self.items)
        if k == 1:
            return False
        place = np.full(n, -1)
        place[self.items] = np.arange(m)
        active = place[np.argpartition(self.values, n - k)[n - k :]]
        active = active[active >= 0]
        partners = np.argpartition(self._rows(active), n - k + 1, axis=1)[:, n - k + 1 :]
        own, other = np.repeat(active, k - 1), place[partners.ravel()]
        own, other = own[other >= 0], other[other >= 0]
        one_way = ~np.isin(own * m + other, other * m + own)
        own, other = own[one_way], other[one_way]
        excess = k_largest(self.values, k) - aim
        if not len(own) or excess <= 0:
            return False
        change = length * excess / len(own)
        self.A[own, other] -= change
        self.A[other, own] += change
        changed = np.unique(np.concatenate([own, other]))
        self.values[self.items[changed]] = self._values(changed)
        return True

    def _rows(self, places: Indices) -> Floats:
        """Rows of Q + A, with minus infinity on the diagonal."""
        rows = self.Q[places]
        rows[:, self.items] += self.A[places]
        rows[np.arange(len(places)), self.items[places]] = -np.inf
        return rows

    def _values(self, places: Indices) -> Floats:
        return self.linear[self.items[places]] + _top_sums(self._rows(places), self.k)


def _top_sums(rows: Floats, k: int) -> Floats:
    """Sums of the k - 1 largest entries of each row, which is overwritten."""
    cut = rows.shape[1] - k + 1
    rows.partition(cut, axis=1)
    return np.asarray(rows[:, cut:].sum(axis=1))


def _read_rows(problem: BQP, deadline: float) -> _Rows | None:
    """The values of all rows, by a pass over the matrix; None if time is up before its end."""
    n, k = problem.n, problem.k
    linear, values, size = problem.diagonal, np.empty(n), 0.0
    for items, columns in _blocks(problem):
        if perf_counter() > deadline:
            return None
        rows = np.array(columns.T)
        size = max(size, largest_entry(rows))
        rows[np.arange(len(items)), items] = -np.inf
        values[items] = linear[items] + (_top_sums(rows, k) if k > 1 else 0.0)
    held = np.sort(np.argsort(-values, kind="stable")[: max(min(n, 2 * k), MAX_HELD // n)])
    Q = np.ascontiguousarray(problem.columns(held).T)
    return _Rows(Q, held, np.zeros((len(held), len(held))), linear, values, k, size)


def _blocks(problem: BQP) -> Iterator[tuple[Indices, Floats]]:
    """Items and their columns, some at a time."""
    everything = np.arange(problem.n)
    if problem.is_lazy:
        return stream(problem.Q, everything)
    strips = (everything[i : i + 256] for i in range(0, problem.n, 256))
    return ((strip, problem.columns(strip)) for strip in strips)
