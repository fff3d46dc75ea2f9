"""Packed tables: discrete columns in as few bits as they need, in a file that is mapped.

A packed file is a line, ``bestk packed table 1``, and then arrays in numpy's ``.npy`` format, one
after the other:

========  ===========================  ========================================================
array     type, shape                  what it holds
========  ===========================  ========================================================
shape     int64 (2,)                   rows m and columns n
levels    int32 (n,)                   how many values each column has
names     text (n,), or (0,)           names of the columns; x0, x1, ... if there are none
label     text (1,), or (0,)           name of the target, if there is one
y         numbers or text (m,), (0,)   the target
bits      uint8 (planes, ceil(m / 8))  the columns, one after the other
========  ===========================  ========================================================

A column of L levels has ceil(log2 L) planes: bit r of plane p, counted from the lowest of each
byte, is bit p of the code of row r. A million columns of two levels and 1,000 rows are 125 MB.
Only columns that are looked at are read; nothing in the file is ever run.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from math import prod
from pathlib import Path
from sys import maxunicode
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bestk.codes import MAX_LEVELS, Codes, encode
from bestk.table import Block, Table, _Numbered, read_column

__all__ = ["PackedTable", "open_packed", "pack"]

MAGIC = b"bestk packed table 1\n"
TOGETHER = 2**24  # values packed at once


class PackedTable:
    """A table of levels in a packed file; columns are unpacked when they are looked at.

    It is sliced like an array, and goes wherever a table does: to :meth:`SelectBestK.fit`,
    :func:`select`, :func:`encode` and the measures. Its columns are levels: no discretiser joins
    them.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    names : sequence of str
        Of the columns.
    levels : ndarray of shape (n_columns,)
        How many values each column has.
    y : ndarray of shape (n_rows,) or None
        The target, if one was packed.
    label : str or None
        Its name.

    See Also
    --------
    pack : Writes a packed file.
    open_packed : Opens one.
    """

    ndim = 2

    def __init__(
        self,
        bits: NDArray[np.uint8],
        n_samples: int,
        levels: NDArray[np.integer[Any]],
        names: Sequence[str],
        y: NDArray[Any] | None = None,
        label: str | None = None,
    ) -> None:
        self.shape, self.levels, self.names, self.y, self.label = (
            (n_samples, len(levels)), levels, names, y, label,
        )  # fmt: skip
        self.dtype = np.dtype(np.uint8 if levels.max(initial=1) <= 2**8 else np.uint16)
        self._bits, planes = bits, _first_planes(levels)
        self._first, self._n_planes = planes[:-1], np.diff(planes)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> NDArray[Any]:
        """Rows, or rows and columns, as an array."""
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        places = np.arange(self.shape[1])[columns]
        codes = self._unpack(np.atleast_1d(places)).T[rows]
        return np.asarray(codes[..., 0] if places.ndim == 0 else codes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype)

    def __bestk_table__(self) -> Table:
        """The table that features are selected from."""
        block = Block(np.arange(self.shape[1]), "categorical", self)
        return Table(self.shape[0], self.names, (block,))

    def keep(self, columns: NDArray[np.intp]) -> PackedTable:
        """The table of some columns; nothing is unpacked."""
        some, names = copy(self), [self.names[int(j)] for j in columns]
        some.shape, some.levels, some.names = (len(self), len(columns)), self.levels[columns], names
        some._first, some._n_planes = self._first[columns], self._n_planes[columns]
        return some

    def __repr__(self) -> str:
        return f"<packed table of {self.shape[0]} rows and {self.shape[1]} columns>"

    def _unpack(self, columns: NDArray[np.intp]) -> NDArray[Any]:
        """The codes of some columns, a row each."""
        first, n_planes = self._first[columns], self._n_planes[columns]
        out = np.zeros((len(columns), self.shape[0]), self.dtype)
        for plane in range(int(n_planes.max(initial=0))):
            deep = n_planes > plane
            packed = np.asarray(self._bits[_as_slice(first[deep] + plane)])
            bits = np.unpackbits(packed, axis=1, count=self.shape[0], bitorder="little")
            out[deep] |= bits.astype(self.dtype, copy=False) << plane
        return out


def pack(X: Any, path: str | Path, y: Any = None, label: str = "y") -> PackedTable:
    """Write a discrete table to a packed file, and open it.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Discrete columns, as for :func:`encode`: the values of each are stored as 0, 1, ..., in
        their order, and missing ones as the last.
    path : str or Path
        The file to write; ``bestk select`` knows it by the suffix ``.packed``.
    y : sequence of n_samples, optional
        A target to store beside it.
    label : str, default="y"
        Its name.

    Returns
    -------
    PackedTable

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from bestk import select
    >>> with TemporaryDirectory() as folder:
    ...     table = pack([[0, 3], [0, 5], [1, 3], [1, 5]], Path(folder, "t.packed"), y=[0, 0, 1, 1])
    ...     table[:, 1], select(table, table.y, k=1).support
    (array([0, 1, 0, 1], dtype=uint8), array([0]))
    """
    codes = encode(X)
    arrays: list[NDArray[Any]] = [
        np.array([codes.n_samples, codes.n_features], np.int64),
        codes.levels.astype(np.int32),
        np.array([] if isinstance(codes.names, _Numbered) else list(codes.names), np.str_),
        np.array([] if y is None else [label], np.str_),
        np.array([]) if y is None else _target(y, codes.n_samples),
    ]
    from bestk.files import replacing

    with replacing(path) as part, part.open("wb") as file:
        file.write(MAGIC)
        for array in arrays:
            npy.write_array(file, array, allow_pickle=False)
        _write_bits(file, codes)
    return open_packed(path)


def open_packed(path: str | Path) -> PackedTable:
    """Open a packed file; its columns are mapped, not read.

    Parameters
    ----------
    path : str or Path
        What :func:`pack` has written.

    Returns
    -------
    PackedTable
    """
    path = Path(path)
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ValueError(
                f"{path} is no packed table; write one with bestk.pack(X, {str(path)!r})"
            )
        try:
            shape, levels, names, label, y = (_read_array(file, size) for _ in range(5))
            (planes, width), dtype = _read_header(file)
            n_samples, n = _check(shape, levels, names, label, y)
        except Exception as error:  # a damaged header is read as Python, which fails in many ways
            raise ValueError(f"{path} is a damaged packed table: {error}; pack it anew") from error
        start = file.tell()
    wanted = (int(_first_planes(levels)[-1]), -(-n_samples // 8))
    if (planes, width) != wanted or dtype != np.uint8 or size != start + planes * width:
        raise ValueError(f"{path} is a damaged packed table: {size} bytes long; pack it anew")
    bits: NDArray[np.uint8] = np.empty(wanted, np.uint8)
    if planes:
        bits = np.memmap(path, np.uint8, "r", start, wanted)
    return PackedTable(
        bits, n_samples, levels, names.tolist() if len(names) else _Numbered(n),
        y if len(label) else None, str(label[0]) if len(label) else None,
    )  # fmt: skip


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and the type of the array that comes next."""
    newer = npy.read_magic(file) != (1, 0)
    read = npy.read_array_header_2_0 if newer else npy.read_array_header_1_0
    shape, _, dtype = read(file)
    return shape, dtype


