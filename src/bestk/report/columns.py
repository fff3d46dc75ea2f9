"""How the table was read: kinds, missing values, classes, and the bins of selected columns."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.table import find_features
from bestk.data.target import Target, is_continuous
from bestk.problem.solution import Solution
from bestk.report.records import (
    Bin,
    Column,
    Relevant,
    RelevantColumn,
    ReportRequest,
    TableFacts,
    format_text,
)
from bestk.selection.look import Values, bin_codes, column_values
from bestk.selection.pipeline import Task, settle
from bestk.selection.relevant import SelectRelevant

MAX_BINNED_COLUMNS = 60  # whose bins are shown
MAX_LISTED = 500  # columns in the list of all
MAX_LISTED_VALUES = 2**26  # of these columns
MAX_BINS = 24  # of a column; rarer levels are put together
MAX_CLASSES = 12  # that are counted one by one in bins
MAX_PAIR_WORK = 1e11  # squared columns times rows: about half a second on two cores
Cuts = dict[int, NDArray[np.float64]]


def describe_table(
    request: ReportRequest, task: Task, goal: Target | None, solution: Solution
) -> TableFacts:
    """How a table in memory was read."""
    options, y, table = request.selected, request.y, task.table
    cuts = cut_points(options, task)
    kinds, counts = np.unique(table.kinds.astype(str), return_counts=True)
    continuous = is_continuous(y, options.target)
    classes = _class_names(goal, y, continuous)
    codes, groups = np.zeros(table.n_samples, np.int64), tuple[str, ...]()
    if goal is not None and goal.n_classes <= MAX_CLASSES:
        codes, groups = goal.codes, tuple(name for name, _ in classes)
    discretizer = task.read.discretizer
    return TableFacts(
        table.n_samples,
        table.n_features,
        dict(zip(kinds.tolist(), counts.tolist(), strict=True)),
        int(table.count_missing().sum()),
        classes,
        groups,
        continuous,
        settle(options, blocks=getattr(options, "_in_blocks", False)).information,
        "" if discretizer is None else type(discretizer).__name__,
        tuple(describe_column(table.names[j], column_values(table, j), cuts.get(j), codes)
              for j in solution.support[:MAX_BINNED_COLUMNS].tolist()),
        _list_columns(task, solution),
    )  # fmt: skip


def describe_fit(selector: Any, solution: Solution) -> TableFacts:
    """How a table was read, as far as a fitted selector knows."""
    cuts = cut_points(selector)
    columns = tuple(
        Column(format_text(name), "numeric", cuts=tuple(map(float, cuts[place])))
        for place, name in zip(solution.support.tolist(), solution._labels(), strict=True)
        if place in cuts
    )
    read_as = settle(selector, blocks=getattr(selector, "_in_blocks", False))
    discretizer = selector.discretizer_
    return TableFacts(
        getattr(selector, "n_samples_seen_", None),
        selector.n_features_in_,
        information=read_as.information,
        discretizer="" if discretizer is None else type(discretizer).__name__,
        columns=columns[:MAX_BINNED_COLUMNS],
    )


def cut_points(options: Any, task: Task | None = None) -> Cuts:
    """The cut points of every discretised column, of the fit or of the task."""
    places, discretizer = None, getattr(options, "discretizer_", None)
    if discretizer is not None:
        places = options.discretized_features_
    elif task is not None:
        places, discretizer = task.discretised_features(), task.read.discretizer
    points = getattr(discretizer, "cut_points_", None)
    if places is None or points is None:
        return {}
    return dict(zip(places.tolist(), points, strict=True))


def _class_names(goal: Target | None, y: Any, continuous: bool) -> tuple[tuple[str, int], ...]:
    """The classes and their rows; for a continuous target, its ranges."""
    if goal is None:
        return ()
    names = [format_text(label) for label in goal.classes.tolist()]
    if continuous:
        values = np.asarray(y, np.float64).ravel()
        parts = [values[goal.codes == c] for c in range(goal.n_classes)]
        names = [f"{part.min():.6g} to {part.max():.6g}" for part in parts]
    return tuple(zip(names, goal.counts.tolist(), strict=True))


def describe_column(
    name: str, column: Values, cuts: NDArray[np.float64] | None, classes: NDArray[np.int64]
) -> Column:
    """How a column was read; ``cuts`` are None if it was not discretised."""
    levels = np.unique(column.values[~column.missing])
    codes = bin_codes(column, cuts, MAX_BINS)
    bins: tuple[Bin, ...] = ()
    if codes is not None:
        texts = column.categories or levels.tolist()
        labels = _range_labels(cuts) if cuts is not None else [format_text(t) for t in texts]
        bins = _count_bins(codes, [*labels, "missing"], classes)
    points = () if cuts is None else tuple(float(cut) for cut in cuts)
    missing = int(column.missing.sum())
    return Column(format_text(name), column.kind, missing, len(levels), cuts=points, bins=bins)


def _range_labels(cuts: NDArray[np.float64]) -> list[str]:
    """The intervals between cut points, closed on the right."""
    if not len(cuts):
        return ["all values"]
    points = [f"{cut:.6g}" for cut in cuts]
    between = [f"> {low} to {high}" for low, high in pairwise(points)]
    return [f"≤ {points[0]}", *between, f"> {points[-1]}"]


def _count_bins(
    codes: NDArray[np.int64], labels: list[str], classes: NDArray[np.int64]
) -> tuple[Bin, ...]:
    """The rows of each class in each bin; rare bins are put together."""
    n_classes = int(classes.max(initial=0)) + 1
    flat = np.bincount(codes * n_classes + classes, minlength=len(labels) * n_classes)
    counts = flat.reshape(-1, n_classes)
    if not counts[-1].any():  # no missing values
        counts, labels = counts[:-1], labels[:-1]
    if len(labels) > MAX_BINS:
        frequent = np.argsort(-counts.sum(axis=1), kind="stable")
        kept, rest = np.sort(frequent[: MAX_BINS - 1]), frequent[MAX_BINS - 1 :]
        labels = [*(labels[i] for i in kept), f"{len(rest)} rarer values"]
        counts = np.vstack([counts[kept], counts[rest].sum(axis=0)])
    return tuple(Bin(label, tuple(row)) for label, row in zip(labels, counts.tolist(), strict=True))


def _list_columns(task: Task, solution: Solution) -> tuple[Column, ...]:
    """The most relevant columns, and the selected ones, in the order of the table."""
    table, relevance = task.table, task.relevance()
    rank = {place: i for i, place in enumerate(solution.support.tolist(), 1)}
    order = np.argsort(-relevance, kind="stable").tolist()  # excluded ones come last
    most = min(MAX_LISTED, MAX_LISTED_VALUES // table.n_samples)
    listed = []
    for j in sorted(list(dict.fromkeys([*rank, *order]))[:most]):
        column = column_values(table, j)
        distinct = len(np.unique(column.values[~column.missing]))
        listed.append(Column(format_text(table.names[j]), column.kind, int(column.missing.sum()),
                             distinct, float(relevance[j]), rank.get(j)))  # fmt: skip
    return tuple(listed)


def find_relevant(options: Any, task: Task, y: Any, solution: Solution) -> Relevant:
    """Test the columns that could be selected; in pairs where that takes no time to speak of."""
    places = np.sort(np.concatenate([task.allowed, task.constant]))
    table = task.table.keep(places)
    categorical = find_features(options.categorical_features, task.table)
    found = SelectRelevant(
        pairs=len(places) ** 2 * table.n_samples <= MAX_PAIR_WORK,
        categorical_features=np.flatnonzero(np.isin(places, categorical)),
        target=options.target,
        n_jobs=options.n_jobs,
    ).fit(table, y)
    rank = {int(place): i for i, place in enumerate(solution.support, 1)}
    names = [format_text(name) for name in table.names]
    order = np.flatnonzero(found.support_)
    order = order[np.argsort(found.pvalues_[order], kind="stable")]
    columns = tuple(
        RelevantColumn(
            names[j], names[found.partners_[j]] if found.in_pair_[j] else "",
            float(found.scores_[j]), float(found.qvalues_[j]), rank.get(int(places[j])),
        )
        for j in order
    )  # fmt: skip
    return Relevant(len(places), found.fdr, found.pairs, found.n_permutations_, columns)
