"""Collect the facts of a report, and write the code that repeats the selection."""

import ast
import builtins
import warnings
from inspect import signature
from typing import Any

import numpy as np

import bestk
from bestk.bqp.solution import SCORES, Solution
from bestk.diagnosis import Finding, diagnose
from bestk.diagnosis.identifiers import MOST_ROWS
from bestk.errors import ParameterError
from bestk.information.information import Information
from bestk.plots import read_solution
from bestk.report.columns import ShownTarget, describe_column, list_columns
from bestk.report.records import Caution, ReportRequest, format_text, join_some
from bestk.report.scores import compare_methods, measure_stability, method_name
from bestk.selectors.base import resolve_options
from bestk.selectors.pipeline import measure, read_dataset
from bestk.tables.dataset import Dataset
from bestk.tables.frames import read_features
from bestk.tables.table import Table
from bestk.tables.target import ClassTarget

MAX_BINNED_COLUMNS = 60  # whose bins are shown
MAX_NAMED = 8  # columns or classes that a warning names
SMALL_CLASS = 10  # rows
MAX_RUNNERS_UP = 12  # features that were not selected
OTHER_ROWS = (
    "The relevance of the selected features in these rows is not that of the fit: the rows are "
    "others, or were weighted. Errors, other methods and features that were not selected refer to "
    "the rows of this report."
)
NO_GROUPS = (
    "How often features are selected again was not measured: the selector was fitted with groups "
    "of rows, which no subsample may separate; pass groups to make_report."
)


def collect_facts(request: ReportRequest) -> dict[str, Any]:
    """The values of the templates by name, from a fitted selector and its table."""
    request.check()
    selector = request.selected
    solution = read_solution(selector, *SCORES, "pairs")
    options = resolve_options(selector)
    table = read_features(request.X, selector.categorical_features)
    _check_same(solution, table)
    with warnings.catch_warnings(record=True) as caught:  # shown in the report
        warnings.simplefilter("always")
        dataset = read_dataset(table, request.y, options)
        information = measure(dataset, options)
    target = information.dataset.target
    if target is None:
        raise ParameterError("a report takes one target; fit a selector for each of them")
    notes = [*request.notes, *information.dataset.notes, *information.notes]
    if request.lacks_groups and request.stability != 0:
        notes.append(NO_GROUPS)
    if selector.covariates is not None:
        notes.append(_note_on_covariates(dataset))
    notes += [str(warning.message) for warning in caught]
    shown_target = ShownTarget.of(target)
    nominal = dataset.columns.categorical
    described = solution.support[:MAX_BINNED_COLUMNS].tolist()
    findings = diagnose(information, solution)
    used_table = information.dataset.table
    leaks = [place for finding in findings if finding.kind == "leak" for place in finding.places]
    return {
        "target": format_text(request.target),
        "method": method_name(selector.method),
        "solution": solution,
        "names": [format_text(label) for label in solution._labels()],
        "runners_up": _runners_up(information, solution),
        "measured": information,
        "information": options.estimator.name,
        "goal": shown_target,
        "leaks": [format_text(table.names[place]) for place in leaks],
        "columns": [
            describe_column(used_table, place, shown_target, nominal=place in nominal)
            for place in described
        ],
        "listed": list_columns(information, solution),
        "cautions": [
            *_describe_cautions(information, solution, findings),
            *(Caution("note", format_text(note, 400)) for note in dict.fromkeys(notes)),
        ],
        "settings": list_settings(selector),
        "code": write_code(request),
        "command": request.command,
        "stability": measure_stability(request, information, solution),
        "scores": None,
        **compare_methods(request, information, solution),
    }


def _note_on_covariates(dataset: Dataset) -> str:
    """What was adjusted for, and what was not."""
    quoted = [repr(dataset.table.names[place]) for place in dataset.columns.covariates]
    names = join_some(quoted, MAX_NAMED)
    return (
        f"Relevance and contributions are given the covariates {names}. Models predict from the "
        "selected features alone, and drawings of features show them as they are. Other methods do "
        "not adjust for covariates, and are left out."
    )


