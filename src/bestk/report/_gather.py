"""From a selection to what is told of it: with its table, or without."""

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.codes import Target
from bestk.data.features import read_features
from bestk.data.table import Table
from bestk.data.target import is_continuous
from bestk.information.reading import Reading
from bestk.plots.names import read_solution
from bestk.problem.solution import TOLD, Solution
from bestk.report._comparison import compare, method_name
from bestk.report._curves import Progress
from bestk.report._facts import NAN, Caution, Certificate, Facts, Feature
from bestk.report._own_curves import tried
from bestk.report._read import cut_points, known_table, whole_table
from bestk.report._recipe import settings, snippet, versions
from bestk.report._text import shown
from bestk.report._warnings import (
    class_cautions,
    column_cautions,
    leak_cautions,
    selected_cautions,
)
from bestk.selection.cautions import find_cautions
from bestk.selection.look import Look, look_at
from bestk.selection.pipeline import Task, settle

RUNNERS_UP = 12
SUSPECTS = 40  # the most relevant columns, looked at for leaks
NO_TABLE = (
    "This page tells what the selection itself holds. Cross-validated errors, other methods, "
    "warnings and bins need rows"
)
OTHER_ROWS = (
    "The rows given say something else of the selected features than was found when they were "
    "selected: they are others, were weighted, or came in blocks of which the first was cut. "
    "Errors, other methods and features left out are of the rows given."
)


def gather_solution(solution: Any, target: str = "y") -> Facts:
    """What a solution tells without its table."""
    solution = read_solution(solution, *TOLD, "pairs")
    sure = Certificate(float(solution.objective), float(solution.upper_bound), float(solution.gap),
                       solution.solver, solution.details.get("bound") == "greedy",
                       solution.quality)  # fmt: skip
    return Facts(
        shown(target),
        "",
        _features(solution),
        np.asarray(solution.details["pairs"], np.float64),
        sure,
        columns=tuple(solution._labels()),
        cautions=_noted(solution.warnings) or None,
        absent=f"{NO_TABLE}: selector.report(X, y) tells of them.",
        names=[shown(name) for name in solution.names or ()],
        versions=versions(),
    )


def gather_fitted(
    selector: Any, target: str = "y", notes: Sequence[str] = (), path: str | None = None
) -> Facts:
    """What a fitted selector tells without its table; ``path`` is the file that it has read."""
    solution = read_solution(selector, *TOLD, "pairs")
    base = _with_method(gather_solution(solution, target), selector)
    rows = "some of them, in memory" if hasattr(selector, "n_samples_seen_") else "those of the fit"
    return replace(
        base,
        runners_up=_most_relevant(selector.scores_, solution),
        reading=known_table(selector, solution),
        absent=f"{NO_TABLE}: give {rows}, as selector.report(X, y).",
        cautions=_noted([*solution.warnings, *notes]) or None,
        settings=settings(selector),
        code=snippet(selector, path, target, in_memory=False),
    )


def gather(
    options: Any,
    X: Any,
    y: Any,
    solution: Solution | None = None,
    *,
    target: str = "y",
    path: str | None = None,
    dropped: Sequence[str] = (),
    command: str = "",
    errors: bool = True,
    notes: Sequence[str] = (),
    progress: Progress | None = None,
) -> Facts:
    """All that there is to tell of a selection, by a fitted selector or one with a solution."""
    table = read_features(X, options.categorical_features)
    solution = read_solution(solution or options, *TOLD, "pairs")
    _check_same(solution, table)
    with warnings.catch_warnings(record=True) as caught:  # told in the page, not once more
        warnings.simplefilter("always")
        task = Task.of(_as_measured(options), table, y)
        goal, looks = _classes(options, y, table.n_samples), look_at(table)
    said = [*notes, *task.notes, *(str(each.message) for each in caught)]
    notes = list(dict.fromkeys(said))
    base = _with_method(gather_solution(solution, target), options)
    continuous = is_continuous(y, options.target)
    return replace(
        base,
        runners_up=_runners_up(task, solution),
        tried=tried(solution, continuous=continuous),
        reading=whole_table(options, task, y, goal, solution, looks),
        comparison=compare(options, X, table, y, solution, errors=errors, progress=progress),
        cautions=_cautions(options, task, goal, solution, looks, notes),
        absent="",
        settings=settings(options),
        code=snippet(options, path, target, dropped),
        command=command,
    )


