"""Two installed versions of bestk side by side: ``python -m benchmarks.versions OTHER_PYTHON``.

Each version runs in a process of its own and the two take turns, so that load affects both.
Only calls that both versions have are timed: all pairs, discretizers, solvers, selections.
The default alone, on small and tall tables: ``--only default``.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine

RESULTS = Path(__file__).parent / "results" / "versions.csv"
ROUNDS = 7
WORKER = r"""
import json, os, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
from bestk import BQP, CAIM, MDLP, EqualFrequency, SelectBestK
from bestk import cmi_matrix, solve, stability_selection

def made_up(m, n, levels, classes):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(m) % classes)
    X = rng.integers(0, levels, (m, n), dtype=np.int16)
    follows = rng.random((m, n), dtype=np.float32) < np.where(rng.random(n) < 1 / 3, 0.3, 0.0)
    return np.where(follows, (y % levels)[:, None], X).astype(np.int16), y

def table(name):
    if name[0].isdigit():
        return made_up(*map(int, name.split("x")))
    with np.load(os.path.join(sys.argv[1], name + ".npz")) as data:
        return data["X"], data["y"].astype(np.int64)

kept = {}
def coded(name):
    X, y = table(name)
    return (X if name[0].isdigit() else CAIM().fit_transform(X, y)), y

def make(case):
    part, name, *rest = case
    if part == "pairs":
        X, y = coded(name)
        return lambda: cmi_matrix(X, y)
    if part == "cut":
        X, y = table(name)
        cutter = {"caim": CAIM, "mdlp": MDLP, "equal": EqualFrequency}[rest[0]]
        return lambda: cutter().fit_transform(X, y)
    if part == "solve":
        n, k = int(name), rest[1]
        rng = np.random.default_rng(n)
        Q = rng.random((n, n))
        problem = BQP((Q + Q.T) / 2, k)
        return lambda: solve(problem, None, rest[0], bound=None, random_state=0)
    if part == "bound":
        X, y = coded(name)
        problem = BQP(cmi_matrix(X, y, symmetric=True), rest[1])
        return lambda: solve(problem, None, "tpower", bound=rest[0])
    if part == "default":
        X, y = table(name)
        k = rest[0]
        return lambda: SelectBestK(k).fit(X, y)
    if part == "default in subsamples":
        X, y = table(name)
        return lambda: stability_selection(X, y, 10, n_subsamples=20)
    X, y = coded(name) if rest[2] == "codes" else table(name)
    options = {"discretizer": None} if rest[2] == "codes" else {"information": rest[2]}
    return lambda: SelectBestK(rest[1], rest[0], bound=None, **options).fit(X, y)

for line in sys.stdin:
    case = json.loads(line)
    key = line.strip()
    if key not in kept:
        kept.clear()
        kept[key] = make(case)
        kept[key]()
    start = time.perf_counter()
    kept[key]()
    once = time.perf_counter() - start
    for _ in range(4 if once < 0.2 else 0):
        start = time.perf_counter()
        kept[key]()
        once = min(once, time.perf_counter() - start)
    print(json.dumps(once), flush=True)
"""
CODES = ("6000x500x2x2", "72x7070x3x2", "2000x649x10x10")  # rows, columns, levels, classes
# Numbers of many values, by which the default is timed: small tables and tall ones.
SMALL = ("300x20x1000x2", "569x30x1000x2", "2000x100x1000x2")
TALL = ("20000x60x1000x2", "200000x14x1000x2")
SETS = ("spambase", "optdigits", "colon", "madelon")
SELECTIONS = (("tpower", "codes"), ("tpower", "discrete"), ("search", "blend"))
CASES: list[tuple[Any, ...]] = [
    *(("pairs", name) for name in ("gisette_like", "colon", "arrhythmia", "optdigits", *CODES)),
    ("pairs", "500x2000x4x3"),
    ("pairs", "100x4000x3x2"),
    *product(["cut"], ["gisette_like", "spambase", "colon", "musk2"], ["caim", "mdlp", "equal"]),
    *product(["solve"], ["2000"], ["linear", "spectral", "tpower", "lowrank", "swap"], [100]),
    ("solve", "300", "sdp", 30),
    ("solve", "300", "simplex", 30),
    ("solve", "1000", "search", 50),
    ("solve", "30", "exact", 6),
    *product(["bound"], ["arrhythmia", "madelon"], ["fast", "tight"], [20]),
    *product(["select"], CODES, ["jmi", "mrmr", "maxrel", "tpower"], [50], ["codes"]),
    *(("select", name, method, 10, how) for method, how in SELECTIONS for name in SETS),
    *(("default", name, 10) for name in (*SMALL, *TALL, *SETS)),
    *(("default", name, "auto") for name in SMALL),
    *(("default in subsamples", name) for name in SMALL),
]


class Worker:
    """A process that times cases with one version."""

    def __init__(self, python: str, data: str, path: str = "") -> None:
        env = {**os.environ, "PYTHONPATH": path}
        command, pipe = [python, "-c", WORKER, data], subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, text=True, env=env, cwd="/"
        )

    def seconds(self, case: tuple[object, ...]) -> float:
        """Best of a few calls, in seconds."""
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", help="Python of the environment that has the other version")
    parser.add_argument("--data", default=os.environ.get("BESTK_DATA", "../shared/data"))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    data = str(Path(options.data).resolve())
    ours = Worker(sys.executable, data, str(Path(__file__).parents[1] / "src"))
    theirs = Worker(options.python, data)
    rows = []
    for case in CASES:
        name = " ".join(map(str, case))
        if options.only and not any(word in name for word in options.only):
            continue
        pairs = [(ours.seconds(case), theirs.seconds(case)) for _ in range(options.rounds)]
        mine, other = (min(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        figures = {"ours_s": mine, "other_s": other, "best": mine / other, "median": ratio}
        rows.append({"case": name, **{key: f"{value:.4g}" for key, value in figures.items()}})
        print(f"{name:45s} {mine:9.4f} {other:9.4f}  {mine / other:6.2f} {ratio:6.2f}", flush=True)
    machine = asdict(describe_machine())
    with options.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], *machine])
        writer.writeheader()
        writer.writerows({**row, **machine} for row in rows)


if __name__ == "__main__":
    main()
