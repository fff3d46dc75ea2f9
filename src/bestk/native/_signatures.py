"""What each kernel takes, one line each.

``i64`` and ``f64`` are numbers. ``u8[:]``, ``f64[:,:]`` are C-contiguous arrays, passed as a
pointer. ``f64[rows]`` is a 2-d array whose rows are contiguous, passed as a pointer and the
distance between rows, in elements. ``table`` is a 2-d array of any numbers and strides, passed as
a pointer, the distances between rows and between columns in bytes, and a number for the type.
``!`` marks an array that is written, ``?`` one that may be None. A kernel returns 0, or a status
from ``bestk.h``.
"""

SIGNATURES: dict[str, str] = {
    # planes.c
    "count_rows": "u32[:] i64 u32[:] i64 i64[:] i64 u32[:]!",
    # pairs.c: the table, the formula, the request
    "fill_pairs": "u32[:] u32[:] i64[:] i64[:] i64[:] i64[:] i64[:] i64[:] i64[:] u16[:,:]? f64[:]"
    " i64 i64 i64"
    " i64[:] i64[:] i64[:] i64[:] i64[:] i64[:] f64 f64"
    " i64[:] i64[:] i64[:] i64[:] i64 f64[rows]!? f32[rows]!? i64[:,:] i64 i64",
    "bound_pairs": "u32[:] i64 u32[:] i64 i64[:] i64 f32[:] f32[:] f64 u8[:]!",
    # pack.c
    "pack_planes": "u8[rows]? u16[rows]? i64[:] u32[:] i64[:] i64[:] i64[:] i64[:] i64[:] i64[:]"
    " i64 i64 u32[:]! u32[:]! i64 i64",
    # correction.c
    "expect": "i64[:] i64[:] i64 i64 f64 f64[:]? f64[:]! i64 i64",
    # codes.c
    "write_codes": "table i64 i64[:] u8[rows]!? u16[rows]!? i64[:]! u8[:]! i64 i64",
    # table.c
    "read_columns": "table i64[:] i64 f64[rows]! i64",
    "encode": "table i64 i64 f64[:] i64[:] i16[rows]!",
    # cuts.c
    "cut": "f64[rows] i64 i64 i32[:] i64 i64[:,:] i64 f64[:]? f64[:]? f64[:]? f64[:]?"
    " f64[:,:,:]! i64[:,:]! i64[:]! i64 u8[:]!? i64",
    # scores.c
    "rank_rows": "f64[rows]! i64 i64 f64[:]",
    "standardise_rows": "f64[rows] i64 i64 f64 f64[rows]!",
    "unexplained": "f64[:,:] i64 i64 f64[:,:] f64[:] f64[:,:] f64[:] f64[:] i64 f64[:,:]!",
    # blocks.c: the packed block, the planes, the counts
    "add_block": "u32[:] i64[:] i64[:] i64 i64[:] i64 i64[:] i64 i64[:] i32[:]! i64 i64",
    # tabu.c
    "tabu_advance": "f64[:,:] f64[:] i64 i64 i64 i64 i64 u8[:,:] i64 i64"
    " u8[:,:]! f64[:]! i64[:,:]! f64[:]! i64[:]! u64[:]!",
    # branch.c
    "branch_partners": "f64[:,:] i64 i64 f64[:,:,:]!",
    "branch_advance": "f64[:,:] f64[:,:,:] i64 i64 i64"
    " f64[:,:]! i64[:,:]! i64[:,:]! f64[:]! f64[:]!",
    # lowrank.c
    "try_directions": "f64[:,:] f64[:,:] f64[:] i64 i64 i64 f64[:,:] i64 u8[:]! f64[:]!",
    "screen_directions": "f64[:,:] f64[:] i64 i64 f64[:,:] i64 i64[:] i64 i64 f64[:,:]! i64[:,:]!",
    # rows.c
    "row_tops": "f64[rows] i64 i64 i64[:] f64[:]? i64 i64[:,:]! f64[:]! f64[:]!",
    "lower_rows": "f64[:,:]! i64 i64 i64 i64[:] i64[:] f64[:] i64[:,:]! f64[:]! f64[:]!"
    " i64 f64[:]! f64[:]!",
}
