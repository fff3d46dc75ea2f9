"""Call a function in a separate process."""

import multiprocessing
from collections.abc import Callable
from dataclasses import replace
from math import nan
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.solvers.record import Found


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
        found = replace(found, memory_mb=_peak_megabytes())
    except Exception as error:
        known = isinstance(error, ImportError | MemoryError | ValueError)
        found = error if known else RuntimeError(f"{type(error).__name__}: {error}")
    pipe.send(found)
    pipe.close()


def _peak_megabytes() -> float:
    """Peak of this process; getrusage would count that of the parent before the start as well."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return nan
    return next(
        1024e-6 * int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")
    )
