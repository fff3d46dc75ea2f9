"""A claim, the measurement, and whether the claim holds."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.solvers.record import Row

WORDS = {True: "holds", False: "DOES NOT HOLD", None: "not measured"}


@dataclass(frozen=True)
class Verdict:
    """A claim with its measurement; ``holds`` is None where nothing was measured."""

    claim: str
    measured: str
    holds: bool | None

    def __str__(self) -> str:
        return f"[{WORDS[self.holds]}] {self.claim}\n    {self.measured}"


def verdict(claim: str, measured: str, holds: bool, any_rows: object) -> Verdict:
    """A verdict, unless there are no rows to judge by."""
    return Verdict(claim, measured, holds) if any_rows else Verdict(claim, "no rows", None)


def listing(items: Iterable[str], most: int = 6) -> str:
    """Some items, and how many more there are."""
    texts = list(items)
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def sound(rows: list[Row]) -> Verdict:
    """Every bound against every objective found for the same problem, by whomever."""
    problems: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        seed = row.seed if row.case == "random" else 0  # of the matrix; else of the solver
        problems[row.case, row.n, row.k, seed].append(row)
    wrong, compared = [], 0
    for own in problems.values():
        best = max((row.objective for row in own if row.objective > float("-inf")), default=0.0)
        bounds = [row for row in own if row.upper_bound < float("inf")]
        compared += len(bounds)
        wrong += [
            f"{r.solver} on {r.case} ({r.n}, {r.k}) #{r.seed}: {r.upper_bound:.8g} < {best:.8g}"
            for r in bounds
            if r.upper_bound < best - 1e-9 * abs(best)
        ]
    measured = f"{compared} bounds" + (f"; below: {listing(wrong)}" if wrong else "")
    return verdict("no bound is below any choice found", measured, not wrong, compared)
