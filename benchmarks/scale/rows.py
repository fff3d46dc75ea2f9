"""Select from more rows than fit in memory: ``python -m benchmarks.scale.rows --gigabytes 20``.

Blocks of rows are generated when they are read, and a sample of them is held, so that the table is
as long as asked for whatever the machine. Ten columns tell of the class alone, and two together
only. Time is that of ``SelectBestK.fit``, with and without the time that the blocks took to be
made. A row of ``benchmarks/results/rows.csv`` keeps what was found.
"""

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter, process_time

import numpy as np

from benchmarks.machine import RESULTS
from benchmarks.scale.record import Row, append, peak_gib
from bestk import SelectBestK

FILE = RESULTS / "rows.csv"
TELLING = 10  # columns, and two more that tell together
BLOCK_BYTES = 2**26


@dataclass
class Generated:
    """A table of which each block is made when it is asked for, the same each time."""

    n_columns: int
    n_rows: int
    levels: int  # 0: numbers
    seed: int = 0
    seconds: float = 0.0  # spent making blocks
    passes: int = field(default=0, init=False)

    @property
    def n_bytes(self) -> int:
        """As numbers of 8 bytes."""
        return 8 * self.n_columns * self.n_rows

    def __call__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Make the blocks, from the first."""
        self.passes += 1
        height = max(1, BLOCK_BYTES // (8 * self.n_columns))
        for number, first in enumerate(range(0, self.n_rows, height)):
            start = perf_counter()
            block = self._block(number, min(height, self.n_rows - first))
            self.seconds += perf_counter() - start
            yield block

    def _block(self, number: int, height: int) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng([self.seed, number])
        y = random.integers(0, 2, height)
        X = random.random((height, self.n_columns))
        X[:, :TELLING] += 0.1 * y[:, None]
        X[:, TELLING] = (X[:, TELLING + 1] > 0.5) ^ y ^ (X[:, TELLING] < 0.3)
        if self.levels:
            np.floor(X * self.levels, out=X)
        return X, y


def main() -> None:
    options = _read_options()
    n_rows = max(1, round(options.gigabytes * 1e9 / (8 * options.columns)))
    table = Generated(options.columns, n_rows, options.levels)
    selector = SelectBestK(
        options.k, options.method, information=options.information,
        discretizer=None if options.levels else options.discretizer,
    )  # fmt: skip
    warm = Generated(options.columns, 2000, options.levels)
    selector.fit(warm)  # loads
    before = peak_gib()
    start, cpu = perf_counter(), process_time()
    selector.fit(table)
    seconds, cpu = perf_counter() - start, process_time() - cpu
    found = int((selector.solution_.support < TELLING + 2).sum())
    gigabytes = table.n_bytes / 1e9
    load = max(0.0, os.getloadavg()[0] - 1)
    work = seconds - table.seconds
    detail = (
        f"{table.passes} passes over {gigabytes:.1f} GB; {gigabytes / seconds:.2f} GB/s; without "
        f"the {table.seconds:.0f} s to make blocks {gigabytes / work:.2f} GB/s; "
        f"{found} of {TELLING + 2} telling columns found; {before:.2f} GiB before; others on the "
        f"machine: load {load:.0f}; {cpu:.0f} s of one core, blocks included"
    )
    what = f"{options.method}, {options.information}"
    levels = str(options.levels or options.discretizer)
    row = Row("rows", what, options.columns, n_rows, levels, options.k, round(seconds, 1),
              round(peak_gib(), 3), detail)  # fmt: skip
    print(row)
    if not options.dry:
        append(row, FILE)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=20.0, help="of numbers of 8 bytes")
    parser.add_argument("--columns", type=int, default=250)
    parser.add_argument("--levels", type=int, default=0, help="0: numbers, to be discretised")
    parser.add_argument("--discretizer", default="auto")
    parser.add_argument("--information", default="auto")
    parser.add_argument("--method", default="auto")
    parser.add_argument("-k", type=int, default=12)
    parser.add_argument("--dry", action="store_true", help="do not keep the row")
    return parser.parse_args()


if __name__ == "__main__":
    main()
