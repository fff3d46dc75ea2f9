"""Compiled kernels on disk, where that can be; a kernel runs all the same where it cannot."""

import pickle
from typing import Any

from numba.core.caching import FunctionCache, NullCache


class ForgivingCache(FunctionCache):
    """numba's cache, for which a full disk or a damaged file is no reason to stop.

    What cannot be read is compiled anew, and what cannot be written is compiled again in the
    next process. ``bestk doctor`` tells where the folder is, and whether it can be written to.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function, or None."""
        try:
            return super().load_overload(sig, target_context)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, if there is room."""
        try:
            super().save_overload(sig, data)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            self.disable()


def open_cache(function: Any) -> Any:
    """The cache of a function; one that keeps nothing where no folder can be written to."""
    try:
        return ForgivingCache(function)
    except RuntimeError:  # no locator available
        return NullCache()
