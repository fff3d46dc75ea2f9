"""The tables that are counted: real ones after CAIM, if present, and synthetic ones."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bestk.discretize import CAIM
from bestk.tables.codes import Codes, encode
from bestk.tables.target import ClassTarget, read_classes

Table = NDArray[np.int16]


@dataclass(frozen=True)
class Case:
    """A discrete table and its classes."""

    name: str
    title: str
    X: Table  # (n_samples, n_features), as a discretiser returns it
    y: NDArray[np.int64]
    raw: NDArray[np.generic] | None = None  # what was discretised, if anything

    @cached_property
    def codes(self) -> Codes:
        """The table as the counting stage reads it."""
        return encode(self.X)

    @cached_property
    def target(self) -> ClassTarget:
        """The classes as the counting stage reads them."""
        return read_classes(self.y, len(self.X))

    @property
    def shape(self) -> str:
        """Size in words."""
        levels = np.unique(self.codes.levels)
        span = f"{levels[0]}" if len(levels) == 1 else f"{levels[0]}-{levels[-1]}"
        n, m, c = self.n_features, len(self.X), self.target.n_classes
        return f"n = {n} features, m = {m} samples, {span} levels, {c} classes"

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    @property
    def n_pairs(self) -> int:
        """Number of unordered pairs of columns."""
        return self.n_features * (self.n_features - 1) // 2


def made_up(m: int, n: int, levels: int, classes: int, seed: int = 0) -> tuple[Table, Table]:
    """Return columns of which one in three leans towards the class, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(m) % classes)
    X = rng.integers(0, levels, (m, n), dtype=np.int16)
    told = rng.random((m, n), dtype=np.float32) < np.where(rng.random(n) < 1 / 3, 0.3, 0.0)
    return np.where(told, (y % levels)[:, None], X).astype(np.int16), y


def synthetic(name: str, title: str, m: int, n: int, levels: int, classes: int) -> Case:
    return Case(name, title, *made_up(m, n, levels, classes))


def after_caim(name: str, folder: Path | None, m: int, n: int) -> Case:
    """The data set of that name after CAIM; a made-up one of the same shape where it is absent."""
    path = None if folder is None else folder / f"{name}.npz"
    if path is None or not path.exists():
        return synthetic(f"{name}_stand_in", f"synthetic, the shape of {name}", m, n, 2, 2)
    with np.load(path) as data:
        raw, y = data["X"], data["y"].astype(np.int64)
    return Case(name, f"{name} after CAIM", CAIM().fit_transform(raw, y), y, raw)


def cases(folder: Path | None, quick: bool) -> dict[str, Callable[[], Case]]:
    """Return a maker for each case, by name."""
    if quick:
        return {
            "gisette_like": lambda: _narrow(after_caim("gisette_like", folder, 6000, 4997), 600),
            "binary": lambda: synthetic("binary", "binary", 6000, 500, 2, 2),
            "ten_levels": lambda: synthetic("ten_levels", "ten levels", 2000, 100, 10, 10),
            "leukemia": lambda: _narrow(after_caim("leukemia", folder, 72, 7070), 1500),
        }
    return {
        "gisette_like": lambda: after_caim("gisette_like", folder, 6000, 4997),
        "binary": lambda: synthetic("binary", "binary", 6000, 2000, 2, 2),
        "ten_levels": lambda: synthetic("ten_levels", "ten levels", 2000, 649, 10, 10),
        "leukemia": lambda: after_caim("leukemia", folder, 72, 7070),
    }


def _narrow(case: Case, n: int) -> Case:
    raw = None if case.raw is None else case.raw[:, :n].copy()
    return Case(case.name, f"{case.title}, first {n}", case.X[:, :n].copy(), case.y, raw)
