"""From any table and target to entropies: types, discretisation, estimate."""

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bestk.data.codes import Target, encode, read_continuous_target, read_target
from bestk.data.table import Block, Table, read_column, read_table
from bestk.data.whole import refuse_merging
from bestk.data.written import parse_text
from bestk.discretize import DISCRETIZERS, Discretizer, EqualFrequency, codes_of
from bestk.errors import UnknownNameError
from bestk.information import (
    BlendedSource,
    Correction,
    Entropies,
    GaussianSource,
    PairSource,
    ScoredTable,
    largest_by_chance,
    measure_covariances,
)
from bestk.native.threads import threads

Indices = NDArray[np.int64]
TARGET_BINS = 5  # classes of equal frequency, where a continuous target is to be counted
MANY_CLASSES, MOST_CODES = (
    20,
    100,
)  # different whole numbers that are classes, or may be their codes
ROWS_PER_CLASS = 20  # fewer on average, and many different whole numbers are a quantity
SEVERAL = -1  # the place of a name that is not of one column only
INFORMATION = ("discrete", "gaussian", "blend")
BLENDED = ("mdlp", "equal-frequency")  # levels of numbers whose counts are averaged
BLENDED_SHARE = 3.0**-0.5  # of the error of one count in the mean of three estimates
LARGEST_BLEND = 2**28  # values above which only the first of them is counted