def _read_array(file: IO[bytes], most: int) -> NDArray[Any]:
    """The array that comes next, of at most so many bytes: nothing larger is made room for."""
    shape, dtype = _read_header(file)
    length = prod(shape) * dtype.itemsize
    if dtype.hasobject or not 0 <= length <= most:
        raise ValueError(f"an array of {length} bytes of {dtype}")
    array = np.empty(shape, dtype)
    if length:
        array[...] = np.frombuffer(file.read(length), dtype).reshape(shape)
    if dtype.kind == "U" and length:
        characters = array.view(np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if characters.max() > maxunicode:
            raise ValueError("text of no known characters")
    return array


def _check(
    shape: NDArray[Any],
    levels: NDArray[Any],
    names: NDArray[Any],
    label: NDArray[Any],
    y: NDArray[Any],
) -> tuple[int, int]:
    """Rows and columns, if all arrays are as long as these say."""
    n_samples, n = (int(number) for number in shape)
    whole = shape.dtype.kind == levels.dtype.kind == "i" and n_samples > 0
    whole &= levels.shape == (n,) and bool(((levels >= 1) & (levels <= MAX_LEVELS)).all())
    text = names.dtype.kind == label.dtype.kind == "U" and names.shape in ((0,), (n,))
    target = y.shape == ((n_samples,) if label.shape == (1,) else (0,)) and y.dtype.kind in "biufU"
    if not (whole and text and target):
        raise ValueError(f"its arrays do not fit {n_samples} rows and {n} columns")
    return n_samples, n


def _write_bits(file: IO[bytes], codes: Codes) -> None:
    """Write the planes of all columns, some columns at a time."""
    shape = (int(_first_planes(codes.levels)[-1]), -(-codes.n_samples // 8))
    header = {"descr": "|u1", "fortran_order": False, "shape": shape}
    npy.write_array_header_1_0(file, header)
    width = max(1, TOGETHER // codes.n_samples)
    for start in range(0, codes.n_features, width):
        values, levels = codes.values[start : start + width], codes.levels[start : start + width]
        first = _first_planes(levels)
        planes = np.empty((first[-1], shape[1]), np.uint8)
        for plane in range(int(np.diff(first).max())):
            deep = np.diff(first) > plane
            bits = (values[deep] >> plane) & 1
            planes[first[:-1][deep] + plane] = np.packbits(bits, axis=1, bitorder="little")
        file.write(planes.tobytes())


def _first_planes(levels: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Where the planes of each column begin, and where the last end."""
    codes = np.maximum(levels.astype(np.int64) - 1, 0)
    _, n_planes = np.frexp(codes.astype(np.float64))  # the bits of a whole number
    return np.concatenate([[0], np.cumsum(n_planes, dtype=np.int64)])


def _as_slice(places: NDArray[np.int64]) -> Any:
    """Places that lie side by side as a slice, which copies nothing."""
    if len(places) and places[-1] - places[0] == len(places) - 1 and (np.diff(places) == 1).all():
        return slice(int(places[0]), int(places[-1]) + 1)
    return places


def _target(y: Any, n_samples: int) -> NDArray[Any]:
    """A target as numbers or text, which a file can hold without pickling."""
    block = read_column(y)
    if len(block.values) != n_samples:
        came = f"y has {len(block.values)} values but X has {n_samples} rows"
        raise ValueError(f"{came}; give one value for each row")
    if block.missing(block.values).any():
        raise ValueError("y has missing values; drop those rows of X and y")
    if block.categories is None:
        return np.asarray(block.values[:, 0])
    labels = np.array([str(label) for label in block.categories[0]])
    return np.asarray(labels[block.values[:, 0]])
