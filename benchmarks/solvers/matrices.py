"""The matrices: random, published, and of information of real data."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import nan
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from benchmarks.counting.cases import made_up
from bestk.bqp.problem import BQP
from bestk.discretize import CAIM
from bestk.information import cmi_matrix

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Matrix:
    """A matrix by name, made when it is first asked for."""

    name: str
    n: int
    make: Callable[[], Floats]

    def problem(self, k: int) -> BQP:
        """The problem of choosing k items."""
        return BQP(_made(self), k)


@lru_cache(maxsize=1)  # the largest fill half a gigabyte
def _made(matrix: Matrix) -> Floats:
    return matrix.make()


def random_matrix(n: int, seed: int) -> Floats:
    """Symmetric, entries the means of two uniform numbers in [0, 1)."""
    A = np.random.default_rng([n, seed]).random((n, n))
    A += A.T.copy()
    A *= 0.5
    return A


def at_random(n: int, seed: int) -> Matrix:
    return Matrix("random", n, lambda: random_matrix(n, seed))


@dataclass(frozen=True)
class Listed:
    """A problem of the literature and the best value of x'Qx known for it."""

    matrix: Matrix
    k: int
    best: float
    authors: float = nan  # what the authors' own TPower attains


def listed(folder: Path | None) -> list[Listed]:
    """Every case of a folder of instances; none where there is no folder."""
    if folder is None or not (folder / "instances.json").exists():
        return []
    cases = []
    for entry in json.loads((folder / "instances.json").read_text()):
        path = folder / entry["file"]
        matrix = Matrix(entry["name"], entry["n"], lambda path=path: load_instance(path))
        for case in entry["cases"]:
            # the literature counts each pair once
            best = case.get("best_xQx") or 2 * case["best"]
            authors = case.get("authors_xWx_over_k", {}).get("TPower_DkS", nan) * case["k"]
            cases.append(Listed(matrix, case["k"], best, authors))
    return cases


def load_instance(path: Path) -> Floats:
    """Q from distances of points, edges of a graph, or an upper triangle."""
    with np.load(path, allow_pickle=False) as z:
        n = int(z["n"])
        Q = np.zeros((n, n))
        if "coords" in z:
            points = z["coords"].astype(float)
            Q = np.sqrt(sum(np.subtract.outer(x, x) ** 2 for x in points.T))
        elif "edges" in z:
            a, b = z["edges"].astype(int).T
            Q[a, b] = Q[b, a] = 1
        else:
            Q[np.triu_indices(n, 1)] = z["tri"].astype(float) / int(z["scale"])
            Q += Q.T
        if "diag" in z:
            np.fill_diagonal(Q, z["diag"])
    return Q


def data_sets(folder: Path | None) -> list[Matrix]:
    """What pairs of columns say about the class, for each data set of a folder, by size."""
    paths = sorted(folder.glob("*.npz")) if folder else []
    sets = [from_data(path) for path in paths]
    return sorted(sets, key=lambda matrix: matrix.n)


def from_data(path: Path, first: int | None = None) -> Matrix:
    """The symmetric matrix of conditional information after CAIM; of some first columns."""
    n = first or _n_columns(path)
    return Matrix(path.stem if first is None else f"{path.stem} first", n, lambda: _count(path, n))


def _n_columns(path: Path) -> int:
    """Width of the table X, from the header of its file."""
    with ZipFile(path) as archive, archive.open("X.npy") as file:
        np.lib.format.read_magic(file)
        return int(np.lib.format.read_array_header_1_0(file)[0][1])


def _count(path: Path, n: int) -> Floats:
    with np.load(path, allow_pickle=False) as data:
        X, y = data["X"][:, :n], data["y"]
    return cmi_matrix(CAIM().fit_transform(X, y), y, symmetric=True)


def made_information(name: str, n: int, samples: int) -> Matrix:
    """The same for made-up columns of three levels and three classes."""
    return Matrix(name, n, lambda: cmi_matrix(*made_up(samples, n, 3, 3), symmetric=True))
