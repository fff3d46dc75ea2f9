"""What each kernel takes, one line each.

``i64`` and ``f64`` are numbers. ``u8[:]``, ``f64[:,:]`` are C-contiguous arrays, passed as a
pointer. ``f64[rows]`` is a 2-d array whose rows are contiguous, passed as a pointer and the
distance between rows, in elements. ``!`` marks an array that is written, ``?`` one that may be
None. A kernel returns 0, or a status from ``bestk.h``.
"""

SIGNATURES: dict[str, str] = {
    # cpu.c
    "cpu_levels": "i64[:]!",
    "set_cpu_level": "i64",
}
