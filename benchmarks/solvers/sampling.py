"""Simulated annealing and tabu search of dwave-samplers, cardinality by a penalty."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.solvers.record import Found, Trace
from bestk.bqp.problem import BQP
from bestk.bqp.solvers._base import Run
from bestk.bqp.solvers._greedy import Forward

Floats = NDArray[np.float64]
Sample = Callable[[Any, int, float], Any]  # model, seed, seconds left


def annealing(Q: Floats, k: int, seconds: float, seed: int) -> Found:
    """Anneal again and again, with the sampler's own schedule."""
    from dwave.samplers import SimulatedAnnealingSampler

    sampler = SimulatedAnnealingSampler()
    return _repeat(Q, k, seconds, seed, lambda model, s, _: sampler.sample(model, seed=s))


def tabu(Q: Floats, k: int, seconds: float, seed: int) -> Found:
    """Tabu search in runs of a tenth of the time."""
    from dwave.samplers import TabuSampler

    sampler, piece = TabuSampler(), seconds / 10

    def sample(model: Any, seed: int, left: float) -> Any:
        return sampler.sample(model, seed=seed, timeout=max(1, int(1000 * min(piece, left))))

    return _repeat(Q, k, seconds, seed, sample)


def _repeat(Q: Floats, k: int, seconds: float, seed: int, sample: Sample) -> Found:
    """Sample until the time is up; building the model is not counted."""
    model, problem, trace, reads, right = penalised(Q, k), BQP(Q, k), Trace(), 0, 0
    start = perf_counter()
    while (spent := perf_counter() - start) < seconds:
        answer = sample(model, seed + reads, seconds - spent)
        items = np.flatnonzero(_first(answer))
        reads, right = reads + 1, right + (len(items) == k)
        value = problem.value(_repaired(problem, items))
        if not trace or value > trace[-1][1]:
            trace.append((round(perf_counter() - start, 5), value))
    note = f"{right} of {reads} samples had k items; the others were repaired"
    return Found(perf_counter() - start, trace[-1][1], trace=trace, note=note)


def penalised(Q: Floats, k: int) -> Any:
    """Minimise -x'Qx + P (sum x - k)^2.

    Off the diagonal, the mean of Q is taken away first: no choice of k items gains or loses by
    that, and the penalty, the largest gain of an item over a greedy choice, may be far smaller.
    """
    import dimod

    n = len(Q)
    i, j = np.triu_indices(n, 1)
    centred = Q - Q[i, j].mean()
    np.fill_diagonal(centred, Q.diagonal())
    problem = BQP(centred, k)
    penalty = float(np.abs(problem.gains(Forward().pick(problem, Run()))).max())
    return dimod.BinaryQuadraticModel.from_numpy_vectors(
        penalty * (1 - 2 * k) - Q.diagonal(),
        (i, j, 2 * (penalty - centred[i, j])),
        penalty * k**2,
        dimod.BINARY,
    )


def _first(answer: Any) -> NDArray[np.int8]:
    """The best sample, its items in order."""
    best = answer.record.sample[int(np.argmin(answer.record.energy))]
    return best[np.argsort(np.asarray(list(answer.variables)))]


def _repaired(problem: BQP, items: NDArray[np.int64]) -> NDArray[np.int64]:
    """Drop what is missed least, or add what helps most, until there are k items."""
    chosen = [int(item) for item in items]
    while len(chosen) != problem.k:
        gains = problem.gains(chosen)
        if len(chosen) > problem.k:
            chosen.remove(min(chosen, key=lambda item: gains[item]))
        else:
            gains[chosen] = -np.inf
            chosen.append(int(np.argmax(gains)))
    return np.array(chosen, np.int64)
