"""Load the compiled library, and check what is passed to it.

Each kernel has a line in ``SIGNATURES``. ``i64`` and ``f64`` are numbers. ``u8[:]``, ``f64[:,:]``
are C-contiguous arrays, passed as a pointer. ``f64[rows]`` is a 2-d array whose rows are
contiguous, passed as a pointer and the distance between rows, in elements. ``table`` is a 2-d array
of any numbers and strides, passed as a pointer, the distances between rows and between columns in
bytes, and a number for the type. ``!`` marks an array that is written, ``?`` one that may be None.
A kernel returns 0, or a status from ``bestk.h``.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from bestk._cached import cached_property
from bestk.errors import ParameterError

CPU_LEVELS = ("baseline", "avx2", "avx512")  # by number in cpu.c: a library for each
TABLE_TYPES = {  # by number in table.c
    np.dtype(name): number
    for number, name in enumerate(("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"))
}
COUNTED = (  # a table and a formula, as in counting.h
    "u32[:] u32[:] i64[:] i64[:] i64[:] i64[:] i64[:] i64[:] i64[:] u16[:,:]? f64[:] i64 i64 i64"
    " i64[:] i64[:] i64[:] i64[:] i64[:] i64[:] f64 f64"
)
SIGNATURES: dict[str, str] = {
    # planes.c
    "count_rows": "u32[:] i64 u32[:] i64 i64[:] i64 u32[:]!",
    # pairs.c, picks.c
    "fill_pairs": COUNTED
    + " i64[:] i64[:] i64[:] i64[:] i64 f64[rows]!? f32[rows]!? i64[:,:] i64 i64",
    "pick": COUNTED + " f64[:] i64[:] f64[:] i64 i64 i64[:]! f64[:]! f64[:]! i64 i64",
    "bound_pairs": "u32[:] i64 u32[:] i64 i64[:] i64 f32[:] f32[:] f64 u8[:]!",
    # weighted.c
    "add_weights": "u16[:,:] i64[:] i64 i64 i64[:] f64[:] f64 f64 f64 f64[:]? i64 i64[:]"
    " i64[:] i64 i64[rows]! i64[rows]! i64 i64",
    # pack.c
    "pack_planes": "u8[rows]? u16[rows]? i64[:] u32[:] i64[:] i64[:] i64[:] i64[:] i64[:] i64[:]"
    " i64 i64 u32[:]! u32[:]! i64 i64",
    # correction.c
    "expect": "i64[:] i64[:] i64 i64 f64 f64[:]? f64[:]! i64 i64",
    # codes.c
    "write_codes": "table i64[:]? i64 i64[:] u8[rows]!? u16[rows]!? i64[:]! u8[:]! i64 i64",
    # table.c
    "read_columns": "table i64[:]? i64 f64[rows]! i64",
    "encode": "f64[rows] i64 i64 f64[:] i64[:] i16[rows]!",
    "reorder": "u8[rows] i64 i64 i64[:] i16[rows]!",
    # cuts.c
    "cut": "f64[rows] i64 i64 i32[:] i64 i64[:,:] i64 f64[:]? f64[:]? f64[:]?"
    " f64[:,:]! i64[:,:]! i64[:]! i64 u8[:]!? i64",
    # scores.c
    "rank_rows": "f64[rows]! i64 i64 f64[:]",
    "standardise_rows": "f64[rows] i64 i64 f64 f64[rows]!",
    "curve_rows": "f64[rows] i64 i64 u8[:,:] i64[:] f64 f64 f64 f64[rows]!",
    "sum_bins": "f64[rows] i64 i64 f64[:] i64[:] f64[:] f64[:] i64 f64[:,:]! f64[:,:,:]!",
    "unexplained": "f64[:,:] i64 i64 i64 f64[:,:] f64[:] f64[:,:] f64[:] f64[:] i64 f64[:,:]!",
    # blocks.c
    "variances_given_earlier": "f64[:]! i64[:] i64 f64 f64[:]!",
    "sum_prefixes": "f64[:]! i64[:] i64",
    "subtract_explained": "f64[:,:,:]! i64 i64 f64[:,:,:,:] i64 i64[:]",
    # predict.c
    "predict_classes": "i64[:] i64 i64[:] i64 i64[:] i64 f64 i64 i64[:,:] i64[:] i64"
    " f64[:]! f64[:,:]!",
    # tabu.c
    "tabu_advance": "f64[:,:] f64[:] i64 i64 i64 i64 i64 u8[:,:] i64 i64"
    " u8[:,:]! f64[:]! i64[:,:]! f64[:]! i64[:]! u64[:]!",
    # choices.c
    "best_swap": "f64[:,:] i64 i64 f64[:] i64[:] f64[:] f64 i64[:]!",
    # branch.c
    "branch_partners": "f64[:,:] i64 i64 f64[:,:,:]!",
    "branch_advance": "f64[:,:] f64[:,:,:] i64 i64 i64"
    " f64[:,:]! i64[:,:]! i64[:,:]! f64[:]! f64[:]!",
    # lowrank.c
    "try_directions": "f64[:,:] f64[:,:] f64[:] i64 i64 i64 f64[:,:] i64 u8[:]! f64[:]!",
    # rows.c
    "row_tops": "f64[rows] i64 i64 i64[:] f64[:]? i64[rows]? i64 i64 i64[rows]! f64[:]! f64[:]!",
    "lower_rows": "f64[:,:]! i64 i64 i64 i64[:] i64[:] f64[:] i64[:,:]! f64[:]! f64[:]!"
    " i64 f64[:]! f64[:]!",
}
Reader = tuple[Callable[[Any, list[Any]], None], list[Any]]


class Kernel:
    """One function of the library, with checked arguments; the first of them may be bound."""

    def __init__(self, name: str, function: Any, readers: list[Reader]) -> None:
        self.name = name
        self._function = function
        self._readers = readers
        # The arguments that are bound, as C receives them.
        self._values: list[Any] = []
        # The same as they were passed, so that arrays stay alive.
        self._arguments: tuple[Any, ...] = ()

    def __call__(self, *arguments: Any) -> None:
        """Check the arguments that are not bound, run the function, and raise what it reports."""
        if len(arguments) != len(self._readers):
            wanted = len(self._readers)
            raise TypeError(f"{self.name} takes {wanted} arguments, not {len(arguments)}")
        status = self._function(*self._values, *_check(self._readers, arguments))
        if status:
            raise MemoryError(f"no memory left for kernel {self.name}")

    def bind(self, *arguments: Any) -> "Kernel":
        """The kernel with its next arguments checked now; calls pass the rest."""
        bound = Kernel(self.name, self._function, self._readers[len(arguments) :])
        bound._values = [*self._values, *_check(self._readers, arguments)]
        bound._arguments = (*self._arguments, *arguments)
        return bound


def _check(readers: list[Reader], arguments: Sequence[Any]) -> list[Any]:
    """What C receives for the first arguments."""
    values: list[Any] = []
    for (read, _), argument in zip(readers, arguments, strict=False):
        read(argument, values)
    return values


def _reader(name: str, kind: str) -> Reader:
    """A function that checks one argument and appends what C receives, and the types of that.

    ``name``: of the kernel. ``kind``: of the argument, as in ``SIGNATURES``.
    """
    if kind in ("i64", "f64"):
        passed = ctypes.c_int64 if kind == "i64" else ctypes.c_double
        return (lambda value, values: values.append(value)), [passed]
    if kind == "table":
        return partial(_read_table, name), [ctypes.c_void_p, *[ctypes.c_int64] * 3]
    number, shape = kind.rstrip("!?")[:-1].split("[")
    # numpy counts bytes, and not bits
    dtype = np.dtype(f"{number[0]}{int(number[1:]) // 8}")
    has_stride = shape == "rows"
    ndim = 2 if has_stride else shape.count(":")
    is_written = "!" in kind
    is_optional = "?" in kind

    def read(value: Any, values: list[Any]) -> None:
        """Check an array, and append its address, and where it has one its distance of rows."""
        if value is None and is_optional:
            values.extend((None, 0) if has_stride else (None,))
            return
        if value.dtype != dtype or value.ndim != ndim:
            raise TypeError(f"{name} takes {kind}, not {value.ndim}-d {value.dtype}")
        flags = value.flags
        if is_written and not flags.writeable:
            raise TypeError(f"{name} writes {kind}, and this array is read-only")
        if has_stride:
            if value.size and value.shape[1] > 1 and value.strides[1] != dtype.itemsize:
                raise TypeError(f"{name} takes rows that are contiguous")
            values.extend((_address(value), value.strides[0] // dtype.itemsize))
            return
        if not flags.c_contiguous:
            raise TypeError(f"{name} takes {kind}, C-contiguous")
        values.append(_address(value))

    types: list[Any] = [ctypes.c_void_p]
    if has_stride:
        types.append(ctypes.c_int64)
    return read, types


def _read_table(name: str, value: Any, values: list[Any]) -> None:
    """Append the address of a table, the steps between rows and columns, and the type."""
    if value.ndim != 2 or value.dtype not in TABLE_TYPES or not value.flags.aligned:
        raise TypeError(f"{name} takes a table of numbers, not {value.ndim}-d {value.dtype}")
    values.extend((_address(value), *value.strides, TABLE_TYPES[value.dtype]))


def _address(value: Any) -> int:
    return int(value.__array_interface__["data"][0])


def as_table(X: Any) -> Any:
    """An array as the kernels take a ``table``: X itself, if it can be, else of float64."""
    if X.dtype in TABLE_TYPES and X.flags.aligned:
        return X
    with np.errstate(over="ignore"):  # of longer floats
        return X.astype(np.float64)


class Kernels:
    """All kernels, each made ready when it is first used."""

    @cached_property
    def _library(self) -> Any:
        """The library for the CPU at hand, or the one that ``BESTK_CPU`` names."""
        levels = cpu_levels()
        level = os.environ.get("BESTK_CPU") or levels[-1]
        if level not in levels:
            accepted = ", ".join(levels)
            raise ParameterError(f"BESTK_CPU={level!r} is not one of {accepted} on this machine")
        return _load(level)

    def __getattr__(self, name: str) -> Kernel:
        if name not in SIGNATURES:
            raise AttributeError(name)
        function = getattr(self._library, f"bestk_{name}")
        readers = [_reader(name, kind) for kind in SIGNATURES[name].split()]
        function.restype = ctypes.c_int
        function.argtypes = [kind for reader in readers for kind in reader[1]]
        kernel = Kernel(name, function, readers)
        setattr(self, name, kernel)
        return kernel


kernels = Kernels()


def _path(level: str) -> Path:
    name = "_kernels.dll" if sys.platform == "win32" else "_kernels.so"
    path = Path(os.environ.get("BESTK_LIBRARY") or Path(__file__).with_name(name))
    return path if level == CPU_LEVELS[0] else path.with_stem(f"{path.stem}_{level}")


@cache
def _load(level: str) -> Any:
    path = _path(level)
    if not path.exists():
        raise ImportError(
            f"the compiled kernels are missing ({path}); install bestk from a wheel, or build "
            "them in a source checkout with `python hatch_build.py`"
        )
    return ctypes.CDLL(str(path))


def cpu_levels() -> list[str]:
    """The instruction sets that this machine has and a library was built for, the best last."""
    best = _load(CPU_LEVELS[0]).bestk_cpu_level()
    return [level for level in CPU_LEVELS[: best + 1] if _path(level).exists()]