def _check_same(solution: Solution, table: Table) -> None:
    names = list(solution.names or ())
    if names != list(table.names):
        came, fitted = (join_some(list(map(repr, each)), 3) for each in (table.names, names))
        raise ValueError(
            f"X has the columns {came}, and features were selected from {fitted}; pass the table "
            "that the selector was fitted on"
        )


def _runners_up(
    information: Information, solution: Solution
) -> list[tuple[int, float, float, int]]:
    """Place, relevance, new information and nearest selected one of features not selected."""
    relevance = information.estimates.mi()
    varying = solution.support[np.isin(solution.support, information.features)]
    selected = np.searchsorted(information.features, varying)
    order = np.argsort(-relevance, kind="stable")
    others = order[~np.isin(order, selected)][:MAX_RUNNERS_UP]
    if not len(others):
        return []
    given = information.estimates.cmi(selected, others)
    nearest = given.argmin(axis=0)
    columns = (
        information.features[others],
        relevance[others],
        given.min(axis=0),
        varying[nearest],
    )
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _describe_cautions(
    information: Information, solution: Solution, findings: list[Finding]
) -> list[Caution]:
    """Problems of the selected columns, among them the findings, and of the classes."""
    table = information.dataset.table
    target = information.dataset.targets[0]
    support = solution.support
    found = [
        Caution(finding.kind, f"{format_text(finding.sentence, 400)}.") for finding in findings
    ]
    missing = table.count_missing() / table.n_samples
    if holes := [j for j in support.tolist() if missing[j] > MOST_ROWS]:
        text = join_some([f"{table.names[j]!r} ({missing[j]:.0%})" for j in holes], MAX_NAMED)
        found.append(Caution("missing", f"{format_text(text, 400)}: most values are missing."))
    if isinstance(target, ClassTarget):
        labels, counts = target.labels, target.counts
        if small := np.flatnonzero(counts < SMALL_CLASS).tolist():
            text = join_some([f"{str(labels[c])!r} ({counts[c]} rows)" for c in small], MAX_NAMED)
            text = f"{format_text(text, 400)}: small classes; merge classes or add rows."
            found.append(Caution("class", text))
    known = solution.details["relevance"]
    if not np.allclose(information.relevance()[support], known, atol=1e-9, equal_nan=True):
        found.append(Caution("note", OTHER_ROWS))
    return found


def list_settings(options: Any) -> dict[str, str]:
    """All parameters of a selector as Python code."""
    return {name: _repr(value) for name, value in options.get_params(deep=False).items()}


def write_code(request: ReportRequest) -> str:
    """Python code that selects the same features; what needs more than bestk is a variable."""
    kind = type(request.selected)
    from_file = request.path is not None and hasattr(kind, "partial_fit")
    plain = {name: _repr(each.default) for name, each in signature(kind).parameters.items()}
    given = {n: text for n, text in list_settings(request.selected).items() if text != plain[n]}
    if from_file and request.dropped:
        given.setdefault("exclude", repr(list(request.dropped)))
    used = {name: _names_in(text) - set(dir(builtins)) for name, text in given.items()}
    foreign = [name for name in given if used[name] - set(bestk.__all__)]
    imported = {kind.__name__}.union(*(used[name] for name in given if name not in foreign))
    lines = [f"from bestk import {', '.join(sorted(imported))}", ""]
    rows = f"{request.path!r}, {request.target!r}" if from_file else "X, y"
    if request.group_column and from_file:
        rows += f", groups={request.group_column!r}"
    elif getattr(request.selected, "n_groups_", None) is not None:
        rows += ", groups=groups"
    lines += [] if from_file else ["# X is the table, y the target"]
    lines += ["# groups are those of the rows"] if rows.endswith("=groups") else []
    lines += [f"# {name}, which you defined: {format_text(given[name])}" for name in foreign]
    arguments = (f"{name}={name if name in foreign else text}" for name, text in given.items())
    lines.append(f"selector = {kind.__name__}({', '.join(arguments)}).fit({rows})")
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
