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
from bestk.errors import DataError, ParameterError
from bestk.information.information import Information
from bestk.plots import read_solution
from bestk.report.columns import ShownTarget, describe_column, list_columns
from bestk.report.records import Caution, ReportRequest, format_text, join_some
from bestk.report.scores import compare_methods, measure_stability, method_name
from bestk.selectors.joint_selector import resolve_options
from bestk.selectors.steps import measure, read_dataset
from bestk.tables.dataset import Dataset
from bestk.tables.frames import read_features
from bestk.tables.table import Table
from bestk.tables.target import ClassTarget

# The largest number of columns whose bins are shown.
MAX_BINNED_COLUMNS = 60

# The largest number of columns or classes that a warning names, and of its characters.
MAX_NAMED = 8
MAX_WARNING = 400

# A class of fewer rows is small.
SMALL_CLASS = 10

# The largest number of features that are shown although they were not selected.
MAX_RUNNERS_UP = 12

OTHER_ROWS = (
    "The relevance of the selected features in these rows is not that of the fit: the rows, or "
    "their weights, are others. Errors, other methods and features that were not selected refer to "
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
    # The report shows these warnings.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dataset = read_dataset(table, request.y, options, request.sample_weight)
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
    used_table = information.dataset.table
    columns = [
        describe_column(used_table, place, shown_target, nominal=place in nominal)
        for place in solution.support[:MAX_BINNED_COLUMNS].tolist()
    ]
    findings = diagnose(information, solution)
    leaks = [place for finding in findings if finding.kind == "leak" for place in finding.places]
    cautions = _describe_cautions(information, solution, findings)
    cautions += [Caution("note", format_text(note, MAX_WARNING)) for note in dict.fromkeys(notes)]
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
        "columns": columns,
        "listed": list_columns(information, solution),
        "cautions": cautions,
        "settings": list_settings(selector),
        "code": write_code(request),
        "command": request.command,
        "stability": measure_stability(request, table, dataset.columns.count(solution.support)),
        "scores": None,
        **compare_methods(request, table, information, solution),
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
    """Refuse a table that does not have the columns of the fit."""
    fitted_names = list(solution.names or ())
    if fitted_names != list(table.names):
        given = join_some([repr(name) for name in table.names], 3)
        fitted = join_some([repr(name) for name in fitted_names], 3)
        raise DataError(
            f"X has the columns {given}, and features were selected from {fitted}; pass the table "
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
    cautions = [
        Caution(finding.kind, f"{format_text(finding.sentence, MAX_WARNING)}.")
        for finding in findings
    ]
    missing_share = table.count_missing() / table.n_samples
    mostly_missing = [j for j in solution.support.tolist() if missing_share[j] > MOST_ROWS]
    if mostly_missing:
        names = [f"{table.names[j]!r} ({missing_share[j]:.0%})" for j in mostly_missing]
        cautions.append(_caution_on("missing", names, "most values are missing."))
    if isinstance(target, ClassTarget):
        small = np.flatnonzero(target.counts < SMALL_CLASS)
        names = [f"{str(target.labels[c])!r} ({target.counts[c]} rows)" for c in small]
        if names:
            cautions.append(
                _caution_on("class", names, "small classes; merge classes or add rows.")
            )
    relevance = information.relevance()[solution.support]
    fitted_relevance = solution.details["relevance"]
    if not np.allclose(relevance, fitted_relevance, atol=1e-9, equal_nan=True):
        cautions.append(Caution("note", OTHER_ROWS))
    return cautions


def _caution_on(kind: str, names: list[str], problem: str) -> Caution:
    """A warning that names columns or classes, and says what is wrong with them."""
    named = format_text(join_some(names, MAX_NAMED), MAX_WARNING)
    return Caution(kind, f"{named}: {problem}")


def list_settings(options: Any) -> dict[str, str]:
    """All parameters of a selector as Python code."""
    return {name: _repr(value) for name, value in options.get_params(deep=False).items()}


def write_code(request: ReportRequest) -> str:
    """Python code that selects the same features; what needs more than bestk is a variable."""
    kind = type(request.selected)
    reads_file = request.path is not None and hasattr(kind, "partial_fit")
    given = _changed_settings(request.selected)
    if reads_file and request.dropped:
        given.setdefault("exclude", repr(list(request.dropped)))
    foreign: list[str] = []
    imported = {kind.__name__}
    for name, text in given.items():
        used = _names_in(text) - set(dir(builtins))
        if used <= set(bestk.__all__):
            imported |= used
        else:
            foreign.append(name)
    lines = [f"from bestk import {', '.join(sorted(imported))}", ""]
    rows = f"{request.path!r}, {request.target!r}"
    if not reads_file:
        lines.append("# X is the table, y the target")
        rows = "X, y"
    if request.group_column and reads_file:
        rows += f", groups={request.group_column!r}"
    elif getattr(request.selected, "n_groups_", None) is not None:
        lines.append("# groups are those of the rows")
        rows += ", groups=groups"
    if request.sample_weight is not None:
        lines.append("# sample_weight has the weights of the rows")
        rows += ", sample_weight=sample_weight"
    lines += [f"# {name}, which you defined: {format_text(given[name])}" for name in foreign]
    values = {name: name if name in foreign else text for name, text in given.items()}
    arguments = ", ".join(f"{name}={value}" for name, value in values.items())
    lines.append(f"selector = {kind.__name__}({arguments}).fit({rows})")
    lines.append("print(selector.solution_)")
    return "\n".join(lines)


def _changed_settings(selector: Any) -> dict[str, str]:
    """The parameters of a selector that are not the default, as Python code."""
    parameters = signature(type(selector)).parameters
    defaults = {name: _repr(parameter.default) for name, parameter in parameters.items()}
    settings = list_settings(selector)
    return {name: text for name, text in settings.items() if text != defaults[name]}


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
