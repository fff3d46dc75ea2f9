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
    # tabu.c
    "tabu_advance": "f64[:,:] f64[:] i64 i64 i64 i64 i64 u8[:,:] i64 i64"
    " u8[:,:]! f64[:]! i64[:,:]! f64[:]! i64[:]! u64[:]!",
    "least_entries": "f64[:,:] i64 f64[:]!",
    # swap.c
    "best_swap": "f64[:,:] f64[:] i64 i64[:] i64 f64 i64[:]!",
    "find_partners": "f64[rows] i64 i64[:] i64 f64[:] f64 f64[:]! i64[:]!",
    # branch.c
    "branch_partners": "f64[:,:] i64 i64 f64[:,:,:]!",
    "branch_advance": "f64[:,:] f64[:,:,:] i64 i64 i64"
    " f64[:,:]! i64[:,:]! i64[:,:]! f64[:]! f64[:]!",
    # lowrank.c
    "try_directions": "f64[:,:] f64[:,:] f64[:] i64 i64 i64 f64[:,:] i64 u8[:]! f64[:]!",
    "screen_directions": "f64[:,:] f64[:] i64 i64 f64[:,:] i64 i64[:] i64 i64 f64[:,:]! i64[:,:]!",
    # admm.c
    "minus_outer": "f64[:,:] f64[:] f64[:] i64 f64[:,:]!",
    "admm_sweep": "f64[:,:] f64[:,:] f64[:] i64 f64 f64 f64[:,:]! f64[:,:]! f64[:]!",
}
