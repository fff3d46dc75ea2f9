"""Rows that come in blocks: read whole if they are few, counted block by block if they are many."""

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from bestk.data.blocks import open_blocks
from bestk.data.frames import read_features
from bestk.data.table import Table
from bestk.data.target import note_on_target
from bestk.information.blocks import Counting, Cuts, Stream
from bestk.selection.pipeline import Columns, Task, seed_of, settle


def read_blocks(selector: Any, X: Any, y: Any) -> Task:
    """Read and measure a table that comes in blocks."""
    stream = _look(selector, X, y)
    sample = stream.sample
    note_columns(selector, sample.table)
    selector.n_samples_seen_, selector._in_blocks = stream.n_rows, not stream.is_short
    gaussian = selector.information == "gaussian"
    if not stream.is_short and not gaussian:
        return _count_blocks(selector, stream)
    table = read_features(sample.table, selector.categorical_features)
    if gaussian and not sample.is_whole:
        rows = f"a random sample of {table.n_samples:,} of {sample.n_rows:,} rows"
        note = f"rows in blocks: information='gaussian' is estimated from {rows}"
        table = replace(table, notes=(*table.notes, note))
    return Task.of(selector, table, sample.y)


def _look(selector: Any, X: Any, y: Any) -> Stream:
    """The blocks, and a sample of their rows where cut points or Gaussian estimates need one."""
    seed, how = seed_of(selector.random_state), settle(selector, blocks=True)
    gaussian = how.information == "gaussian"
    needed = gaussian or how.discretizer is not None or selector.target == "continuous"
    blocks = open_blocks(X, y)
    if gaussian:
        blocks = replace(blocks, once=False)  # there is no second pass
    return Stream.look(blocks, int(seed or 0), needed)


def _count_blocks(selector: Any, stream: Stream) -> Task:
    columns = Columns.of(selector, stream.sample.table)
    stream, text = stream.parsed(selector.categorical_features)
    table, y = stream.sample.table, stream.sample.y
    reading = columns.reading(selector, np.arange(table.n_features), blocks=True)
    start = perf_counter()
    cuts = Cuts.find(reading, stream.sample, columns.allowed, text)
    counted = Counting(stream, reading, cuts, columns.allowed, columns.included).run()
    seconds = perf_counter() - start
    task = Task.measured(selector, table, columns, counted.kept, counted.measured, seconds)
    selector.n_samples_seen_ = counted.n_rows
    notes = [*text.notes, note_on_target(selector.target, y), _note_on_blocks(selector)]
    target = reading.parse(y, len(y))
    return replace(task, targets=(target,), notes=tuple(note for note in notes if note))


def _note_on_blocks(selector: Any) -> str | None:
    """What is done in another way than in memory, and why."""
    if settle(selector).information != "blend":
        return None
    how = settle(selector, blocks=True)
    return (
        f"rows in blocks: information is counted in bins ({how.discretizer}, correction "
        f"{how.correction!r}) and features are judged by pairs, since the blend of estimates and "
        "the covariances that a table in memory gives need all rows at once"
    )


def note_columns(selector: Any, table: Table) -> None:
    """Remember the columns, as scikit-learn does for a table."""
    selector.n_features_in_ = table.n_features
    if list(table.names) != [f"x{j}" for j in range(table.n_features)]:
        selector.feature_names_in_ = np.array(list(table.names), dtype=object)
