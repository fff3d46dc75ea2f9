"""The paper's simulations on random symmetric matrices: time, and objective beside Linear's."""

import csv
from collections import Counter
from collections.abc import Iterator
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import RESULTS as BENCHMARKS
from benchmarks.machine import describe_machine
from benchmarks.solvers import simulation as shared
from benchmarks.solvers.matrices import at_random
from benchmarks.solvers.measure import job, run, warm_up, work
from benchmarks.solvers.record import Job, Ledger, Row
from bestk.bqp.solvers import solve
from bestk.bqp.solvers._lowrank import LowRank
from bestk.bqp.solvers._sdp import SDP
from experiments.lowrank import PublishedLowRank, exact_low_rank

SOLVERS = ("linear", "spectral", "sdp", "lowrank", "tpower", "search")
WIDTH_FILE = BENCHMARKS / "sdp_width.csv"
SECOND = 1.0  # for search, which takes what it is given
RUNS, QUICK_RUNS = 10, 3
# The paper's figures came without their (n, k); most of these have k = n/10, for the growth.
CELLS = (
    (100, 10), (100, 30), (200, 20), (300, 30), (500, 20), (500, 50), (500, 150), (700, 70),
    (1000, 50), (1000, 100), (1000, 300), (2000, 200), (5000, 500),
)  # fmt: skip
QUICK_CELLS = ((100, 10), (200, 20), (500, 50), (700, 70), (1000, 100))
GROWTH_FROM = 500  # items: below, a call costs more than its work
# Forms of LowRank on matrices so small that the exact algorithms end
FORM_CELLS = ((2, 20, 5), (2, 40, 8), (3, 20, 5), (3, 30, 6))
FORM_RUNS = 5
FORMS = {"spannogram": "exact Spannogram", "published": "random draws, as published",
         "scored": "random draws, scored on Q"}  # fmt: skip
FORMS_FILE = "lowrank_forms.csv"
Cell = tuple[int, int]


def jobs(quick: bool) -> Iterator[Job]:
    """Every solver on the same matrices of each cell."""
    for n, k in QUICK_CELLS if quick else CELLS:
        for seed in range(QUICK_RUNS if quick else RUNS):
            for solver in SOLVERS:
                limit = SECOND if solver == "search" else inf
                form = SDP(swaps=False) if solver == "sdp" else solver  # as published
                task = partial(run, solver=form, seed=seed, limit=limit)
                yield job(shared.PART, at_random(n, seed), k, solver, task, seed, limit)


def open_ledger(folder: Path) -> Ledger:
    """The rows of the simulation, in a file of their own."""
    return Ledger(folder / "simulation.csv", describe_machine())


def simulate(folder: Path, quick: bool) -> None:
    """Do what is not done yet, one job at a time: times are measured."""
    ledger, wanted = open_ledger(folder), list(jobs(quick))
    left = [job for job in wanted if not ledger.knows(job)]
    print(f"simulation: {len(left)} of {len(wanted)} jobs to do; {ledger.path}", flush=True)
    if left:
        warm_up()
        work(left, ledger)
    compare_forms(folder, QUICK_RUNS if quick else FORM_RUNS)


def compare_forms(folder: Path, runs: int) -> None:
    """Objectives of the forms of LowRank beside the optimum, on the same small matrices."""
    if (folder / FORMS_FILE).exists():
        return
    rows, commit = list[dict[str, Any]](), describe_machine().commit
    for d, n, k in FORM_CELLS:
        for seed in range(runs):
            problem = at_random(n, seed).problem(k)
            solvers = {"published": PublishedLowRank(d=d), "scored": LowRank(d=d),
                       "optimum": "exact"}  # fmt: skip
            values = {name: solve(problem, None, solver, random_state=seed, bound=None).objective
                      for name, solver in solvers.items()}  # fmt: skip
            exact = float(problem.value(exact_low_rank(problem, d)))
            rows.append({"d": d, "n": n, "k": k, "seed": seed, "spannogram": exact, **values,
                         "commit": commit})  # fmt: skip
    _write(folder / FORMS_FILE, rows)


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_file(path: Path) -> list[dict[str, Any]]:
    """The rows of a file, all but commits as numbers; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [{key: value if key == "commit" else float(value) for key, value in row.items()}
                for row in csv.DictReader(file)]  # fmt: skip


def seconds_by_cell(rows: list[Row]) -> dict[Cell, dict[str, float]]:
    """By cell and solver: the median time over the matrices."""
    found: dict[Cell, dict[str, list[float]]] = {}
    for row in shared.to_the_end(rows):
        found.setdefault((row.n, row.k), {}).setdefault(row.solver, []).append(row.seconds)
    return {cell: {name: float(np.median(own[name])) for name in SOLVERS if name in own}
            for cell, own in sorted(found.items())}  # fmt: skip


def describe_width() -> str:
    """How far the published SDP falls behind on wide matrices, from a benchmark of its own."""
    rows = read_file(WIDTH_FILE)
    first, last = rows[0], rows[-1]
    shares = [f"{100 * row['rounded'] / row['search']:.0f}%" for row in (first, last)]
    ratios = [f"{row['relaxation'] / row['search']:.2f}" for row in (first, last)]
    widths = f"from {first['n']:,.0f} to {last['n']:,.0f} columns of 80 rows"
    least = 100 * min(row["sdp"] / row["search"] for row in rows)
    return (
        "On wide tables of few rows its relaxation gets loose and its projections nearly random: "
        f"{widths} (k = {first['k']:.0f}), the relaxation grows from {ratios[0]} to {ratios[1]} "
        "times the objective that search finds, and the best of 100 projections falls from "
        f"{shares[0]} to {shares[1]} of it. On this page SDP is as published; the library's own "
        f"improves the projections by swaps, and reaches {least:.0f}% of it at every width "
        "(`python -m benchmarks.solvers.width`)."
    )


def above_linear(rows: list[Row]) -> dict[Cell, dict[str, float]]:
    """By cell and solver: the mean percentage by which its objective exceeds Linear's."""
    return shared.above_linear(rows)


def _by_size(rows: list[Row]) -> dict[str, dict[int, float]]:
    """By solver and n: the median time at k = n/10, from 500 items on."""
    found: dict[str, dict[int, float]] = {}
    for (n, k), own in seconds_by_cell(rows).items():
        if n == 10 * k and n >= GROWTH_FROM:
            for name, seconds in own.items():
                found.setdefault(name, {})[n] = seconds
    return found


def growth(rows: list[Row]) -> dict[str, float]:
    """Fitted powers of n at k = n/10, from 500 items on."""
    return {name: shared.exponent(own) for name, own in _by_size(rows).items()}


def local_growth(rows: list[Row]) -> dict[str, float]:
    """The power of n between the two largest n."""
    return {name: shared.exponent(dict(list(own.items())[-2:]))
            for name, own in _by_size(rows).items()}  # fmt: skip


def describe_runs(folder: Path) -> str:
    """Threads and commits of the rows, as the file has them."""
    with (folder / "simulation.csv").open(newline="") as file:
        found = Counter((row["commit"], row["all_threads"]) for row in csv.DictReader(file))
    told = "; ".join(f"{count} rows at commit {commit} with {used} threads"
                     for (commit, used), count in found.items())  # fmt: skip
    return f"Threads and commits: {told}."
