"""Collect the facts of a report: from a solution, a fitted selector, or a selector and a table."""

import ast
import builtins
import sys
import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

import bestk
from bestk.data.frames import is_stream, read_features
from bestk.data.table import Table
from bestk.data.target import Target, is_continuous
from bestk.information.reading import Reading
from bestk.plots.labels import read_solution
from bestk.problem.solution import TOLD, Solution
from bestk.report.columns import describe_fit, describe_table, find_relevant
from bestk.report.errors import compare_methods, method_name, tried_sizes
from bestk.report.records import (
    NAN,
    Caution,
    Facts,
    Feature,
    ReportRequest,
    format_text,
    join_some,
)
from bestk.selection.cautions import describe, find_cautions
from bestk.selection.look import MOSTLY
from bestk.selection.pipeline import Task, settle

MAX_RUNNERS_UP = 12
MAX_NAMED = 8  # columns or classes that a warning names
SMALL_CLASS = 10  # rows
PACKAGES = ("bestk", "numpy", "scipy", "scikit-learn")
FRAMES = {".csv": "read_csv", ".parquet": "read_parquet", ".feather": "read_feather"}
NO_TABLE = (
    "This report has only what the selection itself contains. Errors, other methods, warnings and "
    "bins need the rows"
)
OTHER_ROWS = (
    "The relevance of the selected features in these rows is not that of the fit: the rows are "
    "others, were weighted, or came in blocks of which the first was cut. Errors, other methods "
    "and features that were not selected refer to the rows of this report."
)


def collect_facts(request: ReportRequest) -> Facts:
    """All that is known of a selection."""
    if not hasattr(request.selected, "get_params"):
        return _from_solution(request, request.selected)
    if request.X is None or is_stream(request.X, request.y):
        return _from_selector(request)
    if request.y is None:
        raise ValueError("a report of a selector and a table needs y: the target of its rows")
    return _from_table(request)


def _from_solution(request: ReportRequest, selected: Any) -> Facts:
    """What a solution contains without its table."""
    solution = read_solution(selected, *TOLD, "pairs")
    return Facts(
        format_text(request.target),
        method_name(selected.method) if hasattr(selected, "method") else "",
        solution,
        _selected_features(solution),
        cautions=_as_notes(solution.warnings) or None,
        absent=f"{NO_TABLE}: use selector.report(X, y).",
        versions=list_versions(),
        date=format_text(request.date) if request.date else "",
    )


def _from_selector(request: ReportRequest) -> Facts:
    """What a fitted selector knows without its table."""
    selector, X, y = request.selected, request.X, request.y
    request = replace(request, target=y if isinstance(y, str) else request.target)
    base = _from_solution(request, selector)
    scores, names = selector.scores_, base.solution.names
    order = np.argsort(-scores, kind="stable").tolist()
    left = [j for j in order if not np.isnan(scores[j]) and j not in base.solution.support]
    rows = "some of them, in memory" if hasattr(selector, "n_samples_seen_") else "those of the fit"
    path = str(X) if isinstance(X, str | Path) else None
    return replace(
        base,
        runners_up=tuple(
            Feature(j, format_text(names[j] if names else j), float(scores[j]), NAN, "")
            for j in left[:MAX_RUNNERS_UP]
        ),
        table=describe_fit(selector, base.solution),
        absent=f"{NO_TABLE}: pass {rows}, as in selector.report(X, y).",
        cautions=_as_notes([*base.solution.warnings, *request.notes]) or None,
        settings=list_settings(selector),
        code=write_code(replace(request, path=path), in_memory=False),
    )


def _from_table(request: ReportRequest) -> Facts:
    """All that a table and a selector, or its options and a solution, give."""
    options, y = request.selected, request.y
    table = read_features(request.X, options.categorical_features)
    solution = read_solution(request.solution or options, *TOLD, "pairs")
    _check_same(solution, table)
    with warnings.catch_warnings(record=True) as caught:  # shown in the report
        warnings.simplefilter("always")
        task = Task.of(_as_measured(options), table, y)
        goal = _read_classes(options, y, table.n_samples)
    notes = [*request.notes, *task.notes, *(str(each.message) for each in caught)]
    base = _from_solution(request, solution)
    continuous = is_continuous(y, options.target)
    return replace(
        base,
        method=method_name(options.method),
        runners_up=_runners_up(task, solution),
        tried=tried_sizes(solution, continuous=continuous),
        table=describe_table(request, task, goal, solution),
        comparison=compare_methods(request, table, solution),
        relevant=find_relevant(options, task, y, solution),
        cautions=(
            *_find_cautions(task, goal, solution),
            *_as_notes(list(dict.fromkeys(notes))),
        ),
        absent="",
        settings=list_settings(options),
        code=write_code(request),
        command=request.command,
    )


def _as_measured(options: Any) -> Any:
    """The options of the measurement, which blocks of rows settle in their own way."""
    if not getattr(options, "_in_blocks", False):
        return options
    settled, read_as = copy(options), settle(options, blocks=True)
    settled.information, settled.discretizer = read_as.information, read_as.discretizer
    settled.correction = read_as.correction
    return settled


