"""From a selector's options and a table to the features: read, measured, chosen, told of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from bestk._auto import settle
from bestk.methods import Effort, Method, get_method
from bestk.reading import Read, Reading, find_features
from bestk.solution import Solution
from bestk.streaming._blocks import read_values
from bestk.table import Table, as_array

Indices = NDArray[np.int64]
MOST_ROWS = 2**31  # that weights may make of the rows of a table
WEIGHTS = "whole numbers from 0 up, not all zero; scale and round other weights first"


@dataclass(frozen=True)
class Task:
    """A table, read and measured, from which some method is to select features."""

    table: Table
    allowed: Indices  # the features that are not excluded, in the order of the entropies
    read: Read
    method: Method
    include: list[int]  # places among the allowed
    effort: Effort

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
        kept = table if not len(excluded) else table.keep(allowed)
        categorical = find_features(options.categorical_features, table)
        places = np.flatnonzero(np.isin(allowed, categorical))
        read_as = settle(options, blocks=measure_blocks is not None)
        reading = Reading(
            read_as.information, read_as.discretizer, read_as.correction, places,
            options.target, options.backend, options.n_jobs,
        )  # fmt: skip
        seed = options.random_state
        if isinstance(seed, np.random.RandomState):
            seed = int(seed.randint(2**31))
        effort = Effort(seed, options.time_limit, options.bound)
        read = measure_blocks(reading) if measure_blocks else reading.measure(kept, y)
        include = np.searchsorted(allowed, included).tolist()
        return cls(table, allowed, read, get_method(options.method), include, effort)

    def solution(self, k: int) -> Solution:
        """The k features, and what is to be said of each."""
        return self._told(self.method.select(self.read.entropies, k, self.include, self.effort))

    def path(self, ks: list[int]) -> list[Solution]:
        """Features for every k, by the places of the table; no bounds, nothing told of them."""
        effort = replace(self.effort, bound=None)
        solutions = self.method.select_path(self.read.entropies, ks, self.include, effort)
        return [replace(s, support=self.allowed[s.support], names=self.table.names)
                for s in solutions]  # fmt: skip

    def discretised_features(self) -> Indices | None:
        """The features that the discretiser was fitted on."""
        chosen = self.read.discretised
        return None if chosen is None else self.allowed[chosen]

    def _told(self, solution: Solution) -> Solution:
        details = {**solution.details, **tell(self.read, solution.support)}
        support = self.allowed[solution.support]
        return replace(solution, support=support, names=self.table.names, details=details)


def tell(read: Read, support: Indices) -> Mapping[str, Any]:
    """What each selected feature says alone, with the others, and beyond them, in nats.

    ``relevance`` is I(xi; y); ``pairs[i, j]`` is I(xj; y | xi), with the relevance on the
    diagonal; ``contribution`` is a feature's mean over the pairs it is in, its part of the
    quadratic objective ``cmi`` divided by k; ``adds`` is what a feature says beyond the one of
    the others that leaves it the least.
    """
    relevance = read.entropies.mi()[support]
    pairs = read.entropies.cmi(support, support)
    np.fill_diagonal(pairs, relevance)
    others = pairs + np.diag(np.full(len(support), np.inf))
    adds = others.min(axis=0) if len(support) > 1 else relevance
    return {
        "relevance": relevance,
        "contribution": (pairs.mean(axis=0) + pairs.mean(axis=1)) / 2,
        "adds": adds,
        "pairs": pairs,
    }


def count_features(k: float | str, n: int, task: Task) -> int:
    """The number of features that k means, among n; warns where there are not so many."""
    most = len(task.allowed)
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
