"""Rows that come in blocks: read whole if they are few, block by block as codes if many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from bestk._memory import memory_to_use
from bestk._typing import Array, Indices
from bestk.data.blocks import (
    Blocks,
    Part,
    Sample,
    join_rows,
    join_values,
    open_blocks,
    read_values,
    split_target,
)
from bestk.data.codes import CodeBlocks
from bestk.data.frames import as_array, read_features, read_table
from bestk.data.table import Table
from bestk.data.target import is_fractional, note_on_target, weighted_rows
from bestk.information.blocks import Cuts, Stream, count_codes, is_fitted
from bestk.selection.base import FOUND, forget, select_number
from bestk.selection.choose_k import AUTO
from bestk.selection.pipeline import Columns, Task, seed_of, settle

CODES_SHARE = 0.5  # of the memory to use; the bits of codes take about as much again


def read_blocks(selector: Any, X: Any, y: Any, sample_weight: Any = None) -> Task:
    """Read and measure a table that comes in blocks."""
    seed, how = seed_of(selector.random_state), settle(selector, blocks=True)
    blocks = open_weighted(X, y, sample_weight)
    if how.information == "gaussian":
        blocks = replace(blocks, once=False, quick_sample=None)  # there is no second pass
    stream = Stream.look(blocks, int(seed or 0))
    sample = stream.sample
    note_columns(selector, sample.table)
    selector.n_samples_seen_, selector._in_blocks = stream.n_rows, not stream.is_short
    gaussian = how.information == "gaussian"
    if not stream.is_short and not gaussian:
        return _count_blocks(selector, stream, seed)
    table = read_features(sample.table, selector.categorical_features)
    if gaussian and not sample.is_whole:
        rows = f"a random sample of {table.n_samples:,} of {sample.n_rows:,} rows"
        note = f"rows in blocks: information='gaussian' is estimated from {rows}"
        table = replace(table, notes=(*table.notes, note))
    return Task.of(selector, table, sample.y)


def open_weighted(X: Any, y: Any, sample_weight: Any = None) -> Blocks:
    """The blocks; with a column of weights, each row as often as its weight says."""
    blocks = open_blocks(X, y)
    if sample_weight is None:
        return blocks
    if not isinstance(sample_weight, str):
        raise ValueError(
            f"X comes in blocks, and sample_weight is a {type(sample_weight).__name__}; give the "
            "name of a column of weights, or pass the weights of each block to partial_fit"
        )

    def repeat() -> Iterator[Part]:
        for table, values in blocks.open():
            rest, weights = split_target(table, sample_weight)
            rows = repeat_block(weights, values)
            yield rest.take(rows), values[rows]

    return replace(blocks, open=repeat, quick_sample=None)


def repeat_block(weights: Any, y: Array) -> Indices:
    """The rows of a block as often as their weights say; none where all weights are zero."""
    return weighted_rows(weights, y, len(y)) if np.any(weights) else np.arange(0)


def _count_blocks(selector: Any, stream: Stream, seed: Any) -> Task:
    table, y = stream.sample.table, stream.sample.y
    columns = Columns.of(selector, table)
    reading = columns.reading(selector, np.arange(table.n_features), blocks=True)
    start, blocks = perf_counter(), _code_blocks(seed)
    cuts, selector.n_samples_seen_ = Cuts.find(reading, stream.sample, columns.allowed), 0
    for part in stream.blocks:
        selector.n_samples_seen_ += part[0].n_samples
        blocks.add(*cuts.apply(part, columns.allowed))
    read, kept = count_codes(blocks, reading, cuts, columns.allowed, columns.included)
    seconds, table = perf_counter() - start, cuts.text.parse(table)
    task = Task.measured(selector, table, columns, kept, read, seconds)
    own = note_on_target(selector.target, y)
    notes = [*cuts.text.notes, own, _note_on_blocks(selector), _note_on_share(blocks)]
    target = reading.parse(y, len(y))
    return replace(task, targets=(target,), notes=tuple(note for note in notes if note))


def _code_blocks(seed: Any) -> CodeBlocks:
    return CodeBlocks(CODES_SHARE * memory_to_use(), int(seed or 0))


def _note_on_share(blocks: CodeBlocks) -> str | None:
    """That not all rows are used, where they are too many."""
    if blocks.share == 1:
        return None
    return (
        f"rows in blocks: the codes of all rows do not fit into memory; a random share of "
        f"{blocks.share:.3g} of the rows is used"
    )


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


def _counts_levels(selector: Any) -> bool:
    if selector.information == "gaussian":
        raise AttributeError(
            "partial_fit counts levels; information='gaussian' takes blocks in fit"
        )
    if selector.k == AUTO:
        raise AttributeError("partial_fit holds no rows to choose k='auto' on; give k as a number")
    return True


class PartialFit:
    """``partial_fit``, and results that are worked out when they are first asked for."""

    n_samples_seen_: int
    _blocks: CodeBlocks
    _cuts: Cuts
    _waiting: list[Part]  # rows of one class, which alone do not show where to cut numbers

    @available_if(_counts_levels)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Encode a block of rows; features are selected when a result is asked for.

        Levels and classes may be new in any block. Results are those of ``fit`` on all rows so
        far, where columns are discrete or the discretiser is given fitted: one that is not is
        fitted on the first block, which should then be large and mixed. Blocks before that of the
        second class are held until it comes. Of other rows only codes are held, one byte a value,
        so that no :class:`SelectionWarning` is given on single columns.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As for ``fit``.
        y : array-like of shape (n_rows,)
            The classes.
        classes : array-like, default=None
            Not used; classes may be new in any block.
        sample_weight : array-like of shape (n_rows,), default=None
            How often each row counts, as for ``fit``.

        Returns
        -------
        self
        """
        selector: Any = self
        selector._validate_params()
        first = "_blocks" not in vars(self)
        if first:
            forget(selector)
        table = read_table(selector._check_table(X, reset=first))
        values = read_values(y, table.n_samples)
        if sample_weight is not None:
            rows = repeat_block(as_array(sample_weight), values)
            table, values = table.take(rows), values[rows]
        if first:
            self._blocks, self._waiting = _code_blocks(seed_of(selector.random_state)), []
            self.n_samples_seen_ = 0
            selector._in_blocks = True
        for name in FOUND:
            vars(self).pop(name, None)
        self.n_samples_seen_ += table.n_samples
        if not table.n_samples:  # all weights are zero
            return self
        blocks = [*self._waiting, (table, values)]
        if "_cuts" not in vars(self):
            cuts = _first_look(selector, blocks)
            if cuts is None:
                self._waiting.append((table.take(np.arange(table.n_samples)), values.copy()))
                return self
            self._cuts = cuts
        self._waiting = []
        for block in blocks:
            allowed = Columns.of(self, block[0]).allowed
            self._blocks.add(*self._cuts.apply(block, allowed))
        return self

    def __getattr__(self, name: str) -> Any:
        if name == "partial_fit":
            _counts_levels(self)  # raises an error that names the option
        if name not in FOUND or "_blocks" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        _solve(self)
        return vars(self)[name]