def _check_same(solution: Solution, table: Table) -> None:
    names, advice = solution.names, "pass the table that the selector was fitted on"
    if names is None or len(names) != table.n_features:
        known = "a table without names" if names is None else f"{len(names)}"
        raise ValueError(
            f"X has {table.n_features} columns and the features were selected from {known}; "
            f"{advice}"
        )
    for place in solution.support.tolist():
        if names[place] != table.names[place]:
            raise ValueError(
                f"column {place} of X is {table.names[place]!r} and was {names[place]!r} when "
                f"features were selected; {advice}"
            )


def _selected_features(solution: Solution) -> tuple[Feature, ...]:
    """The selected features, best first."""
    relevance, contribution, new = (solution.details[name] for name in TOLD)
    others = solution.details["pairs"] + np.diag(np.full(solution.k, np.inf))
    nearest = others.argmin(axis=0)
    labels = [format_text(label) for label in solution._labels()]
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
    left = order[~np.isin(order, chosen)][:MAX_RUNNERS_UP]
    if not len(left):
        return ()
    given = task.read.entropies.cmi(chosen, left)
    nearest = given.argmin(axis=0)
    names = task.table.names
    return tuple(
        Feature(
            int(task.allowed[j]), format_text(names[int(task.allowed[j])]), float(relevance[j]),
            float(given[nearest[i], i]), format_text(names[int(varying[nearest[i]])]),
        )
        for i, j in enumerate(left)
    )  # fmt: skip


def _read_classes(options: Any, y: Any, n_samples: int) -> Target | None:
    """The classes of the target, those of equal frequency if it is continuous."""
    try:
        return Reading(target=options.target).parse(y, n_samples).classes
    except ValueError:
        return None


def _find_cautions(task: Task, goal: Target | None, solution: Solution) -> list[Caution]:
    """Problems of the selected columns and of the classes."""
    table, support = task.table, solution.support
    found = [
        Caution(each.kind, f"{format_text(describe(each, table.names, solution), 400)}.")
        for each in find_cautions(task, solution)
    ]
    missing = table.count_missing() / table.n_samples
    holes = [f"{table.names[j]!r} ({missing[j]:.0%})" for j in support if missing[j] > MOSTLY]
    if holes:
        text = format_text(join_some(holes, MAX_NAMED), 400)
        found.append(Caution("missing", f"{text}: most values are missing."))
    small = [] if goal is None else np.flatnonzero(goal.counts < SMALL_CLASS).tolist()
    if goal is not None and small:
        names = [f"{str(goal.classes[c])!r} ({goal.counts[c]} rows)" for c in small]
        text = format_text(join_some(names, MAX_NAMED), 400)
        found.append(Caution("class", f"{text}: small classes; merge classes or add rows."))
    known = solution.details["relevance"]
    if not np.allclose(task.relevance()[support], known, atol=1e-9, equal_nan=True):
        found.append(Caution("note", OTHER_ROWS))
    return found


def _as_notes(notes: Sequence[str]) -> tuple[Caution, ...]:
    return tuple(Caution("note", format_text(note, 400)) for note in notes)


def list_settings(options: Any) -> dict[str, str]:
    """All parameters of a selector as Python code."""
    return {name: _repr(value) for name, value in options.get_params(deep=False).items()}


def list_versions() -> dict[str, str]:
    """The versions of Python and of the packages that matter."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"Python": python} | {name: version(name) for name in PACKAGES}


def write_code(request: ReportRequest, *, in_memory: bool = True) -> str:
    """Python code that selects the same features; the table comes from a file if it is known.

    Parameters that need more than bestk to write are left as variables.
    """
    kind, path, target = type(request.selected), request.path, request.target
    plain = {name: _repr(each.default) for name, each in signature(kind).parameters.items()}
    settings = list_settings(request.selected).items()
    given = {name: (text, _names_in(text)) for name, text in settings if text != plain[name]}
    ours, plain_names = set(bestk.__all__), set(dir(builtins))
    foreign = [name for name, (_, names) in given.items() if names - ours - plain_names]
    used = (given[name][1] for name in given if name not in foreign)
    known = {kind.__name__}.union(*used) - plain_names
    arguments = ", ".join(f"{name}={name if name in foreign else text}"
                          for name, (text, _) in given.items())  # fmt: skip
    lines, data = [f"from bestk import {', '.join(sorted(known))}", ""], "X, y"
    reader = next((read for end, read in FRAMES.items() if path and path.endswith(end)), None)
    if path is not None and not in_memory:
        data = f"{path!r}, {target!r}"
    elif reader is None:
        lines.append("# X is the table, y the target")
    else:
        lines = ["import pandas as pd", *lines, f"table = pd.{reader}({path!r})"]
        lines.append(f"table = table.dropna(subset=[{target!r}])")
        columns = [target, *request.dropped]
        lines.append(f"X, y = table.drop(columns={columns!r}), table[{target!r}]")
    lines += [f"# {name}, which you defined: {format_text(given[name][0])}" for name in foreign]
    lines.append(f"selector = {kind.__name__}({arguments}).fit({data})")
    return "\n".join([*lines, "print(selector.solution_)"])


def _repr(value: Any) -> str:
    """A value as Python code; scikit-learn would cut long ones."""
    if hasattr(value, "get_params"):
        return str(value.__repr__(N_CHAR_MAX=10**6))
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


def _names_in(text: str) -> set[str]:
    """The names that a piece of code uses; an impossible one if it is no code."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return {""}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
