"""The path that a selection will take, found by asking the code that takes it."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np

from bestk._auto import settle
from bestk.criteria import get_criterion
from bestk.methods import Effort, Greedy, Quadratic, get_method
from bestk.planning._shape import Shape
from bestk.reading import BLENDED, LARGEST_BLEND
from bestk.streaming._discrete import Discrete
from bestk.streaming._measure import Counting
from bestk.streaming._memory import bytes_of_counts, memory_to_use
from bestk.streaming._selector import _needs_sample
from bestk.table import Block, Table

Held = Literal["matrix", "columns", "none"]  # of the pairs
Kept = Literal["table", "counts", "codes", "sums"]  # of the rows


@dataclass(frozen=True)
class Path:
    """How a table is read, what is kept of its rows, and how its pairs are asked for."""

    information: str
    counted: tuple[Any, ...]  # discretisers whose levels are counted
    covariances: bool  # whether numbers are taken as normal, too
    rows: Kept
    pairs: Held

    @property
    def name(self) -> str:
        """In a few words."""
        pairs = {
            "matrix": "the whole matrix of pairs in memory",
            "columns": "columns of pairs on demand",
            "none": "single features only",
        }[self.pairs]
        rows = {
            "table": "",
            "counts": "rows streamed as counts of pairs, ",
            "codes": "rows streamed as codes, ",
            "sums": "rows streamed as sums of products, ",
        }[self.rows]
        return rows + pairs


def choose_path(shape: Shape, selector: Any) -> Path:
    """What ``selector.fit`` will do with a table of that shape.

    Examples
    --------
    >>> from bestk import SelectBestK
    >>> choose_path(Shape(1000, 30_000), SelectBestK(method="tpower")).name
    'columns of pairs on demand'
    """
    read_as = settle(selector, blocks=shape.in_blocks)
    counted: tuple[Any, ...] = (read_as.discretizer,)
    covariances = False
    if read_as.information == "blend":
        auto = isinstance(read_as.discretizer, str) and read_as.discretizer == "auto"
        alone = shape.values > LARGEST_BLEND or not shape.numeric
        counted = BLENDED if auto else counted
        counted, covariances = (counted[:1] if alone else counted), not alone
    elif read_as.information == "gaussian":
        counted, covariances = (), True
    rows = _rows(shape, selector, counted) if shape.in_blocks else "table"
    return Path(read_as.information, counted, covariances, rows, _pairs(shape, selector))


class _Answer:
    """An objective that only tells which of its matrices it was asked for."""

    def pairs(self, entropies: Any) -> Any:
        return "matrix"

    def lazy_pairs(self, entropies: Any, memory: int) -> Any:
        return "columns"


def _pairs(shape: Shape, selector: Any) -> Held:
    method: Any = get_method(selector.method)
    if isinstance(method, Quadratic):
        effort = Effort(None, selector.time_limit, selector.bound)
        asked: Any = replace(method, objective=_Answer())  # type: ignore[arg-type]
        return asked._pairs(SimpleNamespace(n_features=shape.columns, source=None), effort)
    if isinstance(method, Greedy) and not get_criterion(method.criterion).uses_pairs:
        return "none"
    return "columns"


def _rows(shape: Shape, selector: Any, counted: tuple[Any, ...]) -> Kept:
    """What the pass over the blocks keeps; a table of few rows has the levels of all of them."""
    if not counted:
        return "sums"
    kinds = shape.kinds(counted[0])
    levels = np.repeat([made for _, made in kinds], [count for count, _ in kinds])
    known = _needs_sample(selector)
    if not known and bytes_of_counts(shape.planes(counted[0]), shape.classes) > memory_to_use():
        return "codes"  # counts are tried first, and given up
    some = np.minimum(np.arange(max(levels.max(), shape.classes))[:, None], levels - 1)
    names, everyone = [f"x{j}" for j in range(len(levels))], np.arange(len(levels))
    table = Table(len(some), names, (Block(everyone, "numeric", some),))
    seen: Any = SimpleNamespace(n_rows=shape.rows if known else None)
    counting = Counting(seen, selector, everyone, Discrete(everyone, None))
    y = np.minimum(np.arange(len(some)), shape.classes - 1)
    return "counts" if counting._prefers_counts(table, y) else "codes"