def _first_look(selector: Any, blocks: list[Part]) -> Cuts | None:
    """What cuts the numbers of all blocks; None where it waits for a second class."""
    tables, targets = zip(*blocks, strict=True)
    table, y = join_rows(tables), join_values(targets)
    sample = Sample(len(y), table, y)
    columns = Columns.of(selector, table)
    reading = columns.reading(selector, np.arange(table.n_features), blocks=True)
    if selector.target == "auto":  # a few rows do not show whether whole numbers are classes
        reading = replace(reading, target="continuous" if is_fractional(y) else "classes")
    to_fit = reading.discretizer is not None and not is_fitted(reading.discretizer)
    if to_fit and (y == y[0]).all():
        return None
    return Cuts.find(reading, sample, columns.allowed, keep_fitted=True)


def _solve(selector: Any) -> None:
    """Select from the blocks so far."""
    if selector._waiting:
        came = selector._waiting[0][1][0]
        raise ValueError(f"y has one class only, {came}; at least two are needed")
    n, cuts = selector.n_features_in_, selector._cuts
    names = getattr(selector, "feature_names_in_", [f"x{j}" for j in range(n)])
    schema = Table(selector.n_samples_seen_, list(names), ())
    columns = Columns.of(selector, schema)
    reading = columns.reading(selector, np.arange(n), blocks=True)
    read, kept = count_codes(selector._blocks, reading, cuts, columns.allowed, columns.included)
    task = Task.measured(selector, schema, columns, kept, read)
    notes = [*cuts.text.notes, _note_on_blocks(selector), _note_on_share(selector._blocks)]
    task = replace(task, notes=tuple(note for note in notes if note))
    selector.solution_ = select_number(selector, task, n)
    selector._keep(task)


def note_columns(selector: Any, table: Table) -> None:
    """Remember the columns, as scikit-learn does for a table."""
    selector.n_features_in_ = table.n_features
    if list(table.names) != [f"x{j}" for j in range(table.n_features)]:
        selector.feature_names_in_ = np.array(list(table.names), dtype=object)
