"""The gap that seconds buy on wide tables: ``python -m benchmarks.solvers.gaps --seconds 60``.

Bounds use a GPU where torch finds one. Each line is printed and kept in ``gaps.csv``.
"""

import argparse
import csv
import os
from dataclasses import asdict
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.machine import RESULTS, describe_machine
from benchmarks.solvers.measure import certify
from bestk import BQP, Quadratic, select

SETS = ("colon", "lymphoma", "gisette_like", "leukemia")
FIELDS = ("set", "objective", "n", "k", "limit", "seconds", "cpu_seconds", "value", "upper_bound",
          "gap_percent", "fixed_in", "fixed_out", "gpu", "commit", "cpu", "threads",
          "date")  # fmt: skip
RUN = ("set", "objective", "k", "limit", "gpu")  # what tells one run from the others


class Matrix:
    """A solver that only keeps the matrix it is given."""

    name, needs = "matrix", "matrix"

    def __init__(self) -> None:
        self.Q = np.zeros((0, 0))

    def pick(self, problem: BQP, run: Any) -> Any:
        """Any choice."""
        self.Q = problem.Q
        return np.arange(problem.k)


def problem_of(path: Path, objective: str, k: int) -> BQP:
    """The problem of a set: ``cmi`` after CAIM, or that of another objective."""
    with np.load(path, allow_pickle=False) as data:
        X, y = data["X"], data["y"]
    keeper = Matrix()
    select(X, y, k, Quadratic(objective, keeper), bound=None)
    return BQP(keeper.Q, k)


def gpu() -> str:
    """The name of the GPU, if torch finds one."""
    try:
        import torch
    except ImportError:
        return ""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("BESTK_DATA"))
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--objectives", nargs="+", default=["cmi", "balanced"])
    parser.add_argument("--ks", type=int, nargs="+", default=[10, 20, 50])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    path, device = chosen.out / "gaps.csv", gpu()
    machine = asdict(describe_machine())
    for name in chosen.sets:
        for objective in chosen.objectives:
            for k in chosen.ks:
                problem = problem_of(Path(chosen.data) / f"{name}.npz", objective, k)
                start, cpu = perf_counter(), process_time()
                found = certify(problem, chosen.seconds)
                row = {
                    "set": name, "objective": objective, "n": problem.n, "k": k,
                    "limit": chosen.seconds, "seconds": round(perf_counter() - start, 2),
                    "cpu_seconds": round(process_time() - cpu, 2), "value": found.objective,
                    "upper_bound": found.upper_bound, "gpu": device,
                    "gap_percent": 100 * (found.upper_bound - (v := found.objective)) / abs(v),
                    **{key: found.details.get(key, "") for key in ("fixed_in", "fixed_out")},
                    **{key: machine[key] for key in ("commit", "cpu", "threads", "date")},
                }  # fmt: skip
                what = f"{name:14} {objective:7} n = {problem.n:<5} k = {k:<3}"
                print(f"{what} {row['seconds']:6.1f} s  gap {row['gap_percent']:.3f}%", flush=True)
                keep(path, row)


def keep(path: Path, row: dict[str, Any]) -> None:
    """Add a row to the file, in place of an older one of the same run."""
    rows = list(csv.DictReader(path.open())) if path.exists() else []
    kept = [other for other in rows if any(other[key] != str(row[key]) for key in RUN)]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*kept, row])


if __name__ == "__main__":
    main()
