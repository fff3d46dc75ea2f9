"""A matrix in tiles, and threads that work on them."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, TypeVar

import numpy as np

from bestk._typing import Indices
from bestk.native.threads import n_threads, run_tiles

T = TypeVar("T")
Tile = tuple[int, int, int, int]  # first row, last row, first column, last column


def cut(shape: tuple[int, ...], size: tuple[int, int], mirror: bool) -> Iterator[Tile]:
    """Cut a matrix into tiles of at most ``size``, or longer and lower ones of that area.

    If the matrix mirrors itself, only those that touch its upper half.

    Examples
    --------
    >>> list(cut((4, 4), (2, 4), mirror=True))
    [(0, 2, 0, 4), (2, 4, 2, 4)]
    """
    (n_rows, n_columns), area = shape, size[0] * size[1]
    width = max(1, min(n_columns, max(size[1], area // max(1, n_rows))))
    height = area // width
    for top in range(0, n_rows, height):
        bottom = min(top + height, n_rows)
        for first in range(top if mirror else 0, n_columns, width):
            yield top, bottom, first, min(first + width, n_columns)


def part_of(features: Indices | None, start: int, stop: int) -> Indices | slice:
    """Some of the features; None means all of them."""
    return slice(start, stop) if features is None else features[start:stop]


def as_slice(places: Indices) -> Indices | slice:
    """A slice, where places follow each other."""
    follow = bool((np.diff(places) == 1).all())
    return slice(int(places[0]), int(places[-1]) + 1) if follow else places


def in_threads(work: Callable[[T], None], items: Sequence[T]) -> None:
    """Work on each item, in as many threads as allowed, with a BLAS that starts none itself."""
    if min(len(items), n_threads()) < 2:
        run_tiles(work, items)
        return
    with _blas().limit(limits=1, user_api="blas"):
        run_tiles(work, items)


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
