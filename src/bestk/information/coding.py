"""The columns of a table as codes: numbers are cut, by one discretiser or by several at once."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from bestk._typing import Indices
from bestk.data.codes import Codes, encode
from bestk.data.table import Block, Table, split_numbers
from bestk.data.target import Target
from bestk.discretize import DISCRETIZERS, Discretizer, EqualFrequency, fit_together

MIN_LEVEL_ROWS, MIN_LEVEL_SHARE = 20, 0.1  # of a level in a pair; rarer ones are merged
MIN_CELL_ROWS = 10  # on average, of a pair of terciles and a class; with fewer, medians are used
MAX_TERCILE_FEATURES = 10_000  # above, too: medians take a quarter of the time
MAX_FINE_BINS, MIN_FINE_CELL_ROWS = 8, 6  # of a second look at pairs
MAX_FINE_WORK = 3e11  # of it: pairs of columns times cells times rows; about a second
MAX_PAIR_PVALUE = 0.05  # of a synergy as large in any of all pairs
PAIR_ROWS = 500  # rows that take as long to count as the rest of a pair
MAX_SMALL_CUTS = 254  # of a column whose codes, one of them for missing values, take a byte


def code_table(
    ways: Sequence[Any], table: Table, numeric: Indices, target: Target,
    also: Sequence[Discretizer] = (),
) -> Iterator[tuple[Codes, Target, Any]]:  # fmt: skip
    """For each way to cut the numbers: codes, classes, and the fitted discretiser.

    Rows come by class, or in their own order. Other discretisers are fitted too, in the same pass
    if any.
    """
    order = np.argsort(target.codes, kind="stable")  # rows of a class are packed at once
    classes = replace(target, codes=target.codes[order])
    if not len(numeric) or ways[0] is None:
        yield encode(table, order), classes, None
        return
    fitted = [get_discretizer(way) for way in ways]
    table.check_exact(numeric)
    numbers, rest = split_numbers(table, numeric)
    found = fit_together([*fitted, *also], numbers.values, target.codes, len(ways))
    if found is None or max(cuts.counts.max() for cuts in found) > MAX_SMALL_CUTS:
        for way in ways:
            cut, own = discretise(way, table, numeric, target)
            yield encode(cut), target, own
        return
    others = np.flatnonzero(~table.mask(numeric))
    coded = encode(table.keep(others), order) if rest else None
    for own, cuts in zip(fitted, found, strict=False):
        values: Any = cuts.codes
        levels = cuts.counts + 1 + cuts.gaps
        if coded is not None:
            part = values, levels
            values = np.empty((table.n_features, table.n_samples), coded.values.dtype)
            levels = np.empty(table.n_features, np.int64)
            values[numeric], levels[numeric] = part
            values[others], levels[others] = coded.values, coded.levels
        yield Codes(values, levels, table.names), classes, own


def discretise(
    discretizer: Any, table: Table, numeric: Indices, target: Target | None
) -> tuple[Table, Any]:
    """The same table with codes for its numbers, and the discretiser that was fitted on them.

    Without a target, the discretiser that is given is fitted already.
    """
    fitted = discretizer
    if target is not None:
        fitted = get_discretizer(discretizer)
        table.check_exact(numeric)
    numbers, rest = split_numbers(table, numeric)
    try:
        with np.errstate(invalid="ignore"):  # where infinities of both signs are added up
            if target is not None:
                fitted.fit(numbers.values, target.codes)
            codes = fitted.transform(numbers.values)
    except ValueError:
        table.numeric()  # names a column of infinite values
        raise
    blocks = *rest, Block(numeric, "numeric", codes)
    return Table(table.n_samples, table.names, blocks), fitted


def cut_numbers(table: Table, numeric: Indices, n_bins: int) -> Codes:
    """The codes of a table, numbers in bins of equal frequency."""
    n = table.n_samples
    one_class = Target(np.zeros(n, np.int64), np.zeros(1), np.array([n]))  # rows keep their order
    return next(code_table([EqualFrequency(n_bins)], table, numeric, one_class))[0]


def pair_bins(n_features: int, n_samples: int, n_classes: int) -> list[int]:
    """The bins of numbers in pairs: three, or two where rows are few or columns are many.

    Where time and rows allow, pairs are also counted in more bins, for shapes that few bins hide.
    """
    few_rows = n_samples < 9 * n_classes * MIN_CELL_ROWS
    coarse = 2 if few_rows or n_features > MAX_TERCILE_FEATURES else 3
    fine = min(MAX_FINE_BINS, int((n_samples / (n_classes * MIN_FINE_CELL_ROWS)) ** 0.5))
    work = n_features**2 * (fine - 1) ** 2 * (n_samples + PAIR_ROWS)
    return [coarse, fine] if fine >= 2 * coarse and work <= MAX_FINE_WORK else [coarse]


def merge_rare(codes: Codes, n_bins: int) -> Codes:
    """The same codes with rare levels made one, in columns of more than so many.

    Chi-square needs some rows in every cell.
    """
    several = np.flatnonzero(codes.levels > n_bins)
    if not len(several):
        return codes
    values = codes.values.copy()
    for i in several:
        counts = np.bincount(values[i])
        rare = counts < max(MIN_LEVEL_ROWS, MIN_LEVEL_SHARE * codes.n_samples)
        values[i] = np.where(rare[values[i]], len(counts), values[i])
    return encode(values.T)


def get_discretizer(discretizer: Any) -> Any:
    """A discretiser to fit, of that name or like the one given, which gives arrays."""
    if isinstance(discretizer, str):
        if discretizer not in DISCRETIZERS:
            known = ", ".join(DISCRETIZERS)
            raise ValueError(f"unknown discretizer {discretizer!r}; choose one of {known}, or None")
        fresh: Any = DISCRETIZERS[discretizer]()
    else:
        fresh = clone(discretizer)
    return fresh.set_output(transform="default") if hasattr(fresh, "set_output") else fresh
