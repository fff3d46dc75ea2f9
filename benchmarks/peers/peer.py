"""A package: how to call it for each check, as documented."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

Picks = Sequence[Any]  # names or numbers of columns


class LacksError(Exception):
    """The peer does not offer this; the message says what it offers instead."""


def _one_class_only(X: Any, y: Any, k: int) -> Picks:
    raise LacksError("for classes only")


def _nothing_forced(X: Any, y: Any, k: int, column: int) -> Picks:
    raise LacksError("no parameter for it")


def _no_matrix(X: Any, y: Any) -> tuple[Any, str]:
    raise LacksError("returns picks and scores of single columns")


@dataclass(frozen=True)
class Peer:
    """A package, and its documented calls.

    ``pick`` selects k columns of a table; ``make`` makes an estimator, if there is one. Both may
    import what they need, so that a peer that is not installed costs nothing.
    """

    name: str
    package: str
    usage: str  # what is called, in one line
    pick: Callable[[Any, Any, int], Picks]
    make: Callable[..., Any] | None = None
    checked: Callable[[], Any] | None = None  # as it comes, where that is not make(1)
    needs: str = "numbers"  # or "codes": what its documentation asks for
    prepare: Callable[[Any], Any] = np.asarray  # the plain table, as it wants it
    polars: Callable[[Any, Any, int], Picks] | None = None  # where that is another call
    strings: Callable[[Any, Any, int, list[str]], Picks] | None = None  # where they are named
    regress: Callable[[Any, Any, int], Picks] = _one_class_only
    weigh: Callable[[Any, Any, int, Any], Picks] | None = None
    force: Callable[[Any, Any, int, int], Picks] = _nothing_forced
    several: Callable[[Any, Any, int], Picks] | None = None  # targets, where that is another call
    grouped: Callable[[Any, Any, int, Sequence[int]], Picks] | None = None  # a label a column
    frequencies: Callable[[Any, Any, int], Any] | None = None  # over subsamples
    choose: Callable[[Any, Any, Any, Any], int] | None = None  # with a scorer and groups
    matrix: Callable[[Any, Any], tuple[Any, str]] = _no_matrix
    bound: Callable[[Any, Any, int], float] | None = None
    criteria: Callable[[], dict[str, Callable[[Any, Any, int], Picks]]] = dict
    measures: str = ""  # what it measures, where that is not mutual information
    timed: tuple[str, ...] = ()  # the criteria whose time is taken; all if empty
    timed_on: str = ""  # "codes" or "numbers", where that is not what it needs
    times: Callable[[], dict[str, Callable[[Any, Any, int], Picks]]] | None = None

    @property
    def version(self) -> str | None:
        """The version that is installed, or None."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None

    def contenders(self) -> dict[str, Callable[[Any, Any, int], Picks]]:
        """What is timed: a name and a call for each."""
        if self.times is not None:
            return self.times()
        return {n: pick for n, pick in self.criteria().items() if not self.timed or n in self.timed}
