"""Everything that a report tells, as records: from a selector, a table and a target."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._auto import settle
from bestk.codes import Target
from bestk.methods import Greedy, get_method
from bestk.plots._names import read_solution
from bestk.reading import Reading
from bestk.report._columns import Column, column_values, read_column
from bestk.report._comparison import Comparison, Progress, compare, method_name
from bestk.report._recipe import settings, snippet, versions
from bestk.report._text import shown
from bestk.report._warnings import Caution, class_cautions, column_cautions, leak_cautions
from bestk.solution import TOLD, Solution
from bestk.table import Table, read_table
from bestk.task import Task

MOST_COLUMNS = 60  # whose bins are shown
RUNNERS_UP = 12
SUSPECTS = 40  # the most relevant columns, looked at for leaks


@dataclass(frozen=True)
class Feature:
    """A selected feature, or one that came near, in nats."""

    place: int  # in the table
    name: str
    relevance: float  # what it says of the target alone
    adds: float  # what it says beyond the selected one that leaves it the least
    nearest: str  # that one; "" where it is alone
    contribution: float = float("nan")  # its part of the objective


@dataclass(frozen=True)
class Certificate:
    """How good the choice provably is."""

    objective: float
    upper_bound: float
    gap: float
    solver: str
    greedy: bool


@dataclass(frozen=True)
class TableFacts:
    """How the table was read."""

    n_samples: int
    n_features: int
    kinds: Mapping[str, int]  # how many columns of each
    missing: int  # values
    classes: tuple[tuple[str, int], ...]  # with their rows
    continuous: bool
    information: str
    discretizer: str
    columns: tuple[Column, ...]  # the selected ones


@dataclass(frozen=True)
class Facts:
    """All that a report tells; what needs the table is None where there was none."""

    target: str
    method: str
    features: tuple[Feature, ...]
    pairs: NDArray[np.float64]  # [i, j]: what feature j says once feature i is known
    certificate: Certificate
    runners_up: tuple[Feature, ...] = ()
    reading: TableFacts | None = None
    comparison: Comparison | None = None
    cautions: tuple[Caution, ...] | None = None
    names: Sequence[str] = ()  # of all columns
    settings: Mapping[str, str] | None = None
    code: str = ""
    command: str = ""
    versions: Mapping[str, str] | None = None
    date: str = ""


def gather_solution(solution: Any, target: str = "y") -> Facts:
    """What a solution tells without its table."""
    solution = read_solution(solution, *TOLD, "pairs")
    features = _features(solution)
    sure = Certificate(float(solution.objective), float(solution.upper_bound), float(solution.gap),
                       solution.solver, False)  # fmt: skip
    pairs = np.asarray(solution.details["pairs"], np.float64)
    names = [shown(name) for name in solution.names or ()]
    return Facts(shown(target), "", features, pairs, sure, names=names, versions=versions())


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
    table = read_table(X)
    solution = read_solution(solution or options, *TOLD, "pairs")
    _check_same(solution, table)
    task = Task.of(options, table, y)
    goal = _classes(options, y, table.n_samples)
    base = gather_solution(solution, target)
    method = get_method(options.method)
    return replace(
        base,
        method=method_name(options.method),
        certificate=replace(base.certificate, greedy=isinstance(method, Greedy)),
        runners_up=_runners_up(task, solution),
        reading=_reading(options, task, y, goal, solution),
        comparison=compare(options, table, y, solution, errors=errors, progress=progress),
        cautions=_cautions(task, goal, solution, notes),
        settings=settings(options),
        code=snippet(options, path, target, dropped),
        command=command,
    )


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
    relevance, contribution, adds = (solution.details[name] for name in TOLD)
    others = solution.details["pairs"] + np.diag(np.full(solution.k, np.inf))
    nearest = others.argmin(axis=0)
    labels = [shown(label) for label in solution._labels()]
    return tuple(
        Feature(
            int(place), labels[i], float(relevance[i]), float(adds[i]),
            labels[nearest[i]] if solution.k > 1 else "", float(contribution[i]),
        )
        for i, place in enumerate(solution.support)
    )  # fmt: skip


def _runners_up(task: Task, solution: Solution) -> tuple[Feature, ...]:
    """The most relevant features that were not selected, and what they would add."""
    relevance = task.read.entropies.mi()
    chosen = np.searchsorted(task.allowed, solution.support)
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
            float(given[nearest[i], i]), shown(names[int(solution.support[nearest[i]])]),
        )
        for i, j in enumerate(left)
    )  # fmt: skip


def _classes(options: Any, y: Any, n_samples: int) -> Target | None:
    """The classes of the target, those of equal frequency where it is continuous, if it has any."""
    try:
        return Reading(target=options.target).classes(y, n_samples)
    except ValueError:
        return None


def _cuts(task: Task) -> dict[int, NDArray[np.float64]]:
    """The cut points of every column that was discretised."""
    places = task.discretised_features()
    points = getattr(task.read.discretizer, "cut_points_", None)
    if places is None or points is None:
        return {}
    return dict(zip(places.tolist(), points, strict=True))


def _reading(
    options: Any, task: Task, y: Any, goal: Target | None, solution: Solution
) -> TableFacts:
    table, cuts, read_as = task.table, _cuts(task), settle(options)
    places = solution.support[:MOST_COLUMNS].tolist()
    kinds, counts = np.unique(table.kinds.astype(str), return_counts=True)
    columns = tuple(
        read_column(table.names[j], column_values(table, j), cuts.get(j), goal) for j in places
    )
    discretizer = task.read.discretizer
    return TableFacts(
        table.n_samples,
        table.n_features,
        dict(zip(kinds.tolist(), counts.tolist(), strict=True)),
        int(table.count_missing().sum()),
        _class_labels(y, goal, continuous := Reading(target=options.target).is_continuous(y)),
        continuous,
        read_as.information,
        "" if discretizer is None else type(discretizer).__name__,
        columns,
    )


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


def _cautions(
    task: Task, goal: Target | None, solution: Solution, notes: Sequence[str]
) -> tuple[Caution, ...]:
    table, cuts = task.table, _cuts(task)
    found: list[Caution] = []
    if goal is not None:
        order = np.argsort(-task.read.entropies.mi(), kind="stable")
        relevant = task.allowed[order[:SUSPECTS]].tolist()
        suspects = dict.fromkeys([*solution.support.tolist(), *relevant])
        found += leak_cautions(table, suspects, cuts, goal) + class_cautions(goal)
    found += column_cautions(table, set(solution.support.tolist()))
    return tuple(found + [Caution("note", shown(note, 400)) for note in notes])
