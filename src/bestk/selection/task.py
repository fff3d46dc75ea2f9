"""From a selector's options and a table to the features: read, measured, chosen, told of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from time import perf_counter
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from bestk.data.blocks.blocks import read_values
from bestk.data.table import Table, as_array, find_constant
from bestk.problem.solution import Solution
from bestk.selection.defaults import settle
from bestk.selection.methods import Effort, Method, get_method
from bestk.selection.reading import Read, Reading, find_features, note_on_target

Indices = NDArray[np.int64]
MOST_ROWS = 2**31  # that weights may make of the rows of a table
TOLD_OF_EACH = ("relevance", "contribution", "new_information", "pairs", "scores")
WEIGHTS = "whole numbers from 0 up, not all zero; scale and round other weights first"


@dataclass(frozen=True)
class Task:
    """A table, read and measured, from which some method is to select features."""

    table: Table
    allowed: Indices  # the features that were measured, in the order of the entropies
    read: Read
    method: Method
    include: list[int]  # places among the allowed
    effort: Effort
    constant: Indices  # features of one value, selected only where no others are left
    y: Any = None  # of each row of the table
    notes: tuple[str, ...] = ()  # on how the table and the target were read

    @classmethod
    def of(
        cls, options: Any, table: Table, y: Any, sample_weight: Any = None,
        measure_blocks: Callable[[Reading], Read] | None = None,
    ) -> "Task":  # fmt: skip
        """Read a table as a selector's parameters say."""
        if sample_weight is not None:
            table, y = weigh(table, y, sample_weight)
        excluded = find_features(options.exclude, table)
        included = np.array(list(dict.fromkeys(find_features(options.include, table))), np.int64)
        if len(both := np.intersect1d(included, excluded)):
            raise ValueError(
                f"column {table.names[both[0]]!r} is both included and excluded; choose one"
            )
        allowed = np.delete(np.arange(table.n_features), excluded)
        if not len(allowed):
            raise ValueError("every column is excluded; leave at least one to select from")
        constant = np.setdiff1d(np.intersect1d(allowed, find_constant(table)), included)
        constant = constant[:0] if len(constant) == len(allowed) else constant
        allowed = np.setdiff1d(allowed, constant)
        kept = table if len(allowed) == table.n_features else table.keep(allowed)
        categorical = find_features(options.categorical_features, table)
        places = np.flatnonzero(np.isin(allowed, categorical))
        read_as = settle(options, blocks=measure_blocks is not None)
        reading = Reading(
            read_as.information, read_as.discretizer, read_as.correction, places,
            options.target, options.backend, options.n_jobs,
        )  # fmt: skip
        notes = list(table.notes)
        if not measure_blocks:
            notes += filter(None, [note_on_target(options.target, y)])
            kind = "continuous" if reading.is_continuous(y) else "classes"
            reading = replace(reading, target=kind)
        seed = options.random_state
        if isinstance(seed, np.random.RandomState):
            seed = int(seed.randint(2**31))
        start = perf_counter()
        read = measure_blocks(reading) if measure_blocks else reading.measure(kept, y)
        effort = Effort(seed, options.time_limit, options.bound, perf_counter() - start)
        include = np.searchsorted(allowed, included).tolist()
        method = get_method(options.method)
        return cls(table, allowed, read, method, include, effort, constant, y, tuple(notes))

    @property
    def most(self) -> int:
        """The number of features to select from."""
        return len(self.allowed) + len(self.constant)

    def solution(self, k: int) -> Solution:
        """The k features, and what is to be said of each."""
        wanted = min(k, len(self.allowed))
        found = self.method.select(self.read.entropies, wanted, self.include, self.effort)
        return self._filled(self._told(found), k)

    def path(self, ks: list[int]) -> list[Solution]:
        """Features for every k, by the places of the table; no bounds, nothing told of them."""
        effort, fewer = replace(self.effort, bound=None), [min(k, len(self.allowed)) for k in ks]
        once = sorted(set(fewer))
        solutions = self.method.select_path(self.read.entropies, once, self.include, effort)
        found = {s.k: replace(s, support=self.allowed[s.support], names=self.table.names)
                 for s in solutions}  # fmt: skip
        return [self._filled(found[n], k) for n, k in zip(fewer, ks, strict=True)]

    def relevance(self) -> NDArray[np.float64]:
        """I(xi; y) of every column of the table: 0 for constant ones, NaN for excluded ones."""
        relevance = np.full(self.table.n_features, np.nan)
        relevance[self.constant] = 0.0
        relevance[self.allowed] = self.read.entropies.mi()
        return relevance

    def discretised_features(self) -> Indices | None:
        """The features that the discretiser was fitted on."""
        chosen = self.read.discretised
        return None if chosen is None else self.allowed[chosen]

    def _told(self, solution: Solution) -> Solution:
        unknown = {"contribution": np.full(solution.k, np.nan)}  # to a method of the user's own
        details = {**unknown, **solution.details, **tell(self.read, solution.support)}
        support = self.allowed[solution.support]
        return replace(solution, support=support, names=self.table.names, details=details)

    def _filled(self, solution: Solution, k: int) -> Solution:
        """The solution with constant features, where others are fewer than k."""
        more = k - solution.k
        if more <= 0:
            return solution
        details = {name: _padded(value, solution.k, more) if name in TOLD_OF_EACH else value
                   for name, value in solution.details.items()}  # fmt: skip
        support = np.append(solution.support, self.constant[:more])
        return replace(solution, support=support, details=details)


