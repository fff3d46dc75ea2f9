"""Call a function in a process of its own: for its memory, and for libraries that do not mix."""

import multiprocessing
import resource
import sys
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.solvers.record import Found

KILOBYTE = 1024 if sys.platform != "darwin" else 1  # unit of ru_maxrss


def call_apart(function: Callable[..., Found], *arguments: Any, patience: float) -> Found:
    """What the function found, with the peak memory of its process; ended if it is far too late."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(theirs, function, arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        if not ours.poll(patience):
            return Found(seconds=patience, note="ended: it did not keep to its time")
        answer = ours.recv()
    except EOFError:
        process.join()
        return Found(note=f"its process died with code {process.exitcode}")
    finally:
        process.kill()
        process.join()
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _child(pipe: Connection, function: Callable[..., Found], arguments: tuple[Any, ...]) -> None:
    try:
        found: Any = function(*arguments)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KILOBYTE / 1e6
        found = replace(found, memory_mb=peak)
    except Exception as error:
        known = isinstance(error, ImportError | MemoryError | ValueError)
        found = error if known else RuntimeError(f"{type(error).__name__}: {error}")
    pipe.send(found)
    pipe.close()