def _with_method(facts: Facts, options: Any) -> Facts:
    return replace(facts, method=method_name(options.method))


def _as_measured(options: Any) -> Any:
    """The options by which information was measured: blocks of rows are read in their own way."""
    if not getattr(options, "_in_blocks", False):
        return options
    alike, read_as = copy(options), settle(options, blocks=True)
    alike.information, alike.discretizer = read_as.information, read_as.discretizer
    alike.correction = read_as.correction
    return alike


def _check_same(solution: Solution, table: Table) -> None:
    names = solution.names
    if names is None or len(names) != table.n_features:
        came = f"{table.n_features} columns"
        known = "no names" if names is None else f"{len(names)}"
        raise ValueError(
            f"X has {came} and the features were selected from {known}; give the table that the "
            "selector was fitted on"
        )
    for place in solution.support.tolist():
        if names[place] != table.names[place]:
            raise ValueError(
                f"column {place} of X is {table.names[place]!r} and was {names[place]!r} when "
                "features were selected; give the table that the selector was fitted on"
            )


def _features(solution: Solution) -> tuple[Feature, ...]:
    """The selected features, best first."""
    relevance, contribution, new = (solution.details[name] for name in TOLD)
    others = solution.details["pairs"] + np.diag(np.full(solution.k, np.inf))
    nearest = others.argmin(axis=0)
    labels = [shown(label) for label in solution._labels()]
    return tuple(
        Feature(
            int(place), labels[i], float(relevance[i]), float(new[i]),
            labels[nearest[i]] if solution.k > 1 else "", float(contribution[i]),
        )
        for i, place in enumerate(solution.support)
    )  # fmt: skip


def _runners_up(task: Task, solution: Solution) -> tuple[Feature, ...]:
    """The most relevant features that were not selected, and what they would add."""
    relevance = task.read.entropies.mi()
    varying = solution.support[np.isin(solution.support, task.allowed)]
    chosen = np.searchsorted(task.allowed, varying)
    order = np.argsort(-relevance, kind="stable")
    left = order[~np.isin(order, chosen)][:RUNNERS_UP]
    if not len(left):
        return ()
    given = task.read.entropies.cmi(chosen, left)
    nearest = given.argmin(axis=0)
    names = task.table.names
    return tuple(
        Feature(
            int(task.allowed[j]), shown(names[int(task.allowed[j])]), float(relevance[j]),
            float(given[nearest[i], i]), shown(names[int(varying[nearest[i]])]),
        )
        for i, j in enumerate(left)
    )  # fmt: skip


def _most_relevant(scores: NDArray[np.float64], solution: Solution) -> tuple[Feature, ...]:
    """The most relevant features that were not selected, of which nothing else is known."""
    order = np.argsort(-scores, kind="stable")
    left = [j for j in order.tolist() if not np.isnan(scores[j]) and j not in solution.support]
    names = solution.names or [str(j) for j in range(len(scores))]
    return tuple(Feature(j, shown(names[j]), float(scores[j]), NAN, "") for j in left[:RUNNERS_UP])


def _classes(options: Any, y: Any, n_samples: int) -> Target | None:
    """The classes of the target, those of equal frequency where it is continuous, if it has any."""
    try:
        return Reading(target=options.target).parse(y, n_samples).classes
    except ValueError:
        return None


def _cautions(
    options: Any, task: Task, goal: Target | None, solution: Solution,
    looks: list[Look] | None, notes: Sequence[str],
) -> tuple[Caution, ...]:  # fmt: skip
    table, relevance = task.table, task.relevance()
    selected, found = solution.support.tolist(), list[Caution]()
    if goal is not None:
        order = np.argsort(-relevance, kind="stable")  # excluded ones come last
        suspects = [j for j in order[:SUSPECTS].tolist() if relevance[j] > 0]
        suspects = list(dict.fromkeys([*selected, *suspects]))
        found += leak_cautions(table, suspects, cut_points(options, task), goal)
        found += class_cautions(goal)
    found += column_cautions(table.names, table.n_samples, looks, set(selected))
    found += selected_cautions(table.names, find_cautions(task, solution), solution, looks)
    told = relevance[solution.support]
    if not np.allclose(told, solution.details["relevance"], atol=1e-9, equal_nan=True):
        notes = [OTHER_ROWS, *notes]
    return (*found, *_noted(notes))


def _noted(notes: Sequence[str]) -> tuple[Caution, ...]:
    return tuple(Caution("note", shown(note, 400)) for note in notes)
