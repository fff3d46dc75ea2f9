"""Columns of a table as codes: numbers are cut into bins, and categories are numbered."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from bestk._typing import Array, Indices, Mask
from bestk.discretize import DISCRETIZERS, MAX_SMALL_CUTS, ColumnCuts, EqualFrequency, fit_together
from bestk.tables.codes import Codes, encode
from bestk.tables.table import Block, Table, split_numbers
from bestk.tables.target import ClassTarget

# Rare levels of a column are merged in pairs: those of fewer rows than the larger of a number and
# a part of all rows, as chi-square needs rows in every cell.
MIN_LEVEL_ROWS = 20
MIN_LEVEL_SHARE = 0.1

# Numbers are cut into three bins in pairs where a cell of two columns and a class has so many rows
# on average; else into two.
MIN_CELL_ROWS = 10

# The same for more columns than this: two bins take a quarter of the time.
MAX_TERCILE_FEATURES = 10_000

# Pairs are also looked at in more bins: at most so many, with so many rows in a cell on average,
# where that takes no more operations (pairs of columns, times cells, times rows): about a second.
MAX_FINE_BINS = 8
MIN_FINE_CELL_ROWS = 6
MAX_FINE_WORK = 3e11

# Rows that take as long to count as all else that a pair of columns needs.
PAIR_ROWS = 500

# A numeric column of at most so many different values is not cut: a genotype keeps its three.
FEW_VALUES = 8

# Most columns of more values show that in so many rows.
FIRST_ROWS = 64


@dataclass(frozen=True)
class CodedTable:
    """A table as codes, and how its numbers were cut."""

    codes: Codes

    classes: ClassTarget
    """The classes of the rows, in the order of the codes: by class, or as they came."""

    discretizer: Any
    """Fitted on the numeric columns; None where no numbers were cut."""


def code_table(
    discretizers: Sequence[Any], table: Table, numeric: Indices, target: ClassTarget
) -> Iterator[CodedTable]:
    """Code a table for each of several discretizers, which are fitted to its numbers.

    ``discretizers``: one of None if numbers are codes already, and are not cut.
    """
    order = target.order  # rows of a class are packed at once
    classes = target.in_order(order)
    if not len(numeric) or discretizers[0] is None:
        yield CodedTable(encode(table, order), classes, None)
        return
    table.check_exact(numeric)
    numbers, others = split_numbers(table, numeric)
    n_fitted = len(discretizers)
    cuts_of_each = fit_together(
        discretizers, numbers.values, target.codes, n_fitted, weights=target.weights
    )
    if cuts_of_each is None:
        for discretizer in discretizers:
            _fit_discretizer(discretizer, table, numeric, target)
    if cuts_of_each is None or not all(are_coded(cuts) for cuts in cuts_of_each):
        for discretizer in discretizers:
            codes = encode(_discretise(discretizer, table, numeric))
            yield CodedTable(codes, target, discretizer)
        return
    places_of_others = np.flatnonzero(~table.mask(numeric))
    coded_others = encode(table.keep(places_of_others), order) if others else None
    for discretizer, cuts in zip(discretizers, cuts_of_each, strict=True):
        values: Any = cuts.codes
        levels = cuts.counts + 1 + cuts.gaps
        if coded_others is not None:
            all_values = np.empty((table.n_features, table.n_samples), coded_others.values.dtype)
            all_values[numeric] = values
            all_values[places_of_others] = coded_others.values
            all_levels = np.empty(table.n_features, np.int64)
            all_levels[numeric] = levels
            all_levels[places_of_others] = coded_others.levels
            values = all_values
            levels = all_levels
        yield CodedTable(Codes(values, levels, table.names), classes, discretizer)


def are_coded(cuts: ColumnCuts) -> bool:
    """Whether the codes of all columns are known with their cuts."""
    return cuts.codes is not None and int(cuts.counts.max()) <= MAX_SMALL_CUTS


def _fit_discretizer(discretizer: Any, table: Table, numeric: Indices, target: ClassTarget) -> None:
    """Fit a discretiser to the numbers of some columns and the classes of the rows."""
    numbers, _ = split_numbers(table, numeric)
    try:
        with np.errstate(invalid="ignore"):  # where infinities of both signs are added up
            discretizer.fit(numbers.values, target.codes)
    except ValueError:
        table.numeric()  # names a column of infinite values
        raise


def _discretise(discretizer: Any, table: Table, numeric: Indices) -> Table:
    """The same table with codes for its numbers, by a discretiser that is fitted."""
    numbers, others = split_numbers(table, numeric)
    codes = discretizer.transform(numbers.values)
    return Table(table.n_samples, table.names, (*others, Block(numeric, "numeric", codes)))


def cut_numbers(table: Table, numeric: Indices, n_bins: int, few_values: int = 0) -> Codes:
    """The codes of a table, numbers in bins of equal frequency.

    ``few_values``: columns of at most so many different values keep them as levels.
    """
    n_rows = table.n_samples
    # Rows of one class keep their order.
    one_class = ClassTarget(np.zeros(n_rows, np.int64), np.zeros(1), np.array([n_rows]))
    coded = next(code_table([equal_frequency(n_bins)], table, numeric, one_class))
    if not few_values:
        return coded.codes
    return _keep_few_values(coded.codes, table, numeric, few_values)


def _keep_few_values(codes: Codes, table: Table, numeric: Indices, most: int) -> Codes:
    """The same codes, but numeric columns of few different values have each as a level."""
    is_numeric = table.mask(numeric)
    values = codes.values.copy()
    levels = codes.levels.copy()
    for block in table.blocks:
        for columns, strip in block.strips():
            chosen = np.flatnonzero(is_numeric[columns] & _start_with_few(strip, most))
            for j in chosen:
                different, own_codes = np.unique(strip[:, j], return_inverse=True)
                if len(different) <= most:
                    values[columns[j]] = own_codes
                    levels[columns[j]] = len(different)
    return replace(codes, values=values, levels=levels)


def _start_with_few(strip: Array, most: int) -> Mask:
    """Which columns have few different values in their first rows, missing ones apart."""
    first = np.sort(strip[:FIRST_ROWS], axis=0)
    return np.asarray((first[1:] > first[:-1]).sum(axis=0) < most)


def pair_bins(n_features: int, n_samples: int, n_classes: int) -> list[int]:
    """The bins of numbers in pairs: two or three; and more, where time and rows allow."""
    cells_of_three_bins = 9 * n_classes
    has_few_rows = n_samples < cells_of_three_bins * MIN_CELL_ROWS
    coarse = 2 if has_few_rows or n_features > MAX_TERCILE_FEATURES else 3
    rows_of_class = n_samples / n_classes
    fine = min(MAX_FINE_BINS, int((rows_of_class / MIN_FINE_CELL_ROWS) ** 0.5))
    work = n_features**2 * (fine - 1) ** 2 * (n_samples + PAIR_ROWS)
    if fine < 2 * coarse or work > MAX_FINE_WORK:
        return [coarse]
    return [coarse, fine]


def merge_rare(codes: Codes, n_bins: int) -> Codes:
    """The same codes with rare levels of many made one: chi-square needs rows in every cell."""
    with_many_levels = np.flatnonzero(codes.levels > n_bins)
    if not len(with_many_levels):
        return codes
    min_rows = max(MIN_LEVEL_ROWS, MIN_LEVEL_SHARE * codes.n_samples)
    values = codes.values.copy()
    for column in with_many_levels:
        rows_of_level = np.bincount(values[column])
        is_rare = rows_of_level < min_rows
        merged = len(rows_of_level)  # the number of the new level
        values[column] = np.where(is_rare[values[column]], merged, values[column])
    return encode(values.T)


def get_discretizer(discretizer: Any) -> Any:
    """A discretiser to fit, of that name or like the one given, which gives arrays.

    None for None.
    """
    if discretizer is None:
        return None
    if isinstance(discretizer, str):
        fresh: Any = DISCRETIZERS[discretizer]()
    else:
        fresh = clone(discretizer)
    return fresh.set_output(transform="default") if hasattr(fresh, "set_output") else fresh


def equal_frequency(n_bins: int) -> Any:
    """A discretizer to fit, which gives arrays."""
    return EqualFrequency(n_bins).set_output(transform="default")
