"""Whole numbers beyond 2**53, which float64 cannot all tell apart: found, and refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "EXACT", "SHIFT", "beyond", "exact_numbers", "has_rounded", "is_long", "refuse_merged",
    "refuse_merging",
]  # fmt: skip

EXACT = 2**53  # float64 tells whole numbers apart up to here
SHIFT, OTHERS = "subtract what all have in common", "pass them as strings, or exclude them"


def is_long(dtype: Any) -> bool:
    """Whether values of a numpy type may be whole numbers that float64 rounds."""
    return dtype.kind in "iu" and dtype.itemsize == 8


def beyond(values: Any) -> NDArray[np.intp]:
    """The columns of an array or a CSC matrix that reach 2**53.

    Examples
    --------
    >>> beyond(np.array([[1, 2**53], [2, 3]]))
    array([1])
    """
    if hasattr(values, "tocsc"):
        low, high = (np.ravel(most.toarray()) for most in (values.min(axis=0), values.max(axis=0)))
    else:
        least, most = (np.fmin, np.fmax) if values.dtype.kind == "f" else (np.minimum, np.maximum)
        low, high = least.reduce(values, axis=0), most.reduce(values, axis=0)
    return np.flatnonzero((low <= -EXACT) | (high >= EXACT))


def refuse_merging(
    blocks: Iterable[Any], names: Sequence[str], columns: NDArray[np.integer[Any]] | None = None
) -> None:
    """Refuse integers in blocks, or some columns of them, of which float64 makes one of two."""
    for block in blocks:
        if block.categories is not None or not is_long(block.values.dtype):
            continue
        for j in beyond(block.values):
            place = block.columns[j]
            if columns is None or place in columns:
                values = block.values[:, [j]]
                values = values.toarray() if hasattr(values, "toarray") else values
                refuse_merged(values[:, 0], f"column {names[place]!r}")


def refuse_merged(
    values: NDArray[Any] | list[Any], where: str, remedy: str = f"{SHIFT}, {OTHERS}"
) -> None:
    """Refuse numbers, none of them missing, if float64 makes one of two of them.

    Examples
    --------
    >>> refuse_merged(np.array([2**60, 2**60 + 256]), "column 'a'")
    >>> refuse_merged(np.array([2**60, 2**60 + 1]), "column 'a'")
    Traceback (most recent call last):
    ValueError: column 'a' holds 1152921504606846976 and 1152921504606846977, which are ...
    """
    known = sorted(set(values)) if isinstance(values, list) else np.unique(values)
    single = np.array(known, np.float64)
    if len(alike := np.flatnonzero(single[1:] == single[:-1])):
        one, other = known[alike[0]], known[alike[0] + 1]
        raise ValueError(
            f"{where} holds {one} and {other}, which are one number in float64; {remedy}"
        )


def exact_numbers(known: list[Any], name: str) -> NDArray[Any]:
    """Python's numbers as an array: integers where floats would merge some, or refused.

    Examples
    --------
    >>> exact_numbers([2**63 + 1, 1.0], "id")
    array([9223372036854775809,                   1], dtype=uint64)
    """
    values = np.array(known)
    if values.dtype.kind == "O":
        raise ValueError(f"column {name!r} has integers of 2**64 or more; pass it as strings")
    if values.dtype.kind != "f" or not has_rounded(known):
        return values
    if (values == np.floor(values)).all() and np.isfinite(values).all():
        whole = [int(value) for value in known]
        for dtype in (np.int64, np.uint64):
            limits = np.iinfo(dtype)
            if limits.min <= min(whole) and max(whole) <= limits.max:
                return np.array(whole, dtype)
    refuse_merged(known, f"column {name!r}")
    return values


def has_rounded(values: Iterable[Any]) -> bool:
    """Whether one of Python's numbers is an integer that float64 rounds."""
    whole = (value for value in values if isinstance(value, int | np.integer))
    return any(int(float(value)) != value for value in whole)
