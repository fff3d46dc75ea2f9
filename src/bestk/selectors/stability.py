"""Stability selection: how often features are selected from random subsamples of the rows."""

from collections.abc import Callable, Sequence
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
from bestk.information.estimators import TableEstimator, information_of
from bestk.information.side_by_side import join_subsamples, measure_parts
from bestk.native.threads import n_threads, threads
from bestk.selectors.fixed_number import count_features
from bestk.selectors.folds import make_folds, printed_progress, without_weightless
from bestk.selectors.joint_selector import resolve_options
from bestk.selectors.options import Options, is_method, seed_of
from bestk.selectors.selector import SelectBestK
from bestk.selectors.steps import draw_needed_rows, read_dataset, select_each, select_path
from bestk.tables.dataset import Dataset
from bestk.tables.table import find_constant
from bestk.tables.target import ClassTarget

# Subsamples are measured in one pass up to so many columns, and so many values, together.
MAX_COLUMNS_TOGETHER = 2048
MAX_VALUES_TOGETHER = 2**20


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
        frequencies = self.frequencies
        if self.groups is not None:
            _, first_of_group = np.unique(self.groups, return_index=True)
            frequencies = frequencies[first_of_group]
        q = float(frequencies.sum())
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
    X: Any,
    y: Any,
    k: float = 10,
    method: Any = "auto",
    *,
    n_subsamples: int = 50,
    screen: int | None = 256,
    groups: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool | int = False,
    **options: Any,
) -> StabilitySelection:
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
    seed = seed_of(random_state)
    selector = SelectBestK(k, method, random_state=seed, n_jobs=n_jobs, **options)
    resolved = resolve_options(selector)
    dataset = read_dataset(X, y, resolved, sample_weight)
    varying = dataset.find_varying()
    n_selected = count_features(k, dataset, dataset.columns.limits(varying))
    subsamples = _Subsamples(
        dataset=dataset,
        options=resolved,
        varying=varying,
        rows=_draw_halves(dataset, n_subsamples, groups, seed),
        n_selected=n_selected,
        screen=None if screen is None else max(screen, n_selected),
    )
    with threads(n_jobs):
        show = printed_progress("stability_selection", verbose)
        supports = subsamples.select(n_jobs, show)
    counts = np.bincount(np.concatenate(supports), minlength=dataset.table.n_features)
    columns = replace(dataset.columns, k_counts_columns=False)
    return StabilitySelection(
        counts / len(supports),
        supports,
        dataset.table.names,
        columns.limits(varying).available,
        columns.groups,
    )


def _draw_halves(dataset: Dataset, count: int, groups: Any, seed: int | None) -> list[Indices]:
    """The rows of random halves, stratified by class, or of half of the groups of rows."""
    n_rows = dataset.table.n_samples
    target = dataset.target
    labels = np.arange(n_rows)
    splitter: Any = ShuffleSplit
    is_stratified = isinstance(target, ClassTarget)
    if isinstance(target, ClassTarget):
        labels = target.codes
        splitter = StratifiedShuffleSplit
    if groups is not None:
        splitter = GroupShuffleSplit
    halves = splitter(count, train_size=0.5, random_state=seed)
    folds = make_folds(halves, (labels, labels, groups), classes=is_stratified)
    return [train for train, _ in without_weightless(folds, dataset.weights)]


