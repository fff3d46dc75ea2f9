"""Tables of up to a million columns with informative pairs of columns.

Classes are two, of equal size. Of each planted pair the first column, the anchor, is relevant
alone; the second, its partner, hardly is, but says much beside its anchor. With signs a, b and y
of the two columns and the class, cells are filled by their share, not by lot:

    P(a, b | y) = (1 + y (ANCHOR a + PARTNER b + TOGETHER a b)) / 4

so that I(a; y) is about 0.024 nats, I(b; y) 0.006 and I(a, b; y) 0.30. Among a million columns
of coin tosses and 1,000 rows some hundreds seem to say more than a partner does alone: relevance
finds the anchors only. Columns of three levels have the third, which says nothing, at one place
in five.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

TARGET = "class"
ANCHOR, PARTNER, TOGETHER = 0.22, 0.11, 0.66
STRIP = 2**24  # values made at once
BLANK = 0.2  # places of the third level, where there is one


@dataclass(frozen=True)
class Planted:
    """What is planted, and where."""

    n: int
    m: int
    levels: int
    pairs: int
    density: float = 0.5  # ones among the tosses of the other columns
    seed: int = 0

    @property
    def y(self) -> NDArray[np.int64]:
        """The classes, 0 and 1 by turns."""
        return np.arange(self.m) % 2

    @property
    def places(self) -> NDArray[np.int64]:
        """The planted columns: a row for each pair, anchor first."""
        rng = np.random.default_rng(self.seed)
        return rng.choice(self.n, (self.pairs, 2), replace=False)

    def strips(self) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """Yield the table some columns at a time, each time with the place of the first."""
        rng = np.random.default_rng([self.seed, 1])
        order = np.argsort(self.places, axis=None)
        where, what = self.places.ravel()[order], self._columns(rng)[order]
        width = max(1, STRIP // self.m)
        for start in range(0, self.n, width):
            strip = self._tosses(rng, min(width, self.n - start))
            here = slice(*np.searchsorted(where, [start, start + strip.shape[1]]))
            strip[:, where[here] - start] = what[here].T
            yield start, self._blanked(rng, strip)

    def _tosses(self, rng: Any, width: int) -> NDArray[np.uint8]:
        if self.density == 0.5:
            packed = rng.integers(0, 256, (self.m, -(-width // 8)), np.uint8)
            return np.unpackbits(packed, axis=1, count=width)
        return (rng.random((self.m, width), np.float32) < self.density).astype(np.uint8)

    def _columns(self, rng: Any) -> NDArray[np.uint8]:
        """Anchors and partners by turns, a row each."""
        columns = np.empty((self.pairs, 2, self.m), np.uint8)
        for y in (0, 1):
            rows = np.flatnonzero(self.y == y)
            for pair in columns:
                pair[:, rows] = _fill_cells(2 * y - 1, rng.permutation(len(rows)))
        return columns.reshape(-1, self.m)

    def _blanked(self, rng: Any, strip: NDArray[np.uint8]) -> NDArray[np.uint8]:
        if self.levels == 3:
            strip[rng.random(strip.shape, np.float32) < BLANK] = 2
        return strip


def _fill_cells(y: int, order: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Both columns of a pair for the rows of a class, in that order."""
    a, b = np.array([-1, -1, 1, 1]), np.array([-1, 1, -1, 1])
    share = (1 + y * (ANCHOR * a + PARTNER * b + TOGETHER * a * b)) / 4
    ends = np.rint(np.cumsum(share) * len(order)).astype(np.int64)
    cell = np.searchsorted(ends, order, side="right")
    return np.stack([cell // 2, cell % 2]).astype(np.uint8)


def write_table(planted: Planted, form: str, folder: Path) -> Path:
    """Write the table to a file of a form; it is made a strip at a time, and never held."""
    path = folder / f"planted.{SUFFIXES[form]}"
    WRITERS[form](planted, path)
    return path


def read_table(form: str, path: Path) -> tuple[Any, Any]:
    """The table and its classes, as a selector is given them."""
    from bestk.tables.files import load
    from bestk.tables.sources import open_source

    if form == "parquet":
        loaded = load(open_source(path), TARGET)
        return loaded.table, loaded.y
    if form == "sparse":
        return sparse.load_npz(path), None
    return np.load(path, mmap_mode="r" if form == "memmap" else None), None


def _write_array(planted: Planted, path: Path) -> None:
    shape = planted.m, planted.n
    table = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=shape)
    for start, strip in planted.strips():
        table[:, start : start + strip.shape[1]] = strip
    table.flush()


def _write_sparse(planted: Planted, path: Path) -> None:
    strips = [sparse.csc_array(strip) for _, strip in planted.strips()]
    sparse.save_npz(path, sparse.hstack(strips, format="csc"), compressed=False)


def _write_parquet(planted: Planted, path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    columns = [pa.array(column) for _, strip in planted.strips() for column in strip.T.copy()]
    names = [f"x{place}" for place in range(planted.n)]
    table = pa.Table.from_arrays([*columns, pa.array(planted.y)], [*names, TARGET])
    parquet.write_table(table, path, write_statistics=False)


SUFFIXES = {
    "array": "npy", "memmap": "npy", "sparse": "npz", "parquet": "parquet"
}  # fmt: skip
WRITERS = {
    "array": _write_array, "memmap": _write_array, "sparse": _write_sparse,
    "parquet": _write_parquet,
}  # fmt: skip