@dataclass(frozen=True)
class Reading:
    """How a table is to be read; see :class:`bestk.SelectBestK` for what each option means."""

    information: str = "discrete"
    discretizer: Any = "caim"
    correction: Correction | None = None
    categorical_features: Any = "from_dtype"
    target: str = "auto"
    backend: str = "auto"
    n_jobs: int | None = None

    def measure(self, table: Table, y: Any) -> "Read":
        """The entropies of a table and its target."""
        if self.information not in INFORMATION:
            known = ", ".join(map(repr, INFORMATION))
            raise ValueError(f"unknown information {self.information!r}; choose one of {known}")
        categorical = find_features(self.categorical_features, table)
        if self.information == "blend":
            return self._blended(table, y, categorical)
        if self.information == "gaussian":
            return self._gaussian(table, y, categorical)
        return self._counted(table, y, categorical)

    def _blended(self, table: Table, y: Any, categorical: Indices) -> "Read":
        """Counts of one or two kinds of levels, corrected for chance, and covariances, averaged."""
        auto = isinstance(self.discretizer, str) and self.discretizer == "auto"
        ways = BLENDED if auto else (self.discretizer,)
        numeric = np.flatnonzero(table.kinds == "numeric")
        numeric = numeric[~np.isin(numeric, categorical)]
        large = table.n_samples * table.n_features > LARGEST_BLEND
        alone = large or not len(numeric)  # without numbers, all ways count the same
        counting = replace(self, information="discrete", correction=self.correction or "chance")
        reads = [
            replace(counting, discretizer=way)._counted(table, y, categorical)
            for way in (ways[:1] if alone else ways)
        ]
        if large:
            return reads[0]
        goal = self._goal(y, table.n_samples)
        source: PairSource = reads[0].entropies.source
        scores = np.empty((0, table.n_samples))
        if len(numeric):
            kept = table if len(numeric) == table.n_features else table.keep(numeric)
            with threads(self.n_jobs):
                scored = ScoredTable(kept.numeric()[0], goal, "standard")
                normal = GaussianSource(scored)
            source = BlendedSource([read.entropies.source for read in reads], normal, numeric)
            scores = scored.values
        others = np.setdiff1d(np.arange(table.n_features), numeric)
        codes = encode(table.keep(others)).values if len(others) else ()
        covariances = measure_covariances((numeric, scores), (others, codes), goal)
        levels = np.asarray(reads[-1].levels)
        blended = np.isin(np.arange(table.n_features), numeric) & (levels > 1)
        share = np.where(blended, BLENDED_SHARE, 1.0)
        chance = share * largest_by_chance(levels, table.n_samples, covariances.n_groups)
        entropies = Entropies(
            *source.singles(), source, signed=True, n_jobs=self.n_jobs, covariances=covariances,
            levels=levels, share=share, chance=chance,
        )  # fmt: skip
        return replace(reads[0], entropies=entropies)

    def _goal(self, y: Any, n_samples: int) -> Any:
        """The classes of y, or its numbers."""
        read = read_continuous_target if self.is_continuous(y) else self.classes
        return read(y, n_samples)

    def _gaussian(self, table: Table, y: Any, categorical: Indices) -> "Read":
        odd = np.flatnonzero(table.kinds != "numeric")
        if len(odd := np.union1d(odd, categorical)):
            first = int(odd[0])
            kind = table.kinds[first] if table.kinds[first] != "numeric" else "categorical"
            raise ValueError(
                f"column {table.names[first]!r} is {kind}, and information='gaussian' is for "
                "numbers; exclude it, encode it as numbers, or use information='discrete'"
            )
        goal = self._goal(y, table.n_samples)
        with threads(self.n_jobs):
            scored = ScoredTable(table.numeric()[0], goal)
            source = GaussianSource(scored, correction=self.correction)
            every = np.arange(table.n_features)
            covariances = measure_covariances((every, scored.values), (every[:0], ()), goal)
            signed = self.correction is not None
            pairs = np.full(table.n_features, 2)  # a column takes one parameter, like two levels
            entropies = Entropies(
                *source.singles(), source, signed, self.n_jobs, covariances, pairs,
                chance=largest_by_chance(pairs, table.n_samples, covariances.n_groups),
            )  # fmt: skip
            return Read(entropies, goal)

    def _counted(self, table: Table, y: Any, categorical: Indices) -> "Read":
        target = self.classes(y, table.n_samples)
        numeric = np.flatnonzero(table.kinds == "numeric")
        numeric = numeric[~np.isin(numeric, categorical)]
        fitted = None
        if self.discretizer is not None and len(numeric):
            table, fitted = self._discretised(table, numeric, target)
        codes = encode(table)
        entropies = Entropies.count(codes, target, self.backend, self.correction, self.n_jobs)
        return Read(entropies, target, fitted, None if fitted is None else numeric, codes.levels)

    def _discretised(self, table: Table, numeric: Indices, target: Target) -> tuple[Table, Any]:
        """The same table with codes for its numbers, and the discretiser that made them."""
        discretizer = get_discretizer(self.discretizer)
        by_column = isinstance(discretizer, Discretizer)  # then blocks need no common type
        refuse_merging(table.blocks, table.names, numeric)
        parts, blocks = split_numbers(table, numeric, together=not by_column)
        cuts: dict[int, Any] = {}
        for part in parts:
            try:
                with np.errstate(invalid="ignore"):  # where infinities of both signs are added up
                    discretizer.fit(part.values, target.codes)
                    codes = codes_of(discretizer, part.values)
            except ValueError:
                table.numeric()  # names a column of infinite values
                raise
            blocks.append(Block(part.columns, "numeric", codes))
            if by_column:
                cuts |= zip(part.columns.tolist(), discretizer.cut_points_, strict=True)
        if len(parts) > 1:
            discretizer.cut_points_ = [cuts[column] for column in numeric.tolist()]
            discretizer.n_features_in_ = len(numeric)
        return Table(table.n_samples, table.names, tuple(blocks)), discretizer

    def classes(self, y: Any, n_samples: int) -> Target:
        """The classes of y; a continuous one is cut into classes of equal frequency."""
        if not self.is_continuous(y):
            target = read_target(y, n_samples)
            if target.n_classes == n_samples > 2:
                raise ValueError(
                    f"y has a different value in each of its {n_samples} rows, so there are no "
                    "classes; is it an identifier? If it is a number to predict, pass "
                    "target='continuous'"
                )
            return target
        values = read_continuous_target(y, n_samples)
        if n_samples == 1:
            raise ValueError("y has 1 sample; at least two are needed")
        bins = cut_target(values).transform(values.reshape(-1, 1))
        if not bins.any():
            largest = values.max()
            raise ValueError(
                f"y is {largest} in {(values == largest).sum()} of its {n_samples} rows, too often "
                "to be cut into classes of equal frequency; give y as classes of your own"
            )
        return read_target(bins[:, 0], n_samples)

    def is_continuous(self, y: Any) -> bool:
        """As asked; "auto": y holds fractions, or whole numbers that are a quantity."""
        if self.target not in ("auto", "classes", "continuous"):
            known = "'auto', 'classes' or 'continuous'"
            raise ValueError(f"unknown target {self.target!r}; choose {known}")
        if self.target != "auto":
            return self.target == "continuous"
        block = read_column(y)
        return is_fractional(block) or _is_quantity(block)


@dataclass(frozen=True)
class Read:
    """A table as it was read: its entropies, and what it was made of."""

    entropies: Entropies
    target: Any  # the classes, or the numbers of a continuous target
    discretizer: Any = None  # fitted on the numeric columns, or None
    discretised: NDArray[np.int64] | None = None  # the columns that it was fitted on
    levels: NDArray[np.int64] | None = None  # of each column, where they were counted


def read_features(X: Any, categorical_features: Any = None) -> Table:
    """Read a table to select from: numbers and dates written as text are numbers, too.

    Columns of text among the categorical features stay text.
    """
    table = read_table(X)
    if not any(block.kind == "string" for block in table.blocks):
        return table
    return parse_text(table, find_features(categorical_features, table).tolist())


def cut_target(values: NDArray[np.float64]) -> Any:
    """What makes classes of numbers: each value one, or classes of equal frequency."""
    known = np.unique(values)
    basis = known if 1 < len(known) <= TARGET_BINS else values
    return get_discretizer(EqualFrequency(n_bins=TARGET_BINS)).fit(basis.reshape(-1, 1))