@dataclass(frozen=True, kw_only=True)
class _Subsamples:
    """Subsamples of the rows of a dataset, from each of which features are selected."""

    dataset: Dataset

    options: Options

    varying: Indices
    """The columns of the whole table that may be selected and are not constant."""

    rows: list[Indices]
    """The rows of each subsample."""

    n_selected: int
    """The number of features to select from each."""

    screen: int | None
    """Features are selected among so many of the largest relevance; None: among all."""

    def select(
        self, n_jobs: int | None, show: Callable[[int, int], Any]
    ) -> tuple[tuple[int, ...], ...]:
        """The features of each subsample, best first."""
        n_workers = n_threads() if n_jobs else 1
        batches = self._make_batches(n_workers)
        n_values = len(self.rows[0]) * len(self.varying)
        is_small = len(batches) == len(self.rows) and n_values <= MAX_VALUES_TOGETHER
        # Subsamples are selected side by side, or have too little work for several threads.
        needs_one_thread = n_workers > 1 or is_small
        options = self.options.with_threads(1) if needs_one_thread else self.options
        parallel = Parallel(n_workers, require="sharedmem", return_as="generator")
        supports_of_batches = parallel(
            delayed(self._select_batch)(batch, options) for batch in batches
        )
        support_of_subsample: dict[int, tuple[int, ...]] = {}
        for batch, supports in zip(batches, supports_of_batches, strict=True):
            for number, support in zip(batch.tolist(), supports, strict=True):
                support_of_subsample[number] = tuple(support.tolist())
                show(len(support_of_subsample), len(self.rows))
        return tuple(support_of_subsample[number] for number in range(len(self.rows)))

    def _make_batches(self, n_workers: int) -> list[Indices]:
        """Numbers of subsamples that are measured in one pass: small ones, of the same classes."""
        n_columns = len(self.varying)
        n_rows = min(map(len, self.rows))
        size = min(
            MAX_COLUMNS_TOGETHER // n_columns,
            MAX_VALUES_TOGETHER // (n_rows * n_columns),
            -(-len(self.rows) // n_workers),
        )
        target = self.dataset.target
        if size < 2 or not isinstance(target, ClassTarget) or not self._can_be_joined():
            return list(np.arange(len(self.rows))[:, np.newaxis])
        counts = [np.bincount(target.codes[rows], minlength=target.n_classes) for rows in self.rows]
        _, kind_of_subsample = np.unique(counts, axis=0, return_inverse=True)
        batches = []
        for kind in range(kind_of_subsample.max() + 1):
            alike = np.flatnonzero(kind_of_subsample == kind)
            batches += [alike[start : start + size] for start in range(0, len(alike), size)]
        return batches

    def _can_be_joined(self) -> bool:
        """Whether several subsamples can be measured as one table, and no screen is needed."""
        estimator = self.options.estimator
        return (
            isinstance(estimator, TableEstimator)
            and is_method(self.options.method)
            and isinstance(estimator.settings.discretizer, str | Discretizer | None)
            and estimator.settings.backend in BACKENDS
            and all(isinstance(block.values, np.ndarray) for block in self.dataset.table.blocks)
            and (self.screen is None or len(self.varying) <= self.screen)
            and self.dataset.weights is None
        )

    def _select_batch(self, batch: Indices, options: Options) -> list[Indices]:
        """The features of some subsamples, best first."""
        rows = [self.rows[number] for number in batch]
        if len(batch) < 2:
            return [self._select_alone(rows[0], options)]
        classes = self.dataset.targets[0].classes
        rows = [places[np.argsort(classes.codes[places], kind="stable")] for places in rows]
        table = self.dataset.table.keep(self.varying)
        joined = join_subsamples(table, rows)
        constant = find_constant(joined)
        with_constant = np.unique(constant // table.n_features)
        if len(with_constant):
            # They have fewer columns to measure than the others.
            others = np.delete(batch, with_constant)
            support_of_number = dict(
                zip(others.tolist(), self._select_batch(others, options), strict=True)
                if len(others)
                else ()
            )
            for place in with_constant.tolist():
                support_of_number[int(batch[place])] = self._select_alone(rows[place], options)
            return [support_of_number[number] for number in batch.tolist()]
        estimator = options.estimator
        assert isinstance(estimator, TableEstimator)
        reading = estimator.reading(self.varying, self.dataset)
        target = classes.take(rows[0])
        measured = measure_parts(reading, joined, table.n_features, target)
        information = [
            information_of(self.dataset, self.varying, measured_part) for measured_part in measured
        ]
        return select_each(information, options, self.n_selected)

    def _select_alone(self, rows: Indices, options: Options) -> Indices:
        """The features of one subsample: of many, the most relevant and those to include."""
        subsample = draw_needed_rows(self.dataset.take(rows), options)
        information = options.estimator.fit(subsample)
        columns = subsample.columns
        can_screen = is_method(options.method) and columns.groups is None
        if can_screen and self.screen is not None and self.screen < len(information.features):
            relevance = np.nan_to_num(information.relevance(), nan=-np.inf)  # of excluded columns
            relevance[columns.included] = np.inf
            best = np.argsort(-relevance, kind="stable")[: self.screen]
            columns = replace(columns, allowed=np.sort(best))
            information = options.estimator.fit(replace(subsample, columns=columns))
        return select_path(information, options, [self.n_selected])[0].support
