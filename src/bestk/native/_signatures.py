"""What each kernel takes, one line each.

``i64`` and ``f64`` are numbers. ``u8[:]``, ``f64[:,:]`` are C-contiguous arrays, passed as a
pointer. ``f64[rows]`` is a 2-d array whose rows are contiguous, passed as a pointer and the
distance between rows, in elements. ``table`` is a 2-d array of any numbers and strides, passed as
a pointer, the distances between rows and columns in bytes, and a number for the type. ``!`` marks an array that is written, ``?`` one that may be
None. A kernel returns 0, or a status from ``bestk.h``.
"""

SIGNATURES: dict[str, str] = {
    # cpu.c
    "cpu_levels": "i64[:]!",
    "set_cpu_level": "i64",
    # table.c
    "read_columns": "table i64[:] i64 f64[rows]! i64",
    "encode": "table i64 i64 f64[:] i64[:] i16[rows]!",
    # cuts.c
    "cut_mdlp": "f64[rows]! i64 i64 i32[:] i64 i64 f64[:] f64[:] f64[:] f64[:] i64[:]!",
    "cut_caim": "f64[rows]! i64 i64 i32[:] i64 i64 i64[:]!",
    "cut_frequency": "f64[rows]! i64 i64 i32[:] i64 i64[:]!",
}
