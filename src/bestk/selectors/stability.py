"""Stability selection: how often features are selected from random subsamples of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils.parallel import Parallel, delayed

from bestk._checks import real, whole
from bestk._typing import Floats, Indices
from bestk.discretize import Discretizer
from bestk.errors import ParameterError
from bestk.information.backends import BACKENDS
from bestk.information.together import join_subsamples, measure_parts
from bestk.native.threads import n_threads, threads
from bestk.selectors.base import count_features
from bestk.selectors.folds import make_folds, printed_progress, without_weightless
from bestk.selectors.pipeline import Columns, Task, is_method, seed_of, settle
from bestk.selectors.selector import SelectBestK
from bestk.tables.frames import read_features
from bestk.tables.table import find_constant
from bestk.tables.target import NumericTarget, parse_targets

MAX_COLUMNS_TOGETHER, MAX_VALUES_TOGETHER = 2048, 2**20  # of subsamples measured in one pass


@dataclass(frozen=True)
class StabilitySelection:
    """How often each feature was selected from subsamples of the rows.

    :func:`stability_selection` returns it. Its text is a table of the most frequent features.
    :func:`bestk.evaluation.stability` measures how similar its ``supports`` are.
    """

    frequencies: Floats  # fraction of the subsamples in which each feature was selected
    supports: tuple[tuple[int, ...], ...]  # the features selected from each subsample, best first
    names: Sequence[str]  # of all features
    n_candidates: int  # features, or column groups, that could be selected
    groups: Indices | None = None  # the number of the column group of each feature

    def selected(self, threshold: float = 0.6) -> Indices:
        """Features selected from at least this fraction of the subsamples, most frequent first."""
        order = np.argsort(-self.frequencies, kind="stable")
        return order[self.frequencies[order] >= threshold]

    def false_selections(self, threshold: float = 0.6) -> float:
        """Bound on the expected number of irrelevant features with that frequency or more.

        It is ``q**2 / ((2 threshold - 1) p)`` for q features, or column groups, selected of p
        (Meinshausen and Buehlmann 2010). It holds if irrelevant features are exchangeable, and the
        method is no worse than guessing.
        """
        threshold = real(threshold, "threshold", "a number between 0.5 and 1")
        if not 0.5 < threshold <= 1:
            raise ParameterError(f"the bound needs a threshold above 0.5; got {threshold}")
        each = self.frequencies
        if self.groups is not None:  # one column of each group
            each = each[np.unique(self.groups, return_index=True)[1]]
        q = float(each.sum())
        return q * q / ((2 * threshold - 1) * self.n_candidates)

    def to_frame(self) -> Any:
        """Features that were selected at least once, most frequent first, as a pandas frame."""
        import pandas as pd

        items = self.selected(0.5 / len(self.supports))
        names = [self.names[i] for i in items.tolist()]
        return pd.DataFrame({"item": items, "name": names, "frequency": self.frequencies[items]})

    def __str__(self) -> str:
        head = f"{len(self.supports)} subsamples; frequency of each feature"
        shown = self.selected(0.1)[:20].tolist()
        lines = [f"{self.frequencies[item]:9.0%}  {self.names[item]}" for item in shown]
        return "\n".join([head, *lines])


def stability_selection(
    X: Any, y: Any, k: float = 10, method: Any = "auto", *, n_subsamples: int = 50,
    screen: int | None = 256, groups: Any = None, sample_weight: Any = None,
    random_state: Any = 0, n_jobs: int | None = None, verbose: bool | int = False, **options: Any,
) -> StabilitySelection:  # fmt: skip
    """Select from many random subsamples of the rows, and count how often each feature is taken.

    Parameters
    ----------
    X, y, k, method, sample_weight, random_state, verbose, **options
        As for :class:`SelectBestK` and its ``fit``; k is a number.
    n_subsamples : int, default=50
        Number of subsamples, each half of the rows, stratified by class.
    screen : int or None, default=256
        Select among this many features of largest relevance in each subsample; None: among all.
        It does not apply to column groups and to selectors of other libraries.
    groups : array-like of shape (n_samples,), default=None
        Groups of rows of which whole ones are drawn, and not rows.
    n_jobs : int, default=None
        Subsamples at a time, in threads; None: one, with all threads where it is large.

    Notes
    -----
    The table is read once, small subsamples of the same classes are measured in one pass, no
    bound is computed and no warning is looked for. Selections are otherwise those of
    ``SelectBestK(k, method).fit`` on the rows of each subsample, up to ``screen`` features; beyond
    them, a feature that is informative only in a pair may be missed.
    Of features that can stand in for each other, each is selected less often.

    References
    ----------
    N. Meinshausen, P. Buehlmann, "Stability selection", Journal of the Royal Statistical Society
    B 72, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> found = stability_selection(X, y, k=3, n_subsamples=20)
    >>> [X.columns[i] for i in found.selected(0.7)]
    ['worst perimeter', 'worst texture']
    """
    if isinstance(k, str):
        raise ParameterError(f"stability_selection needs k as a number or a fraction, not {k!r}")
    if options.get("threshold") is not None:
        raise ParameterError(
            "threshold has no effect on stability_selection: k features are selected from each "
            "subsample; leave threshold out, or pass it to the method selected() of the result, "
            "where it is a frequency"
        )
    for name in ("scoring", "cv"):
        if options.get(name) is not None:
            raise ParameterError(
                f"{name} has no effect on stability_selection, which predicts nothing; leave it out"
            )
    whole(n_subsamples, "n_subsamples", 1)
    random_state = seed_of(random_state)
    selector = SelectBestK(k, method, random_state=random_state, n_jobs=n_jobs, **options)
    selector._validate_params()
    table = read_features(X, selector.categorical_features)
    targets = parse_targets(y, table.n_samples, selector.target, sample_weight)
    columns = Columns.of(selector, table)
    task = Task.measured(selector, table, columns, columns.varying(table), None)
    wanted = count_features(k, table.n_features, task)
    stratified = len(targets) == 1 and not isinstance(targets[0], NumericTarget)
    kind = StratifiedShuffleSplit if stratified else ShuffleSplit
    kind = kind if groups is None else GroupShuffleSplit
    splitter = kind(n_subsamples, train_size=0.5, random_state=random_state)
    labels = targets[0].classes.codes if stratified else np.arange(table.n_samples)
    folds = make_folds(splitter, (labels, labels, groups), classes=stratified)
    rows = [train for train, _ in without_weightless(folds, targets[0].weights)]
    task, screen = replace(task, targets=targets), None if screen is None else max(screen, wanted)
    drawn = _Subsamples(selector, task, columns, rows, wanted, screen)
    with threads(n_jobs):
        supports = drawn.supports(n_jobs, printed_progress("stability_selection", verbose))
    counts = np.bincount(np.concatenate(supports), minlength=table.n_features)
    most = replace(task, by_columns=False).most
    return StabilitySelection(counts / len(rows), supports, table.names, most, columns.groups)


@dataclass(frozen=True)
class _Subsamples:
    """Subsamples of the rows of a table, and what is selected from each."""

    selector: SelectBestK
    task: Task  # the whole table, which is not measured
    columns: Columns
    rows: list[Indices]
    wanted: int  # features of each
    screen: int | None

    def supports(self, n_jobs: int | None, show: Any) -> tuple[tuple[int, ...], ...]:
        """The features of each subsample, best first."""
        team = n_threads() if n_jobs else 1
        batches, found = self.batches(team), dict[int, tuple[int, ...]]()
        values = len(self.rows[0]) * len(self.task.allowed)
        alone = len(batches) == len(self.rows) and values <= MAX_VALUES_TOGETHER
        self.selector.n_jobs = 1 if team > 1 or alone else n_jobs  # too little work for threads
        parallel = Parallel(team, require="sharedmem", return_as="generator")
        parts = parallel(delayed(self.select)(batch) for batch in batches)
        for batch, each in zip(batches, parts, strict=True):
            for number, support in zip(batch.tolist(), each, strict=True):
                found[number] = tuple(support.tolist())
                show(len(found), len(self.rows))
        return tuple(found[i] for i in range(len(self.rows)))

    def batches(self, n_jobs: int) -> list[Indices]:
        """Numbers of subsamples that are measured in one pass: small ones, of the same classes."""
        task, rows = self.task, self.rows
        n, m = len(task.allowed), min(map(len, rows))
        size = min(
            MAX_COLUMNS_TOGETHER // n, MAX_VALUES_TOGETHER // (m * n), -(-len(rows) // n_jobs)
        )
        alone = (
            size < 2
            or settle(self.selector).information == "blocks"
            or not is_method(task.method)
            or not isinstance(settle(self.selector).discretizer, str | Discretizer | None)
            or not all(isinstance(block.values, np.ndarray) for block in task.table.blocks)
            or (self.screen is not None and n > self.screen)
            or self.selector.backend not in BACKENDS
        )
        weighted = task.targets[0].weights is not None
        if alone or weighted or task.target is None or isinstance(task.target, NumericTarget):
            return list(np.arange(len(rows))[:, np.newaxis])
        classes = task.target.classes
        counts = [np.bincount(classes.codes[some], minlength=classes.n_classes) for some in rows]
        _, kind = np.unique(counts, axis=0, return_inverse=True)
        alike = (np.flatnonzero(kind == each) for each in range(kind.max() + 1))
        return [some[i : i + size] for some in alike for i in range(0, len(some), size)]

    def select(self, batch: Indices) -> list[Indices]:
        """The features of some subsamples, best first."""
        rows, task = [self.rows[i] for i in batch], self.task
        if len(batch) < 2:
            return [self._select_alone(own) for own in rows]
        codes, kept = task.targets[0].classes.codes, task.table.keep(task.allowed)
        rows = [own[np.argsort(codes[own], kind="stable")] for own in rows]
        joined, n = join_subsamples(kept, rows), kept.n_features
        alone = np.isin(np.arange(len(batch)), find_constant(joined) // n)
        if alone.any():  # they have fewer columns to measure than the others
            others = iter(self.select(batch[~alone]))
            each = zip(rows, alone, strict=True)
            return [self._select_alone(own) if odd else next(others) for own, odd in each]
        reading, target = self.columns.reading(self.selector, task.allowed), task.targets[0]
        return task.supports(measure_parts(reading, joined, n, target.take(rows[0])), self.wanted)

    def _select_alone(self, rows: Indices) -> Indices:
        """The features of one subsample: of many, the most relevant and those to include."""
        table, targets = self.task.table.take(rows), tuple(y.take(rows) for y in self.task.targets)
        part, most = Task.of(self.selector, table, targets, columns=self.columns), self.screen
        many = most is not None and most < len(part.allowed)
        if many and is_method(part.method) and part.groups is None:
            relevance = np.nan_to_num(part.relevance(), nan=-np.inf)  # of excluded features
            relevance[self.columns.included] = np.inf
            best = np.sort(np.argsort(-relevance, kind="stable")[:most])
            columns = replace(self.columns, allowed=best)
            part = Task.of(self.selector, table, targets, columns=columns)
        return part.path([self.wanted])[0].support