def _padded(values: Any, k: int, more: int) -> Any:
    """The numbers of k features, or of their pairs, with zeros for some more."""
    return np.pad(values, [(0, more if n == k else 0) for n in np.shape(values)])


def tell(read: Read, support: Indices) -> Mapping[str, Any]:
    """Information of each selected feature about y, in nats.

    ``relevance`` is I(xi; y); ``pairs[i, j]`` is I(xj; y | xi), with the relevance on the
    diagonal; ``new_information`` is the smallest I(xi; y | xj) over the other selected xj.
    """
    relevance = read.entropies.mi()[support]
    pairs = read.entropies.cmi(support, support)
    np.fill_diagonal(pairs, relevance)
    others = pairs + np.diag(np.full(len(support), np.inf))
    new = others.min(axis=0) if len(support) > 1 else relevance
    return {"relevance": relevance, "new_information": new, "pairs": pairs}


def count_features(k: float | str, n: int, task: Task) -> int:
    """The number of features that k means, among n; warns where there are not so many."""
    most = task.most
    wanted = int(k) if isinstance(k, Integral) else max(1, round(float(k) * n))
    if wanted < len(task.include):
        raise ValueError(
            f"k={wanted} is less than the {len(task.include)} features to include; raise it"
        )
    if wanted > most:
        warn(f"k={wanted} is more than the {most} features to select from; all are selected",
             UserWarning, stacklevel=3)  # fmt: skip
    return min(wanted, most)


def weigh(table: Table, y: Any, sample_weight: Any) -> tuple[Table, Any]:
    """Repeat each row as often as its weight says."""
    weights = as_array(sample_weight)
    if weights.shape != (table.n_samples,):
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, expected {(table.n_samples,)}: "
            "give a weight for each row"
        )
    counts = _whole_weights(weights)
    y = read_values(y, table.n_samples)
    rows = np.repeat(np.arange(table.n_samples), counts)
    return table.take(rows), y[rows]


def _whole_weights(weights: NDArray[Any]) -> NDArray[np.int64]:
    """How often each row counts; refuses all but whole numbers that leave some rows, not many."""
    casting: Any = "unsafe" if weights.dtype == object else "same_kind"
    try:
        counts = weights.astype(np.float64, casting=casting)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight holds {weights.dtype} values; {WEIGHTS}") from error
    if not (counts >= 0).all() or (counts != np.floor(counts)).any() or not counts.any():
        raise ValueError(f"sample_weight says how often each row counts: {WEIGHTS}")
    if counts.sum() >= MOST_ROWS:
        raise ValueError(
            f"sample_weight adds up to {counts.sum():.3g} rows, {MOST_ROWS} or more; divide all "
            "weights by the same number and round them"
        )
    return counts.astype(np.int64)
