"""Select from a Parquet file: ``python -m benchmarks.scale.parquet --rows 1000000``.

A file of float32 columns is written into a temporary folder, or to ``--file``. By turns pyarrow
reads all its rows in batches, and ``SelectBestK.fit`` selects from it: seconds, seconds of the
processors, and how many times the reading the selection takes. A row of
``benchmarks/results/parquet.csv`` keeps the best.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks.machine import RESULTS
from benchmarks.scale.record import Row, append, peak_gib
from benchmarks.scale.rows import TELLING, Generated
from bestk import SelectBestK

FILE = RESULTS / "parquet.csv"
TARGET = "class"
BATCH_VALUES = 2**23  # that pyarrow reads at once


def main() -> None:
    options = _read_options()
    selector = SelectBestK(options.k, options.method)
    with TemporaryDirectory() as folder:
        path = options.file or Path(folder, "table.parquet")
        if not path.exists():
            _write(path, options)
        size = path.stat().st_size / 1e9
        print(f"{options.rows} x {options.columns} float32: {size:.2f} GB", flush=True)
        found = [
            (_timed(lambda: _read(path)), _timed(lambda: selector.fit(path, TARGET)))
            for _ in range(options.rounds)
        ]
    (reading, read_cpu), (selecting, cpu) = (
        np.min(column, axis=0) for column in zip(*found, strict=True)
    )
    hits = int((selector.solution_.support < TELLING + 2).sum())
    detail = (
        f"pyarrow reads it in {reading:.2f} s, {read_cpu:.2f} s of one core; selection "
        f"{selecting / reading:.2f} times that, {cpu / read_cpu:.2f} times the processor; "
        f"{cpu:.2f} s of one core; row groups of {options.group}; {hits} of {TELLING + 2} telling"
    )
    row = Row("parquet", options.method, options.columns, options.rows, "float32", options.k,
              round(float(selecting), 2), round(peak_gib(), 3), detail)  # fmt: skip
    print(row)
    if not options.dry:
        append(row, FILE)


def _write(path: Path, options: argparse.Namespace) -> None:
    """Write row groups of a generated table."""
    names = [f"x{j}" for j in range(options.columns)]
    schema = pa.schema([*((name, pa.float32()) for name in names), (TARGET, pa.int64())])
    pieces: list[Any] = []
    with parquet.ParquetWriter(path, schema) as writer:
        for X, y in Generated(options.columns, options.rows, levels=0)():
            columns = [*X.T.astype(np.float32, order="C"), y]
            pieces.append(pa.Table.from_arrays([pa.array(c) for c in columns], schema=schema))
            while sum(map(len, pieces)) >= options.group:
                table = pa.concat_tables(pieces)
                writer.write_table(table[: options.group], options.group)
                pieces = [table[options.group :]]
        if sum(map(len, pieces)):
            writer.write_table(pa.concat_tables(pieces), options.group)


def _read(path: Path) -> None:
    """Read one row group after another: a single call keeps in memory all that it has read."""
    file = parquet.ParquetFile(path)
    rows = max(1, BATCH_VALUES // len(file.schema_arrow.names))
    for group in range(file.num_row_groups):
        for _ in file.iter_batches(rows, row_groups=[group]):
            pass


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the clock and of the processors."""
    start, cpu = perf_counter(), process_time()
    work()
    return perf_counter() - start, process_time() - cpu


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--group", type=int, default=2**20, help="rows of a row group")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--method", default="auto")
    parser.add_argument("-k", type=int, default=12)
    parser.add_argument("--file", type=Path, help="a file to use again, or to write and keep")
    parser.add_argument("--dry", action="store_true", help="do not keep the row")
    return parser.parse_args()


if __name__ == "__main__":
    main()
