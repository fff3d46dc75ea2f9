"""How the table was read: kinds, missing values, classes, cut points, each column in a line."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.codes import Target
from bestk.data.target import is_continuous
from bestk.problem.solution import Solution
from bestk.report._columns import Column, read_column
from bestk.report._facts import Listed, TableFacts
from bestk.report._text import shown
from bestk.selection.look import Look, column_values
from bestk.selection.pipeline import Task, settle

MOST_COLUMNS = 60  # whose bins are shown
MOST_LISTED = 500  # columns in the list of all


def whole_table(
    options: Any, task: Task, y: Any, goal: Target | None, solution: Solution,
    looks: list[Look] | None,
) -> TableFacts:  # fmt: skip
    """What the rows tell."""
    table, cuts = task.table, cut_points(options, task)
    places = solution.support[:MOST_COLUMNS].tolist()
    kinds, counts = np.unique(table.kinds.astype(str), return_counts=True)
    continuous = is_continuous(y, options.target)
    return TableFacts(
        table.n_samples,
        table.n_features,
        dict(zip(kinds.tolist(), counts.tolist(), strict=True)),
        int(table.count_missing().sum()),
        _class_labels(y, goal, continuous),
        continuous,
        settle(options, blocks=getattr(options, "_in_blocks", False)).information,
        _name_of(task.read.discretizer),
        tuple(read_column(table.names[j], column_values(table, j), cuts.get(j), goal)
              for j in places),
        _listed(task, solution, looks),
    )  # fmt: skip


def known_table(selector: Any, solution: Solution) -> TableFacts:
    """What a fitted selector knows without the rows."""
    cuts = _fitted_cuts(selector)
    columns = tuple(
        Column(shown(name), "numeric", None, None, tuple(map(float, cuts[place])), ())
        for place, name in zip(solution.support.tolist(), solution._labels(), strict=True)
        if place in cuts
    )
    read_as = settle(selector, blocks=getattr(selector, "_in_blocks", False))
    return TableFacts(
        getattr(selector, "n_samples_seen_", None),
        selector.n_features_in_,
        information=read_as.information,
        discretizer=_name_of(selector.discretizer_),
        columns=columns[:MOST_COLUMNS],
    )


def _name_of(discretizer: Any) -> str:
    return "" if discretizer is None else type(discretizer).__name__


def cut_points(options: Any, task: Task) -> dict[int, NDArray[np.float64]]:
    """The cut points of every column that was discretised: when it was fitted, or just now."""
    if getattr(options, "discretizer_", None) is not None:
        return _fitted_cuts(options)
    return _cuts_of(task.discretised_features(), task.read.discretizer)


def _fitted_cuts(selector: Any) -> dict[int, NDArray[np.float64]]:
    return _cuts_of(selector.discretized_features_, selector.discretizer_)


def _cuts_of(places: Any, discretizer: Any) -> dict[int, NDArray[np.float64]]:
    points = getattr(discretizer, "cut_points_", None)
    if places is None or points is None:
        return {}
    return dict(zip(places.tolist(), points, strict=True))


def _class_labels(y: Any, goal: Target | None, continuous: bool) -> tuple[tuple[str, int], ...]:
    """The classes and their rows; of a continuous target, the ranges that it was cut into."""
    if goal is None:
        return ()
    labels = [shown(label) for label in goal.classes.tolist()]
    if continuous:
        values = np.asarray(y, np.float64).ravel()
        parts = [values[goal.codes == c] for c in range(goal.n_classes)]
        labels = [f"{part.min():.6g} to {part.max():.6g}" for part in parts]
    return tuple(zip(labels, goal.counts.tolist(), strict=True))


def _listed(task: Task, solution: Solution, looks: list[Look] | None) -> tuple[Listed, ...]:
    """The most relevant columns, and the selected ones, in their order in the table."""
    if looks is None:
        return ()
    relevance = task.relevance()
    rank = {place: i for i, place in enumerate(solution.support.tolist(), 1)}
    order = np.argsort(-relevance, kind="stable").tolist()  # excluded ones come last
    kept = sorted(list(dict.fromkeys([*rank, *order]))[:MOST_LISTED])
    names = task.table.names
    return tuple(
        Listed(shown(names[j]), looks[j].kind, looks[j].missing, looks[j].distinct,
               float(relevance[j]), rank.get(j))
        for j in kept
    )  # fmt: skip
