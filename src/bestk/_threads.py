"""How many threads a piece of work is worth."""

from bestk.native.threads import threads

__all__ = ["threads"]
