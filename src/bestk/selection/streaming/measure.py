"""Entropies of a table that comes in blocks: counts of pairs, or codes, whichever take less."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestk.data.blocks.blocks import Blocks, Part, read_through
from bestk.data.blocks.codes import GrowingCodes
from bestk.data.blocks.sample import SAMPLE_ROWS, Reservoir, Sample
from bestk.data.table import Table
from bestk.information import Entropies
from bestk.information.counted.counts import PairCounts
from bestk.information.counted.memory import bytes_of_codes, bytes_of_counts, memory_to_use
from bestk.native.threads import threads
from bestk.selection.reading import Read, Reading, find_features
from bestk.selection.streaming._discrete import Discrete, fit_discrete

Indices = NDArray[np.int64]
COUNTED_HERE = (
    "auto",
    "native",
    "numba",
)  # backends whose results the counts of pairs give as well


@dataclass(frozen=True)
class Stream:
    """Blocks of which a first look has been taken."""

    blocks: Blocks
    sample: Sample
    passes: int  # that were needed for it

    @classmethod
    def look(cls, blocks: Blocks, seed: int, whole: bool, rows: int = SAMPLE_ROWS) -> "Stream":
        """Draw a sample: of all rows, or of the first where one pass has to do."""
        if whole and not blocks.once:
            blocks, sample = read_through(blocks, lambda some: _draw(some, seed, rows))
            return cls(blocks, sample, passes=1)
        parts = iter(blocks)
        head: list[Part] = []
        while sum(table.n_samples for table, _ in head) < rows:
            if not (more := list(islice(parts, 1))):
                break
            head += more
        sample = _draw(iter(head), seed, rows)
        if not blocks.once:
            return cls(blocks, sample, passes=0)
        rest = chain(_drain(head), parts)
        return cls(Blocks(lambda: rest, once=True), sample, passes=0)

    @property
    def n_rows(self) -> int | None:
        """Rows of the table, if they were all seen."""
        return self.sample.n_rows if self.passes else None

    @property
    def schema(self) -> Table:
        """The columns without the rows."""
        return Table(self.sample.n_rows, self.sample.names, ())

    def measure(self, reading: Reading, allowed: Indices) -> tuple[Read, int]:
        """The entropies of some of the columns, and the rows that they are of."""
        names = [self.sample.names[j] for j in allowed]
        categorical = find_features(reading.categorical_features, Table(0, names, ()))
        numeric = np.setdiff1d(self.sample.numeric, allowed[categorical])
        numeric = numeric[np.isin(numeric, allowed)]
        if reading.information == "gaussian":
            return self._gaussian(reading, allowed, numeric), self.sample.n_rows
        discrete = fit_discrete(reading, self.sample, numeric)
        counted = self._counting(reading, allowed, discrete).run()
        places = None if discrete.discretizer is None else np.searchsorted(allowed, numeric)
        read = Read(counted.entropies, None, discrete.discretizer, places, counted.levels)
        return read, counted.n_rows

    def _counting(self, reading: Reading, allowed: Indices, discrete: Discrete) -> "Counting":
        return Counting(self, reading, allowed, discrete)

    def _gaussian(self, reading: Reading, allowed: Indices, numeric: Indices) -> Read:
        from bestk.information.counted.gaussian import ProductSums

        if len(odd := np.setdiff1d(allowed, numeric)):
            raise ValueError(
                f"column {self.sample.names[odd[0]]!r} is not numeric throughout, and "
                "information='gaussian' is for numbers; exclude it, encode it as numbers, or use "
                "information='discrete'"
            )
        if self.n_rows is None:
            raise ValueError(
                "information='gaussian' takes two passes over the blocks, and a generator gives "
                "one; pass a list of blocks, a function that returns them, or a file"
            )
        sums = ProductSums(self.sample, numeric, reading.is_continuous(self.sample.y))
        for table, y in self.blocks:
            sums.add(table if len(allowed) == table.n_features else table.keep(allowed), y)
        with threads(reading.n_jobs):
            source = sums.source(reading.correction)
            signed = reading.correction is not None
            return Read(Entropies(*source.singles(), source, signed, reading.n_jobs), None)


def _draw(blocks: Any, seed: int, rows: int) -> Sample:
    reservoir = Reservoir(seed, rows)
    for table, y in blocks:
        reservoir.add(table, y)
    if not reservoir.n_rows:
        raise ValueError("there are no rows in any block; one block at least must have some")
    return reservoir.finish()


def _drain(parts: list[Part]) -> Iterator[Part]:
    """Hand parts over, so that those worked on are forgotten."""
    while parts:
        yield parts.pop(0)


class Counted(NamedTuple):
    """What the pass that counts has found."""

    entropies: Entropies
    levels: Indices
    n_rows: int


@dataclass(frozen=True)
class Counting:
    """The pass that counts."""

    stream: Stream
    reading: Reading
    allowed: Indices
    discrete: Discrete
    memory: float = field(default_factory=memory_to_use)

    def run(self) -> Counted:
        """Count, one way or the other."""
        parts = self._parts()
        first = next(parts)
        if self._prefers_counts(*first):
            try:
                return self._by_counts(chain([first], parts))
            except MemoryError as error:
                if self.stream.blocks.once:
                    raise
                refusal = str(error)
            try:
                return self._by_codes(self._parts())
            except MemoryError as error:
                raise MemoryError(f"{refusal}; {error}") from error
        return self._by_codes(chain([first], parts))

    def _parts(self) -> Iterator[Part]:
        everything = len(self.allowed) == len(self.stream.sample.names)
        for table, y in self.stream.blocks:
            kept = self.discrete.table(table)
            kept = kept if everything else kept.keep(self.allowed)
            yield kept, self.discrete.classes(y)

    def _prefers_counts(self, table: Table, y: NDArray[Any]) -> bool:
        """Whether counts take less memory than codes, as far as the first rows tell."""
        if self.reading.backend not in COUNTED_HERE:
            return False
        if self.stream.n_rows is None:
            return True
        from bestk.data.codes import encode

        levels = encode(table).levels
        n_planes, n_classes = int((levels - 1).sum()), len(np.unique(y))
        itemsize = 1 if levels.max() <= 2**8 else 2
        codes = bytes_of_codes(self.stream.n_rows, len(levels), n_planes, itemsize)
        counts = bytes_of_counts(n_planes, n_classes)
        return counts <= self.memory and (counts < codes or codes > self.memory)

    def _by_counts(self, parts: Iterator[Part]) -> Counted:
        counts = PairCounts(memory=self.memory)
        for table, y in parts:
            counts.add(table, y)
        self._refuse_identifiers(len(counts.classes), counts.n_samples)
        entropies = counts.entropies(self.reading.correction, self.reading.n_jobs)
        return Counted(entropies, counts.levels, counts.n_samples)

    def _by_codes(self, parts: Iterator[Part]) -> Counted:
        growing = GrowingCodes(self.stream.n_rows, self.memory)
        for table, y in parts:
            growing.add(table, y)
        codes, target = growing.finish()
        self._refuse_identifiers(target.n_classes, codes.n_samples)
        options = self.reading.backend, self.reading.correction, self.reading.n_jobs
        return Counted(Entropies.count(codes, target, *options), codes.levels, codes.n_samples)

    def _refuse_identifiers(self, n_classes: int, n_rows: int) -> None:
        if n_classes == n_rows > 2:
            raise ValueError(
                f"y has a different value in each of its {n_rows} rows, so there are no classes; "
                "is it an identifier? If it is a number to predict, pass target='continuous'"
            )
