"""Suppress the output of packages, including C code."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silent() -> Iterator[None]:
    """Send standard output nowhere; ``silent()(function)`` does so at each call."""
    sys.stdout.flush()
    keep, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        sys.stdout.flush()
        ctypes.CDLL(None).fflush(None)  # what C has printed waits in a buffer of its own
        os.dup2(keep, 1)
        os.close(keep)
        os.close(nowhere)
