"""Check every certificate on random problems against enumeration in exact arithmetic.

``python -m hardening.certificates --many 10000`` records the trial in ``results/runs.csv``.
"""

import argparse
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from time import perf_counter

import numpy as np

from bestk import BQP, SOLVERS, solve
from bestk.bqp.relaxations.budget import Budget
from bestk.bqp.relaxations.dnn import Gap
from bestk.bqp.relaxations.rows import antisymmetric_bound, fix_by_rows, screen
from bestk.bqp.relaxations.subproblem import Subproblem
from hardening.record import keep

TOLERANCE = Fraction(1, 10**9)  # relative: what "proved optimal" allows for rounding
Values = dict[tuple[int, ...], Fraction]


def random_problem(rng: np.random.Generator) -> BQP:
    """A few items with penalties of 1e3 to 1e17, copies, ties, and entries of either sign."""
    n = int(rng.integers(2, 10))
    Q = rng.normal(size=(n, n)) if rng.random() < 0.3 else rng.random((n, n))
    Q = np.round(Q, int(rng.choice([0, 1, 16])))
    if rng.random() < 0.3:
        copied = rng.integers(0, n, n)
        Q = Q[np.ix_(copied, copied)]
    if rng.random() < 0.7:
        i, j = rng.integers(0, n, (2, int(rng.integers(1, n + 1))))
        Q[i, j] = -(10.0 ** rng.uniform(3, 17, len(i)))
    return BQP(Q + Q.T, int(rng.integers(1, n + 1)))


def exact_values(problem: BQP) -> Values:
    """The value of every choice, without rounding."""
    Q = [[Fraction(float(entry)) for entry in row] for row in problem.Q]
    choices = combinations(range(problem.n), problem.k)
    return {c: sum((Q[i][j] for i in c for j in c), Fraction(0)) for c in choices}


def failures(problem: BQP, rng: np.random.Generator) -> Iterator[str]:
    """What is claimed of a problem and is not so."""
    values = exact_values(problem)
    best = max(values.values())
    allowed = TOLERANCE * abs(best)
    for solver, bound in (
        ("exact", None),
        (str(rng.choice(list(SOLVERS))), "fast"),
        (str(rng.choice(list(SOLVERS))), "tight"),
    ):
        limit = None if solver == "exact" else 0.02
        found = solve(problem, solver=solver, bound=bound, time_limit=limit, random_state=0)
        value = values[tuple(sorted(found.support.tolist()))]
        claims = found.details.get("optimal") or found.quality == "proved optimal"
        if claims and best - value > allowed:
            yield f"{solver}, bound {bound}: {float(value)} is called optimal, not {float(best)}"
        if best - Fraction(min(found.upper_bound, 1e300)) > allowed:
            yield f"{solver}, bound {bound}: {found.upper_bound} is no bound on {float(best)}"
    # at the best value, and at a smaller one
    floors = [problem.value(choice) for choice in rng.permutation(list(values))[:1]]
    for floor in [problem.value(max(values, key=values.__getitem__)), *floors]:
        yield from _wrongly_fixed(problem, values, floor)


def _wrongly_fixed(problem: BQP, values: Values, floor: float) -> Iterator[str]:
    gap = Gap(Subproblem.of(problem), floor)
    gap.close(Budget.within(0.02, 0.0))
    whole, bound = Subproblem.of(problem), antisymmetric_bound(problem, None, floor, 30)
    assert bound.row_values is not None
    fixed = screen(bound.value, bound.row_values, problem.k, floor)
    parts = {
        "dnn": gap.subproblem,
        "rows": whole.without(*fix_by_rows(problem, floor)[:2]),
        "antisymmetric": whole.without(*fixed),
    }
    for name, part in parts.items():
        inside = set(part.inside.tolist())
        possible = inside | set(part.items.tolist())
        good = [set(c) for c, value in values.items() if value >= Fraction(floor)]
        if any(not inside <= choice <= possible for choice in good):
            yield f"{name}: an item of a choice worth {floor} or more is fixed wrongly"


def main() -> None:
    """Check so many problems."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--many", type=int, default=1000, help="number of problems")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    failed, start = 0, perf_counter()
    for number in range(chosen.many):
        rng = np.random.default_rng([chosen.seed, number])
        problem = random_problem(rng)
        for failure in failures(problem, rng):
            failed += 1
            print(f"problem {chosen.seed}, {number}, k = {problem.k}: {failure}", flush=True)
    what = "claims of optimality, bounds and fixed items against enumeration"
    keep("certificates", what, chosen.many, failed, perf_counter() - start)


if __name__ == "__main__":
    main()
