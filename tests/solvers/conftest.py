"""Random problems, brute force, and the benchmark instances where they are present."""

import json
import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from bestk.bqp.problem import BQP


def optimum(problem):
    """The best value over all choices."""
    return max(problem.value(items) for items in combinations(range(problem.n), problem.k))


KINDS = ("positive", "signed", "low rank", "ties", "zero", "copies")
PENALTIES = (*KINDS, "penalties")
UNTIED = KINDS[:3]  # where rounding does not decide which of two equal items is taken


@st.composite
def problems(draw, max_n=10, kinds=KINDS):
    """Small problems of every temper: negative entries, ties, zeros, tiny and huge ones."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = int(rng.integers(1, max_n + 1))  # drawn evenly: hypothesis would try n = 1 half the time
    k = int(rng.integers(1, n + 1))
    kind = draw(st.sampled_from(kinds))
    Q = rng.random((n, n))
    if kind == "signed":
        Q = rng.normal(size=(n, n))
    elif kind == "ties":
        Q = rng.integers(0, 3, (n, n)).astype(float)
    elif kind == "zero":
        Q = np.zeros((n, n))
    elif kind == "low rank":
        factor = rng.normal(size=(n, 2))
        Q = factor @ factor.T
    elif kind == "copies":
        copied = rng.integers(0, n, n)
        Q = Q[np.ix_(copied, copied)]
    elif kind == "penalties":
        Q = np.round(rng.random((n, n)), draw(st.sampled_from([0, 1, 16])))
        pairs = rng.integers(0, n, (int(rng.integers(1, n + 1)), 2))
        Q[pairs[:, 0], pairs[:, 1]] = -(10.0 ** rng.uniform(3, 17, len(pairs)))
    return BQP((Q + Q.T) * draw(st.sampled_from([2.0**-40, 1.0, 2.0**40])), k)  # ties stay ties


def instance_folder():
    return Path(os.environ.get("BESTK_BQP") or "bqp")


def load_instance(name):
    """Q of a benchmark instance, or skip the test."""
    path = instance_folder() / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"instance {name!r} is not in {path.parent}; set BESTK_BQP to the folder")
    with np.load(path, allow_pickle=False) as z:
        n = int(z["n"])
        Q = np.zeros((n, n))
        if "coords" in z:
            X = z["coords"].astype(float)
            Q = np.sqrt(((X[:, None, :] - X[None, :, :]) ** 2).sum(-1))
        elif "edges" in z:
            a, b = z["edges"].astype(int).T
            Q[a, b] = Q[b, a] = 1
        else:
            Q[np.triu_indices(n, 1)] = z["tri"].astype(float) / int(z["scale"])
            Q += Q.T
        if "diag" in z:
            np.fill_diagonal(Q, z["diag"])
    return Q


def listed_cases(prefix=""):
    """(name, k, best value of x'Qx) of every listed case; empty where the folder is absent."""
    index = instance_folder() / "instances.json"
    if not index.exists():
        return []
    return [
        (entry["name"], case["k"], case.get("best_xQx") or 2 * case["best"])
        for entry in json.loads(index.read_text())
        if entry["name"].startswith(prefix)
        for case in entry["cases"]
    ]


def authors_results(name, method):
    """x'Wx / k that the authors of a method stored for an instance, by k."""
    index = json.loads((instance_folder() / "instances.json").read_text())
    cases = next(entry["cases"] for entry in index if entry["name"] == name)
    return {case["k"]: case["authors_xWx_over_k"][method] for case in cases}
