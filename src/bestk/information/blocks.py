"""Entropies of a table that comes in blocks, of which codes are kept."""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from bestk._memory import memory_to_use
from bestk._typing import Indices
from bestk.data.blocks import SAMPLE_ROWS, Blocks, Part, Reservoir, Sample
from bestk.data.codes import CodeBlocks, Codes
from bestk.data.table import Table, find_constant, find_features, find_numeric, refuse_other_type
from bestk.data.text import TextNumbers
from bestk.information.coding import discretise
from bestk.information.entropies import Entropies
from bestk.information.reading import Measured, Reading, cut_target, refuse_identifier

MAX_VALUES_IN_MEMORY = 2**27  # of a table in blocks that is read whole


@dataclass(frozen=True)
class Stream:
    """Blocks of rows, and a sample of them."""

    blocks: Blocks
    sample: Sample
    n_rows: int | None  # of the table, if all were seen

    @classmethod
    def look(cls, blocks: Blocks, seed: int) -> "Stream":
        """Draw a sample: of all rows, or of the first where one pass has to do."""
        if not blocks.once:
            sample = (blocks.quick_sample and blocks.quick_sample(seed)) or _draw(blocks, seed)
            return cls(blocks, sample, sample.n_rows)
        parts, head, left = iter(blocks), [], SAMPLE_ROWS
        while left > 0 and (part := next(parts, None)) is not None:
            head.append(part)
            left -= part[0].n_samples
        sample = _draw(head, seed)
        rest = chain(_drain(head), parts)
        n_rows = sample.n_rows if left > 0 else None
        return cls(Blocks(lambda: rest, once=True), sample, n_rows)

    @property
    def is_short(self) -> bool:
        """Whether the sample is the whole table, and small enough to be read as one in memory."""
        if self.n_rows is None or not self.sample.is_whole:
            return False
        values = self.n_rows * self.sample.table.n_features
        return values <= MAX_VALUES_IN_MEMORY and 32 * values <= memory_to_use()


def _draw(blocks: Any, seed: int) -> Sample:
    reservoir = Reservoir(seed, SAMPLE_ROWS)
    for table, y in blocks:
        reservoir.add(table, y)
    if not reservoir.n_rows:
        raise ValueError("there are no rows in any block; one block at least must have some")
    return reservoir.finish()


def _drain(parts: list[Part]) -> Iterator[Part]:
    """Hand parts over, so that those worked on are forgotten."""
    while parts:
        yield parts.pop(0)


@dataclass(frozen=True)
class Cuts:
    """How to make blocks of rows discrete: cuts and constant columns, found in a sample."""

    numeric: Indices  # the columns that are cut
    discretizer: Any  # fitted on them, or None
    constant: Indices  # columns of one value in the sample
    text: TextNumbers  # columns of numbers or dates that are written as text
    target: Any = None  # a fitted discretiser of a continuous target

    @classmethod
    def find(
        cls, reading: Reading, sample: Sample, allowed: Indices, keep_fitted: bool = False
    ) -> "Cuts":
        """Fit discretisers of the numbers and of the target, where they are needed."""
        categorical = find_features(reading.categorical_features, sample.table)
        text = TextNumbers.find(sample.table, categorical)
        table, target = text.parse(sample.table), reading.parse(sample.y, len(sample.y))
        numeric, fitted, cut = np.intersect1d(find_numeric(table, categorical), allowed), None, None
        if target.continuous and target.classes.n_classes:  # refuses what cannot be cut
            cut = cut_target(target.numbers)
        if reading.discretizer is None or not len(numeric):
            numeric = numeric[:0]
        elif keep_fitted and is_fitted(reading.discretizer):
            fitted = _as_fitted(reading.discretizer, len(numeric))
        else:
            kept, every = table.keep(numeric), np.arange(len(numeric))
            fitted = discretise(reading.discretizer, kept, every, target.classes)[1]
        return cls(numeric, fitted, find_constant(table), text, cut)

    def apply(self, part: Part, allowed: Indices) -> Part:
        """The allowed columns of a block, with codes for numbers; and its classes."""
        table, y = self.text.parse(part[0]), part[1]
        if self.discretizer is not None and table.n_samples:
            table = self._cut(table)
        if self.target is not None and len(y):
            y = self.target.transform(np.asarray(y, np.float64).reshape(-1, 1))[:, 0]
        return table if len(allowed) == table.n_features else table.keep(allowed), np.asarray(y)

    def _cut(self, table: Table) -> Table:
        kinds = table.kinds[self.numeric]
        if (odd := np.flatnonzero(kinds != "numeric")).size:
            refuse_other_type(table.names[self.numeric[odd[0]]], "numeric", kinds[odd[0]])
        return discretise(self.discretizer, table, self.numeric, None)[0]

    def varying(self, allowed: Indices, included: Indices, levels: Indices) -> Indices:
        """Places of allowed columns, but for those constant in the sample and in all rows."""
        aside = np.isin(allowed, np.setdiff1d(self.constant, included)) & (levels == 1)
        return np.flatnonzero(aside.all() | ~aside)


def is_fitted(discretizer: Any) -> bool:
    """Whether a discretiser is given fitted."""
    known = vars(discretizer) if hasattr(discretizer, "__dict__") else {}
    return any(name.endswith("_") and not name.startswith("_") for name in known)


def _as_fitted(discretizer: Any, n_columns: int) -> Any:
    """A discretiser that was fitted before, to be given arrays."""
    fitted = copy(discretizer)
    vars(fitted).pop("feature_names_in_", None)
    if (n := getattr(fitted, "n_features_in_", n_columns)) != n_columns:
        raise ValueError(
            f"the discretizer is fitted on {n} columns, and {n_columns} are numeric; fit it on "
            "those that are to be cut, and no others"
        )
    return fitted


def count_codes(
    blocks: CodeBlocks, reading: Reading, cuts: Cuts, allowed: Indices, included: Indices
) -> tuple[Measured, Indices]:
    """Count blocks of the allowed columns: what was measured, and of which columns.

    Columns that are included are measured even where they are constant.
    """
    codes, target = blocks.join()
    refuse_identifier(target.n_classes, codes.n_samples)
    places = cuts.varying(allowed, included, codes.levels)
    if len(places) < codes.n_features:
        names = [codes.names[j] for j in places]
        codes = Codes(codes.values[places], codes.levels[places], names)
    options = reading.backend, reading.correction, reading.n_jobs
    entropies, kept = Entropies.count(codes, target, *options), allowed[places]
    cut = None if cuts.discretizer is None else np.flatnonzero(np.isin(kept, cuts.numeric))
    return Measured(entropies, None, cuts.discretizer, codes.levels, cut), kept
