"""How many threads a piece of work is worth."""

from collections.abc import Iterator
from contextlib import contextmanager

from bestk._checks import jobs

WORTH_A_TEAM = 5e-4  # seconds: waking threads costs microseconds, on a busy machine milliseconds


@contextmanager
def threads(n_jobs: int | None = None, seconds: float = float("inf")) -> Iterator[int]:
    """Run numba kernels on ``n_jobs`` threads (None: as numba is set; -1: all).

    Work of a few hundred microseconds, by its estimated ``seconds``, runs on one.

    Examples
    --------
    >>> with threads(4, seconds=1e-6) as n_threads:
    ...     n_threads
    1
    """
    import numba

    n_jobs = jobs(n_jobs)
    before, most = numba.get_num_threads(), numba.config.NUMBA_NUM_THREADS
    wanted = before if n_jobs is None else most if n_jobs == -1 else min(n_jobs, most)
    numba.set_num_threads(wanted if seconds > WORTH_A_TEAM else 1)
    try:
        yield numba.get_num_threads()
    finally:
        numba.set_num_threads(before)
