"""Kernels: compiled once, kept on disk, called from any thread of any process."""

import os
import sys
import threading
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

import numba

from bestk._kernel_cache import open_cache


class _Place:
    """Where kernels run: one process, its threads, and whether it was forked after they began."""

    def __init__(self) -> None:
        self.forked = False
        self.turn = threading.Lock()

    def enter_fork(self) -> None:
        """Threads do not survive a fork, and a lock that one of them held is held for ever."""
        self.forked, self.turn = self.forked or _layer() is not None, threading.Lock()


def _layer() -> str | None:
    """The threading layer that numba has started, if any."""
    return getattr(sys.modules.get("numba.np.ufunc.parallel"), "_threading_layer", None)


_here = _Place()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_here.enter_fork)


def kernel(function: Any = None, **options: Any) -> Any:
    """Compile a function when it is first called, and keep it on disk for later processes."""
    if function is None:
        return lambda function: kernel(function, **options)
    compiled = numba.njit(**options)(function)
    if hasattr(compiled, "_cache"):  # not if numba is told to compile nothing
        compiled._cache = open_cache(function)
    return compiled


def parallel_kernel(function: Any) -> Callable[..., Any]:
    """Compile a function whose loops over ``prange`` are shared by threads.

    Two threading layers of numba end the process where they cannot serve: ``workqueue`` where
    Python threads call kernels at the same time, and GNU OpenMP in a process that was forked
    after kernels ran. So the first take turns, and a forked process runs loops on one thread.
    """
    team = kernel(function, parallel=True)
    alone = kernel(_renamed(function))  # compiled when it is first called

    @wraps(function)
    def run(*arguments: Any) -> Any:
        if _here.forked:
            return alone(*arguments)
        if _layer() in ("omp", "tbb"):
            return team(*arguments)
        with _here.turn:
            return team(*arguments)

    return run


def _renamed(function: Any) -> Any:
    """A copy under another name: numba's cache tells functions apart by name, not by options."""
    copy = FunctionType(
        function.__code__, function.__globals__, function.__name__,
        function.__defaults__, function.__closure__,
    )  # fmt: skip
    copy.__qualname__, copy.__module__ = f"{function.__qualname__}_alone", function.__module__
    return copy
