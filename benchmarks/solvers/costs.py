"""Matrix-vector products of TPower, and memory of each solver besides Q."""

import tracemalloc
from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.solvers.matrices import at_random, data_sets
from benchmarks.solvers.measure import job
from benchmarks.solvers.options import Options
from benchmarks.solvers.record import Found, Job, Row, pick
from benchmarks.solvers.verdict import Verdict, listing, verdict
from benchmarks.timing import interleave
from bestk.bqp.problem import BQP
from bestk.bqp.solvers import SOLVERS, solve

PART = "tpower"
SIZES, QUICK_SIZES = (500, 1000, 2000, 5000), (500, 1000)
MOST = 30.0  # products
MEASURES = {"passes": "by entries of Q read", "products": "by time"}
OTHER_PASSES = 3  # row sums, largest and smallest entry
ROUNDS = 5
MEMORY_SIZE = 3000  # large enough that fixed work space does not count
DENSE = ("sdp", "exact", "simplex")  # relaxations that work on matrices as large as Q


def jobs(options: Options) -> Iterator[Job]:
    """TPower on random and real matrices, then the memory of each solver."""
    matrices = [at_random(n, 0) for n in (QUICK_SIZES if options.quick else SIZES)]
    real = [m for m in data_sets(options.data) if m.n >= 500]
    for matrix in [*matrices, *([] if options.quick else real)]:
        yield job(PART, matrix, matrix.n // 10, "tpower", in_products)
    for name in SOLVERS:
        task = partial(allocated, solver=name, limit=options.second)
        yield job(PART, at_random(MEMORY_SIZE, 0), 50, name, task, limit=options.second)


class Counted(BQP):
    """A problem that counts the columns it is asked for."""

    def __init__(self, Q: np.ndarray, k: int) -> None:
        super().__init__(Q, k)
        self.asked: list[int] = []

    def columns(self, items: object) -> np.ndarray:
        """Columns of Q, side by side."""
        self.asked.append(len(items))
        return super().columns(items)


def in_products(problem: BQP) -> Found:
    """TPower and the product Qx, timed in turn."""
    x = np.zeros(problem.n)
    x[: problem.k] = 1.0
    jobs = {
        "product": lambda: problem.Q @ x,
        "tpower": lambda: solve(problem, None, "tpower", bound=None),
    }
    timings = interleave(jobs, ROUNDS)
    counted = Counted(problem.Q, problem.k)
    solution = solve(counted, None, "tpower", bound=None)
    details = {
        "products": round(timings["tpower"].best / timings["product"].best, 2),
        "passes": round(OTHER_PASSES + sum(counted.asked) / problem.n, 2),
        "product_ms": round(1e3 * timings["product"].best, 4),
    }
    return Found(timings["tpower"].best, solution.objective, details=details)


def allocated(problem: BQP, solver: str, limit: float) -> Found:
    """The peak of what a solver allocates, as a multiple of the size of Q."""
    tracemalloc.start()
    try:
        solution = solve(problem, None, solver, time_limit=limit, bound=None, random_state=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    details = {"times_Q": round(peak / problem.Q.nbytes, 4)}
    return Found(solution.seconds, solution.objective, details=details)


def claims(rows: list[Row]) -> list[Verdict]:
    """The cost of TPower, and who copies Q."""
    own = [row for row in pick(rows, PART) if "products" in row.details]
    verdicts = [_in_products(own, what, words) for what, words in MEASURES.items()]
    memory = {r.solver: r.details["times_Q"] for r in pick(rows, PART) if "times_Q" in r.details}
    copied = [name for name, share in memory.items() if share >= 0.9 and name not in DENSE]
    shares = [f"{name} {share:.2g}" for name, share in memory.items()]
    return [
        *verdicts,
        verdict(f"no solver copies Q ({', '.join(DENSE)} work on matrices of its size)",
                f"allocated / size of Q: {listing(shares, 20)}", not copied, memory),
    ]  # fmt: skip


def _in_products(rows: list[Row], what: str, words: str) -> Verdict:
    text = [f"{r.case} n = {r.n}: {r.details[what]:.1f}" for r in rows]
    cheap = all(r.details[what] <= MOST for r in rows)
    claim = f"tpower costs at most {MOST:g} dense matrix-vector products, {words}"
    return verdict(claim, listing(text, 20), cheap, rows)
