"""How long one selection takes: every method on the real sets, all rows, in turn in one process."""

import csv
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machine import describe_machine
from benchmarks.quality.folds import choose
from benchmarks.quality.plan import METHODS, fits, missing_peers
from benchmarks.quality.sets import Problem, load
from bestk.datasets import DATASETS

if TYPE_CHECKING:
    from benchmarks.quality.options import Options

K = 20
ROUNDS = 5
ONCE, PATIENCE = 2.0, 20.0  # seconds up to which a method is run in all rounds, and in the second
FILE = "quality_times.csv"
Seconds = dict[str, dict[str, float]]  # by set and method


def measure(options: "Options") -> None:
    """Time each method on each real set, and put the rows in the place of earlier ones."""
    absent = missing_peers(options.methods)
    names = [name for name in options.methods if name not in absent]
    for name in (name for name in options.sets if name in DATASETS):
        problem = load(name, options.data, most_rows=None)
        own = [method for method in names if fits(method, problem.n_features)]
        found = best_seconds(problem, own, 2 if options.quick else ROUNDS)
        write(options.out / FILE, name, found)
        quick = ", ".join(f"{method} {found[method]:.3g}" for method in list(found)[:6])
        print(f"{name}, seconds: {quick}, ...", flush=True)


def best_seconds(problem: Problem, methods: Sequence[str], rounds: int) -> dict[str, float]:
    """The best of several rounds, in each of which every method is run once, slow ones in few.

    The first round compiles what is to be compiled, so that a second is worth some patience.
    """
    k = min(K, problem.n_features - 1)
    seconds = dict.fromkeys(methods, 0.0)
    for number in range(rounds):
        for method in methods:
            if seconds[method] <= (PATIENCE if number == 1 else ONCE):
                again = choose([method], problem, [k])[method].seconds
                seconds[method] = min(seconds[method] or again, again)
    return seconds


def write(path: Path, name: str, found: dict[str, float]) -> None:
    """Rows of a set; those of other sets and methods stay."""
    machine = asdict(describe_machine())
    fresh = [
        {"set": name, "method": method, "k": K, "seconds": f"{seconds:.6g}"} | machine
        for method, seconds in found.items()
    ]
    kept = [row for row in _lines(path) if row["set"] != name or row["method"] not in found]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fresh[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows([*kept, *fresh])


def read(path: Path) -> Seconds:
    """Seconds by set and method; of methods that are still known."""
    found: Seconds = {}
    for row in _lines(path):
        if row["method"] in METHODS:
            found.setdefault(row["set"], {})[row["method"]] = float(row["seconds"])
    return found


def where(path: Path) -> str:
    """Machine, date and commit of the last row."""
    lines = _lines(path)
    return "{cpu}, {threads} threads, commit {commit}, {date}".format(**lines[-1]) if lines else ""


def _lines(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
