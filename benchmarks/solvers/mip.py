"""The problem as a mixed-integer program: HiGHS through scipy, and CP-SAT of OR-tools."""

import os
from math import inf, nan
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.solvers.record import Found

Floats = NDArray[np.float64]
NOTHING = "no choice found in its time"
WHOLE = 10**6  # CP-SAT takes whole numbers: the largest entry becomes this


def highs(Q: Floats, k: int, seconds: float, seed: int) -> Found:
    """A variable y_ij <= x_i, x_j for each pair, and the rows sum_j y_ij = (k - 1) x_i."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    del seed
    start, n = perf_counter(), len(Q)
    i, j = np.triu_indices(n, 1)
    pair = np.arange(len(i))
    columns, width = n + pair, n + len(i)
    one = np.ones(len(i))
    degree = _rows([(i, columns, one), (j, columns, one)], n, width)
    degree -= (k - 1) * sparse.eye(n, width)
    below = [
        LinearConstraint(_rows([(pair, columns, one), (pair, end, -one)], len(i), width), -inf, 0)
        for end in (i, j)
    ]
    above = _rows([(pair, columns, one), (pair, i, -one), (pair, j, -one)], len(i), width)
    exactly_k = sparse.csr_array(np.r_[np.ones(n), np.zeros(len(i))][None])
    answer = milp(
        -np.r_[Q.diagonal(), 2 * Q[i, j]],
        integrality=np.r_[np.ones(n), np.zeros(len(i))],
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(exactly_k, k, k), LinearConstraint(degree, 0, 0), *below,
            *([LinearConstraint(above, -1, inf)] if Q.min() < 0 else []),
        ],
        options={"time_limit": seconds},
    )  # fmt: skip
    bound = inf if answer.mip_dual_bound is None else -float(answer.mip_dual_bound)
    value = nan if answer.x is None else _value(Q, answer.x[:n] > 0.5)
    return Found(perf_counter() - start, value, bound, note=NOTHING if answer.x is None else "")


def cp_sat(Q: Floats, k: int, seconds: float, seed: int) -> Found:
    """The same with Boolean products and entries rounded to whole numbers."""
    from ortools.sat.python import cp_model

    start, n = perf_counter(), len(Q)
    scale = WHOLE / float(np.abs(Q).max())
    whole = np.rint(scale * Q).astype(np.int64)
    model = cp_model.CpModel()
    x = [model.new_bool_var("") for _ in range(n)]
    y: dict[tuple[int, int], cp_model.IntVar] = {}
    for i in range(n):
        for j in range(i + 1, n):
            y[i, j] = y[j, i] = both = model.new_bool_var("")
            model.add_implication(both, x[i])
            model.add_implication(both, x[j])
            if whole[i, j] < 0:
                model.add_bool_or([both, x[i].negated(), x[j].negated()])
    model.add(sum(x) == k)
    for i in range(n):
        model.add(sum(y[i, j] for j in range(n) if j != i) == (k - 1) * x[i])
    pairs = [(i, j) for i, j in y if i < j]
    terms = [*x, *(y[pair] for pair in pairs)]
    weights = [*whole.diagonal().tolist(), *(int(2 * whole[pair]) for pair in pairs)]
    model.maximize(cp_model.LinearExpr.weighted_sum(terms, weights))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = len(os.sched_getaffinity(0))
    solver.parameters.random_seed = seed
    status = solver.solve(model)
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    value = _value(Q, np.array([solver.boolean_value(v) for v in x])) if found else nan
    # each of k^2 entries was moved by half a unit at most
    bound = (solver.best_objective_bound + k**2 / 2) / scale
    return Found(perf_counter() - start, value, bound, note="" if found else NOTHING)


def _value(Q: Floats, chosen: NDArray[np.bool_]) -> float:
    return float(Q[np.ix_(chosen, chosen)].sum())


def _rows(
    blocks: list[tuple[NDArray[np.int64], NDArray[np.int64], Floats]], height: int, width: int
) -> sparse.csr_array:
    """A sparse matrix from rows, columns and values."""
    rows, columns, values = (np.concatenate(part) for part in zip(*blocks, strict=True))
    return sparse.csr_array((values, (rows, columns)), shape=(height, width))
