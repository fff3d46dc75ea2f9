"""Check that every solver, with and without bounds, keeps its time limit.

``python -m hardening.limits`` allows 20% and 0.1 s more; on a busy machine, read CPU seconds.
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter, process_time

import numpy as np

from bestk import BQP, SOLVERS, solve, solve_path
from hardening.record import keep

K = 20


def cases(n: int, limit: float) -> Iterator[tuple[str, Callable[[], object]]]:
    """Every solver alone and with a tight bound, which has as long again, and along a path."""
    A = np.random.default_rng(n).random((n, n))
    problem = BQP(A + A.T, K)
    for name in SOLVERS:
        run = partial(solve, problem, solver=name, time_limit=limit, random_state=0)
        yield f"{name}, no bound", partial(run, bound=None)
        yield f"{name}, fast", partial(run, bound="fast")
        path = partial(solve_path, problem, [5, 10, 20], name, time_limit=limit, random_state=0)
        yield f"{name}, path, tight", partial(path, bound="tight")
        half = partial(solve, problem, solver=name, time_limit=limit / 2, random_state=0)
        yield f"{name}, tight", partial(half, bound="tight")


def main() -> None:
    """Run every case and compare its time with its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 800, 3000])
    parser.add_argument("--limits", type=float, nargs="+", default=[0.2, 1.0])
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS))
    chosen = parser.parse_args()
    tried = late = 0
    begun = perf_counter()
    for n in chosen.sizes:
        for limit in chosen.limits:
            for name, run in cases(n, limit):
                if name.split(",")[0] not in chosen.solvers:
                    continue
                start, cpu = perf_counter(), process_time()
                run()
                seconds, cpu = perf_counter() - start, process_time() - cpu
                tried += 1
                if seconds > 1.2 * limit + 0.1:
                    late += 1
                    print(
                        f"n = {n}, {limit:g} s, {name}: {seconds:.2f} s (CPU {cpu:.2f})", flush=True
                    )
    what = "time limits of solvers, bounds and paths, within 20% and 0.1 s"
    keep("limits", what, tried, late, perf_counter() - begun)


if __name__ == "__main__":
    main()
