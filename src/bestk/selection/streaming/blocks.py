"""What SelectBestK does with blocks of rows: fit on all of them, or on one more each time."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from bestk.data.blocks.blocks import Part, is_dask, open_blocks, read_values
from bestk.data.blocks.sample import Reservoir
from bestk.data.table import Table, read_table
from bestk.information.counted.counts import PairCounts
from bestk.selection.choose_k import AUTO
from bestk.selection.defaults import settle
from bestk.selection.reading import Read, Reading, find_features, is_fractional
from bestk.selection.streaming._discrete import Discrete, fit_discrete
from bestk.selection.streaming.measure import Stream
from bestk.selection.task import Task, count_features

if TYPE_CHECKING:
    from bestk.selection.selector import SelectBestK

FOUND = (
    "solution_", "support_", "ranking_", "scores_", "discretizer_", "discretized_features_",
)  # fmt: skip


def fit_blocks(selector: SelectBestK, X: Any, y: Any) -> None:
    """Fit on a table that comes in blocks."""
    forget(selector)
    stream = _look(selector, X, y)
    schema = stream.schema
    _note_columns(selector, schema)
    allowed = _allowed(selector, schema)

    def measure(reading: Reading) -> Read:
        read, selector.n_samples_seen_ = stream.measure(reading, allowed)
        return read

    task = Task.of(selector, schema, y, measure_blocks=measure)
    selector.solution_ = task.solution(count_features(selector.k, schema.n_features, task))
    selector._keep(task)


def _look(selector: Any, X: Any, y: Any) -> Stream:
    seed, whole = _seed(selector), _needs_sample(selector)
    if is_dask(X):
        from bestk.selection.streaming._dask import DaskStream

        return DaskStream.open(X, y, seed, whole)
    return Stream.look(open_blocks(X, y), seed, whole=whole)


def forget(selector: SelectBestK) -> None:
    """Drop the results of an earlier fit."""
    more = ("pair_counts_", "n_samples_seen_", "_discrete", "_waiting", "k_scores_", "k_errors_")
    for name in (*FOUND, *more):
        selector.__dict__.pop(name, None)


def _counts_levels(selector: Any) -> bool:
    if selector.information == "gaussian":
        raise AttributeError(
            "partial_fit counts levels; information='gaussian' takes blocks in fit"
        )
    if selector.k == AUTO:
        raise AttributeError("partial_fit holds no rows to choose k='auto' on; give k as a number")
    return True


class PartialFit:
    """``partial_fit``, and results that are worked out when they are first asked for."""

    pair_counts_: PairCounts
    n_samples_seen_: int
    _discrete: Discrete
    _waiting: list[Part]  # rows of one class, which alone do not show where to cut numbers

    @available_if(_counts_levels)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Count a block of rows; features are selected when a result is asked for.

        Levels and classes may be new in any block. Results are those of ``fit`` on all rows so
        far, where columns are discrete or the discretiser is given fitted: one that is not is
        fitted on the first block, which should then be large and mixed. Blocks before that of the
        second class are held until it comes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As for ``fit``.
        y : array-like of shape (n_rows,)
            The classes.
        classes : array-like, default=None
            All classes that will come. Not needed, but saves memory in the first call.

        Returns
        -------
        self
        """
        selector: Any = self
        selector._validate_params()
        first = "pair_counts_" not in vars(self)
        if first:
            forget(selector)
        table = read_table(selector._check_table(X, reset=first))
        values = read_values(y, table.n_samples)
        if first:
            self.pair_counts_, self._waiting, self.n_samples_seen_ = PairCounts(classes), [], 0
        for name in FOUND:
            vars(self).pop(name, None)
        self.n_samples_seen_ += table.n_samples
        blocks = [*self._waiting, (table, values)]
        if "_discrete" not in vars(self):
            discrete = _first_look(selector, blocks)
            if discrete is None:
                copied = table.take(np.arange(table.n_samples)), values.copy()
                self._waiting.append(copied)
                return self
            self._discrete = discrete
        self._waiting = []
        for block in blocks:
            self._count(*block)
        return self

    def _count(self, table: Table, y: Any) -> None:
        allowed = _allowed(self, table)
        kept = self._discrete.table(table)
        kept = kept if len(allowed) == table.n_features else kept.keep(allowed)
        self.pair_counts_.add(kept, self._discrete.classes(y))

    def __getattr__(self, name: str) -> Any:
        if name == "partial_fit":
            _counts_levels(self)  # says why there is none
        if name not in FOUND or "pair_counts_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        _solve(self)
        return vars(self)[name]