def get_discretizer(discretizer: Any) -> Any:
    """A discretiser to fit, of that name or like the one given, which gives arrays."""
    if isinstance(discretizer, str):
        if discretizer not in DISCRETIZERS:
            known = ", ".join(DISCRETIZERS)
            raise ValueError(f"unknown discretizer {discretizer!r}; choose one of {known}, or None")
        discretizer = DISCRETIZERS[discretizer]()
    fresh = clone(discretizer)
    return fresh.set_output(transform="default") if hasattr(fresh, "set_output") else fresh


def find_features(features: Any, table: Table) -> Indices:
    """The places of features given by name, index or mask; of none for None or "from_dtype"."""
    if features is None or (isinstance(features, str) and features == "from_dtype"):
        return np.empty(0, np.int64)
    single = isinstance(features, str | Integral) or getattr(features, "ndim", 1) == 0
    chosen: list[Any] = [features] if single else list(features)
    if chosen and all(isinstance(item, bool | np.bool_) for item in chosen):
        if len(chosen) != table.n_features:
            came = f"{len(chosen)} values and the table has {table.n_features} columns"
            raise ValueError(f"a mask of features needs a value for each column; it has {came}")
        return np.flatnonzero(chosen)
    if not chosen:
        return np.empty(0, np.int64)
    places: dict[str, int] = {}
    for place, name in enumerate(table.names):
        places[name] = place if name not in places else SEVERAL
    return np.array([_place(item, places, table.n_features) for item in chosen], np.int64)


def _place(item: Any, places: dict[str, int], n: int) -> int:
    if isinstance(item, str):
        if places.get(item) == SEVERAL:
            raise ValueError(f"there are several columns {item!r}; give the index of the one meant")
        if item in places:
            return places[item]
        raise UnknownNameError("column", item, places, "the table")
    item = item[()] if isinstance(item, np.ndarray) else item
    if not isinstance(item, int | np.integer):
        raise ValueError(f"a feature must be given by its name or its index, not by {item!r}")
    if not -n <= item < n:
        raise ValueError(f"there is no column {item}: the table has {n}, from 0 to {n - 1}")
    return int(item) % n


def split_numbers(
    table: Table, numeric: Indices, together: bool
) -> tuple[list[Block], list[Block]]:
    """Blocks of the numbers of some columns, as one if they are to be together; and the rest."""
    wanted = np.zeros(table.n_features, dtype=bool)
    wanted[numeric] = True
    parts = [block.keep(wanted[block.columns]) for block in table.blocks]
    parts = [block for block in parts if len(block.columns)]
    rest = [block.keep(~wanted[block.columns]) for block in table.blocks]
    rest = [block for block in rest if len(block.columns)]
    if len(parts) == 1 or not together:
        return parts, rest
    dtype = np.result_type(np.float32, *(block.values.dtype for block in parts))
    values = np.empty((table.n_samples, len(numeric)), dtype, order="F")
    for block in parts:
        for columns, strip in block.strips():
            values[:, np.searchsorted(numeric, columns)] = strip
    return [Block(numeric, "numeric", values)], rest


def note_on_target(target: str, y: Any) -> str | None:
    """What to say of whole numbers that could be classes as well as a quantity."""
    block = read_column(y)
    if target != "auto" or block.kind != "numeric" or is_fractional(block):
        return None
    n, rows = len(np.unique(block.values)), len(block.values)
    if _is_quantity(block):
        taken, other = "numbers to predict", "pass target='classes' if they are classes"
    elif n > max(MANY_CLASSES, rows / 10):
        taken, other = "classes", "pass target='continuous' if they are a quantity"
    else:
        return None
    return f"y holds {n} different whole numbers in {rows} rows, taken as {taken}; {other}"


def _is_quantity(block: Block) -> bool:
    """Whether whole numbers are too many to be classes, and do not look like their codes.

    Codes are 0, 1, 2, ... or 1, 2, 3, ..., each in two rows or more.
    """
    if block.kind != "numeric" or block.categories is not None:
        return False
    values, counts = np.unique(block.values, return_counts=True)
    n, few = len(values), len(block.values) < ROWS_PER_CLASS * len(values)
    if n <= MANY_CLASSES:
        return False
    if values[0] in (0, 1) and values[-1] - values[0] == n - 1 and counts.min() > 1:
        return few and n > MOST_CODES
    return few or n > MOST_CODES


def is_fractional(y: Any) -> bool:
    """Whether a target holds numbers with a fractional part."""
    block = y if isinstance(y, Block) else read_column(y)
    if block.categories is not None or block.values.dtype.kind != "f":
        return False
    known = block.values[~np.isnan(block.values)]
    return bool((known != np.floor(known)).any())
