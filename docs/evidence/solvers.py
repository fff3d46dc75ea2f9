"""Solvers of the quadratic problem: objectives, times and gaps."""

from math import isfinite, isnan

from evidence.markup import digits, paragraphs, picture, seconds, table, title
from evidence.records import Line, number, pick, provenance, read

COMMAND = "python -m benchmarks.solvers"
ROUNDING = 1e-8  # below it, a share is what rounding leaves
OURS = ("choice+bound", "exact", "search", "tpower", "linear", "forward", "sdp", "lowrank")


def page() -> str:
    """The section."""
    lines = read("solvers", COMMAND)
    return paragraphs(
        [
            title("Solvers"),
            _listed(pick(lines, part="instances", solver="search")),
            picture("solvers_race", "the objective against time on listed problems"),
            title("Beside other solvers", "~"),
            _race(pick(lines, part="peers")),
            title("What is proved on real tables", "~"),
            _proofs(pick(lines, part="information", solver="choice+bound")),
            picture("solvers_gap", "proved gap against time"),
            title("Random matrices", "~"),
            _simulation(pick(lines, part="simulation")),
            picture("solvers_time", "time of each solver against n"),
            provenance(lines, COMMAND, "solvers"),
        ]
    )


def _listed(rows: list[Line]) -> str:
    if not rows:
        return ""
    reached = [row for row in rows if not isnan(number(row, "to_target"))]
    cases = len({(row["case"], row["k"]) for row in rows})
    longest = max((number(row, "to_target") for row in reached), default=float("nan"))
    return (
        f"``search`` on {cases} benchmark problems, n from {min(int(r['n']) for r in rows)} to"
        f" {max(int(r['n']) for r in rows):,}: the best known value in {len(reached)} of"
        f" {len(rows)} runs, in at most {seconds(longest)}."
    )


def _race(rows: list[Line]) -> str:
    """Objective, relative to the best one found, and gap of every solver."""
    if not rows:
        return ""
    solvers = list(dict.fromkeys(row["solver"] for row in rows))
    cases = list(dict.fromkeys((row["case"], row["n"], row["k"]) for row in rows))
    cells = [
        [f"{case} ({n}, {k})", *(_found(rows, case, n, k, solver) for solver in solvers)]
        for case, n, k in cases
    ]
    return paragraphs(
        [
            f"Time limit {seconds(number(rows[0], 'limit'))}: percent below the best objective"
            " found, and after the slash the gap in percent. n and k are in parentheses.",
            table(["", *solvers], cells),
        ]
    )


def _found(rows: list[Line], case: str, n: str, k: str, solver: str) -> str:
    here = pick(rows, case=case, n=n, k=k)
    best = max(number(row, "objective") for row in here if not isnan(number(row, "objective")))
    own = pick(here, solver=solver)
    if not own or not isfinite(number(own[0], "objective")):
        return "none" if own else ""
    lost = percent((best - number(own[0], "objective")) / abs(best))
    return f"{lost} / {_gap(own[0])}" if isfinite(number(own[0], "upper_bound")) else lost


def percent(share: float) -> str:
    """A fraction in percent; rounding errors are 0."""
    return digits(100 * share, 2) if share > ROUNDING else "0"


def _gap(row: Line) -> str:
    value = number(row, "objective")
    return percent((number(row, "upper_bound") - value) / abs(value))


def _proofs(rows: list[Line]) -> str:
    if not rows:
        return ""
    ks = sorted({int(row["k"]) for row in rows})
    cases = list(dict.fromkeys((row["case"], row["n"]) for row in rows))
    head = ["", "columns", "within", *(f"k = {k}" for k in ks)]
    cells = [[case, f"{int(n):,}", *_gaps(pick(rows, case=case, n=n), ks)] for case, n in cases]
    return paragraphs(
        [
            "The gap of ``search`` with a tight bound, in percent; 0 means proved optimal.",
            table(head, cells),
        ]
    )


def _gaps(rows: list[Line], ks: list[int]) -> list[str]:
    """The time limits, and the gaps for every k."""
    limits = sorted({number(row, "limit") for row in rows})
    out = [", ".join(map(seconds, limits))]
    for k in ks:
        found = sorted(pick(rows, k=str(k)), key=lambda row: number(row, "limit"))
        out.append(", ".join(dict.fromkeys(map(_gap, found))))
    return out


def _simulation(rows: list[Line]) -> str:
    """Mean time, and objective relative to that of Linear, of each solver."""
    if not rows:
        return ""
    solvers = list(dict.fromkeys((row["solver"], row["limit"]) for row in rows))
    cells = sorted({(int(row["n"]), int(row["k"])) for row in rows})
    head = ["n, k", *(_with_limit(*solver) for solver in solvers)]
    body = [[f"{n:,}, {k}", *(_mean(rows, n, k, *solver) for solver in solvers)] for n, k in cells]
    return paragraphs(["Mean time over the matrices of a cell.", table(head, body)])


def _with_limit(solver: str, limit: str) -> str:
    return solver if not isfinite(float(limit)) else f"{solver}, {seconds(float(limit))}"


def _mean(rows: list[Line], n: int, k: int, solver: str, limit: str) -> str:
    found = pick(rows, n=str(n), k=str(k), solver=solver, limit=limit)
    times = [number(row, "seconds") for row in found]
    return seconds(sum(times) / len(times)) if times else ""