def _solve(selector: Any) -> None:
    """Select from what is counted so far."""
    if selector._waiting:
        came = selector._waiting[0][1][0]
        raise ValueError(f"y has one class only, {came}; at least two are needed")
    counts, discrete = selector.pair_counts_, selector._discrete
    n = selector.n_features_in_
    names = getattr(selector, "feature_names_in_", [f"x{j}" for j in range(n)])
    schema = Table(counts.n_samples, list(names), ())

    def measure(reading: Reading) -> Read:
        entropies = counts.entropies(reading.correction, reading.n_jobs)
        if discrete.discretizer is None:
            return Read(entropies, None, levels=counts.levels)
        places = np.searchsorted(_allowed(selector, schema), discrete.numeric)
        return Read(entropies, None, discrete.discretizer, places, counts.levels)

    task = Task.of(selector, schema, None, measure_blocks=measure)
    selector.solution_ = task.solution(count_features(selector.k, n, task))
    selector._keep(task)


def _first_look(selector: Any, blocks: list[Part]) -> Discrete | None:
    """What cuts the numbers of all blocks: a fitted discretiser, or one fitted on the first.

    None where it is to be fitted, and the rows are all of one class.
    """
    table, y = blocks[0][0], np.concatenate([values for _, values in blocks])
    read_as = settle(selector, blocks=True)
    target = selector.target
    if target == "auto":  # few rows do not tell a quantity from classes
        target = "continuous" if is_fractional(y) else "classes"
    reading = Reading(read_as.information, read_as.discretizer, target=target)
    reservoir = Reservoir(seed=0, rows=len(y))
    for block in blocks:
        reservoir.add(*block)
    sample = reservoir.finish()
    categorical = find_features(selector.categorical_features, table)
    numeric = np.setdiff1d(sample.numeric, categorical)
    numeric = numeric[np.isin(numeric, _allowed(selector, table))]
    if not (len(numeric) and _is_fitted(selector.discretizer)):
        if len(numeric) and reading.discretizer is not None and (y == y[0]).all():
            return None
        return fit_discrete(reading, sample, numeric)
    without = fit_discrete(replace(reading, discretizer=None), sample, numeric)
    fitted = copy(selector.discretizer)
    vars(fitted).pop("feature_names_in_", None)  # it gets arrays
    if (n := getattr(fitted, "n_features_in_", len(numeric))) != len(numeric):
        raise ValueError(
            f"the discretizer is fitted on {n} columns, and {len(numeric)} are numeric; fit it on "
            "those that are to be cut, and no others"
        )
    return Discrete(numeric, fitted, without.target)


def _is_fitted(discretizer: Any) -> bool:
    fitted = vars(discretizer) if hasattr(discretizer, "__dict__") else {}
    return any(name.endswith("_") and not name.startswith("_") for name in fitted)


def _allowed(selector: Any, table: Table) -> Any:
    return np.setdiff1d(np.arange(table.n_features), find_features(selector.exclude, table))


def _needs_sample(selector: Any) -> bool:
    """Whether cut points are to be found before counting; a continuous target has some, too."""
    read_as = settle(selector, blocks=True)
    counts = read_as.information == "discrete" and selector.target != "continuous"
    return read_as.discretizer is not None or not counts


def _seed(selector: Any) -> int:
    state = selector.random_state
    if isinstance(state, np.random.RandomState):
        return int(state.randint(2**31))
    return 0 if state is None else int(state)


def _note_columns(selector: Any, schema: Table) -> None:
    """Remember the columns, as scikit-learn does for a table."""
    from bestk.data.table import _Numbered

    vars(selector).pop("feature_names_in_", None)
    selector.n_features_in_ = schema.n_features
    if not isinstance(schema.names, _Numbered):
        selector.feature_names_in_ = np.array(list(schema.names), dtype=object)
