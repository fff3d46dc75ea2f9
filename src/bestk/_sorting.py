"""One column in order: its distinct values, and how often each class has each of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestk._kernels import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Labels = NDArray[np.int32]

CELLS_PER_SAMPLE = 4  # a value x class table up to this size is cheaper than sorting
SIGN = np.int64(-(2**63))
REST = np.int64(2**63 - 1)


class Runs(NamedTuple):
    """Value ``d`` is the owner of the runs ``start[d]:start[d + 1]``, each a class and a count."""

    value: Floats
    start: Ints
    owner: Ints
    label: Labels
    size: Ints


class Scratch(NamedTuple):
    """Memory that one thread reuses for every column it sorts."""

    cells: Ints
    keys: Ints
    keys_too: Ints
    labels: Labels
    labels_too: Labels
    digits: Ints


@kernel
def new_runs(n_samples: int) -> Runs:
    """Make room for the runs of a column of ``n_samples`` values."""
    return Runs(
        np.empty(n_samples, np.float64),
        np.empty(n_samples + 1, np.int64),
        np.empty(n_samples, np.int64),
        np.empty(n_samples, np.int32),
        np.empty(n_samples, np.int64),
    )


@kernel
def new_scratch(n_samples: int) -> Scratch:
    """Make room for sorting a column of ``n_samples`` values."""
    return Scratch(
        np.empty(CELLS_PER_SAMPLE * n_samples, np.int64),
        np.empty(n_samples, np.int64),
        np.empty(n_samples, np.int64),
        np.empty(n_samples, np.int32),
        np.empty(n_samples, np.int32),
        np.empty(2049, np.int64),
    )


@kernel
def tally(column: Floats, y: Labels, n_classes: int, runs: Runs, scratch: Scratch) -> int:
    """Fill ``runs`` from a column without its NaN; return the number of distinct values.

    ``y`` ascends, so that equal values of one class meet in one run.
    """
    low, high, whole = np.inf, -np.inf, True
    for v in column:
        low = v if v < low else low
        high = v if v > high else high
        whole = whole and (v == np.floor(v) or v != v)
    if low > high:
        return 0
    if whole and (high - low + 1) * n_classes <= len(scratch.cells):
        return _by_counting(column, y, n_classes, low, int(high - low) + 1, runs, scratch.cells)
    return _by_sorting(column, y, runs, scratch)


@kernel
def midpoint(low: float, high: float) -> float:
    """Return the mean of two numbers, rounded so that ``low <= midpoint < high``."""
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low


@kernel
def _by_counting(
    column: Floats, y: Labels, n_classes: int, low: float, span: int, runs: Runs, cells: Ints
) -> int:
    """Count whole numbers of a small range, a cell for each value and class."""
    cells[: span * n_classes] = 0
    for i, v in enumerate(column):
        if v == v:
            cells[int(v - low) * n_classes + y[i]] += 1
    n_values = n_runs = 0
    for t in range(span):
        first = n_runs
        for c in range(n_classes):
            if cells[t * n_classes + c] > 0:
                runs.owner[n_runs] = n_values
                runs.label[n_runs] = c
                runs.size[n_runs] = cells[t * n_classes + c]
                n_runs += 1
        if n_runs > first:
            runs.value[n_values] = low + t
            runs.start[n_values] = first
            n_values += 1
    runs.start[n_values] = n_runs
    return n_values


@kernel
def _by_sorting(column: Floats, y: Labels, runs: Runs, scratch: Scratch) -> int:
    """Sort any numbers with their classes, then join equal neighbours."""
    keys, labels = scratch.keys, scratch.labels
    n = make_keys(column, y, runs.value, keys, labels)
    keys, labels = radix_sort(n, keys, labels, scratch)
    n_values, n_runs = 0, 0
    for i in range(n):
        fresh = i == 0 or keys[i] != keys[i - 1]
        if fresh:
            runs.start[n_values] = n_runs
            n_values += 1
        if fresh or labels[i] != labels[i - 1]:
            runs.owner[n_runs] = n_values - 1
            runs.label[n_runs] = labels[i]
            runs.size[n_runs] = 0
            n_runs += 1
        runs.size[n_runs - 1] += 1
        runs.value.view(np.int64)[n_values - 1] = _fold(keys[i] ^ SIGN)
    runs.start[n_values] = n_runs
    return n_values


@kernel
def make_keys(column: Floats, y: Labels, room: Floats, keys: Ints, labels: Labels) -> int:
    """Write integers whose bits, read as unsigned, order as the values do; leave out NaN."""
    n = 0
    bits = room.view(np.int64)
    for i, v in enumerate(column):
        if v == v:
            room[n] = v + 0.0  # -0.0 becomes 0.0
            keys[n] = _fold(bits[n]) ^ SIGN
            labels[n] = y[i]
            n += 1
    return n


@kernel
def _fold(bits: int) -> int:
    """Turn the bits of a float into an integer of the same order, and back."""
    return int(bits ^ REST) if bits < 0 else bits


@kernel
def radix_sort(n: int, keys: Ints, labels: Labels, scratch: Scratch) -> tuple[Ints, Labels]:
    """Sort from the lowest digit up, stably, over the bits in which the keys differ."""
    keys_too, labels_too, digits = scratch.keys_too, scratch.labels_too, scratch.digits
    differ = np.int64(0)
    for i in range(n):
        differ |= keys[i] ^ keys[0]
    width = 8 if n < 4096 else 11
    mask, shift = (1 << width) - 1, 0
    while shift < 64 and differ >> shift != 0:
        if (differ >> shift) & 1 == 0:
            shift += 1
            continue
        digits[: mask + 2] = 0
        for i in range(n):
            digits[((keys[i] >> shift) & mask) + 1] += 1
        for d in range(mask):
            digits[d + 1] += digits[d]
        for i in range(n):
            d = (keys[i] >> shift) & mask
            keys_too[digits[d]] = keys[i]
            labels_too[digits[d]] = labels[i]
            digits[d] += 1
        keys, keys_too = keys_too, keys
        labels, labels_too = labels_too, labels
        shift += width
    return keys, labels
