"""``bestk compare`` and ``bestk report``: more about the features of a table."""

import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

from bestk.bqp.solution import Solution
from bestk.cli._options import AUTO, TableOptions
from bestk.cli._select import (
    VALUES,
    about,
    as_dict,
    check,
    count_features,
    new_file,
    read,
    select_in_memory,
)
from bestk.cli._terminal import bold, console, heading, in_shell_words, new_table
from bestk.diagnosis import diagnose
from bestk.errors import ParameterError, printable
from bestk.evaluation import Curves, error_curves
from bestk.methods.method import Method
from bestk.methods.registry import get_method
from bestk.selectors.joint_selector import resolve_options
from bestk.selectors.resampling import measure_for_each
from bestk.selectors.selector import SelectBestK
from bestk.selectors.steps import read_dataset, select_features
from bestk.tables.files import Loaded

# The suffixes of a report.
PAGES = (".html", ".htm")


def compare_methods(request: TableOptions, names: tuple[str, ...], cv: int) -> dict[str, Any]:
    """Check the options, then read, select and cross-validate."""
    if request.k == AUTO:
        raise ParameterError("-k auto is not supported by compare; pass a number of features")
    if request.scoring is not None and not cv:
        raise ParameterError(
            f"--scoring {request.scoring} has no effect with --cv 0, by which no error is "
            "computed; leave one of them out"
        )
    checked = check(request)
    methods = {name: get_method(name) for name in names}
    table = read(checked, request)
    loaded = table.loaded
    k = min(int(table.k), count_features(loaded, request))
    rows = _select_by_each(loaded, k, methods, request)
    measure = "error"
    if cv:
        curves = _cross_validate(loaded, k, methods, request, cv)
        measure = curves.measure
        sign = -1 if curves.rising else 1
        for name, row in rows.items():
            errors = curves.errors(name)[0]
            row["error"] = float(errors.mean())
            row["error_deviation"] = float(errors.std(ddof=1))
            if request.scoring:
                row[measure] = sign * row["error"]
    result = about(loaded, request)
    return result | {"k": k, "folds": cv, "measure": measure, "methods": rows}


def _cross_validate(
    loaded: Loaded, k: int, methods: dict[str, Method], request: TableOptions, cv: int
) -> Curves:
    """The errors of each method with k features, in so many folds."""
    options = request.options() | loaded.of_rows
    # The folds are the same each time.
    options["random_state"] = request.seed or 0
    with request.messages.stage(f"{cv}-fold cross-validation") as progress:
        return error_curves(
            loaded.table, loaded.y, methods, [k], cv=cv, progress=progress, **options
        )


def _select_by_each(
    loaded: Loaded, k: int, methods: dict[str, Method], request: TableOptions
) -> dict[str, dict[str, Any]]:
    """The selection of each method from all rows, in plain values."""
    options = {
        name: resolve_options(SelectBestK(k, method, **request.options()))
        for name, method in methods.items()
    }
    with request.messages.stage("estimating mutual information"):
        weights = loaded.of_rows.get("sample_weight")
        any_options = next(iter(options.values()))
        dataset = read_dataset(loaded.table, loaded.y, any_options, weights)
        information_of_method = measure_for_each(dataset, options)
    solutions: dict[str, Solution] = {}
    for name, information in information_of_method.items():
        for note in (*information.dataset.notes, *information.notes):
            request.messages.note(in_shell_words(note))
        with request.messages.stage(f"selecting by {name}"):
            solutions[name] = select_features(information, options[name], k)
        for finding in diagnose(information, solutions[name]):
            # The errors of the comparison are those of a leak.
            if finding.kind == "leak":
                request.messages.note(in_shell_words(finding.sentence))
    selected = {name: set(solution.support.tolist()) for name, solution in solutions.items()}
    rows: dict[str, dict[str, Any]] = {}
    for name, solution in solutions.items():
        row: dict[str, Any] = {
            "features": [str(loaded.table.names[place]) for place in solution.support]
        }
        for value in (*VALUES, "seconds"):
            row[value] = float(getattr(solution, value))
        row["shared"] = {other: len(selected[name] & selected[other]) for other in selected}
        rows[name] = row
    return rows


def print_comparison(result: dict[str, Any]) -> None:
    """Print a row for each method, with the best error in bold."""
    rows = result["methods"]
    measure = result["measure"]
    first = next(iter(rows))
    errors = [row["error"] for row in rows.values() if "error" in row]
    smallest_error = min(errors, default=None)
    heads = [f"in common with {first}", "seconds"]
    if smallest_error is not None:
        heads.insert(0, measure)
    table = new_table(("method",), tuple(heads))
    for name, row in rows.items():
        cells: list[Any] = [str(row["shared"][first]), f"{row['seconds']:.3f}"]
        if smallest_error is not None:
            digits = 4 if abs(row[measure]) < 100 else 1
            error = f"{row[measure]:.{digits}f} ± {row['error_deviation']:.{digits}f}"
            is_best = row["error"] == smallest_error
            cells.insert(0, bold(error) if is_best else error)
        table.add_row(name, *cells)
    out = console()
    out.print(heading(result, f"{result['rows']} rows"))
    out.print(table)


def write_report(request: TableOptions, output: Path, errors: bool) -> dict[str, Any]:
    """Check the options, then read, select and write the report."""
    from bestk.report import make_report

    checked = check(request)
    messages = request.messages
    page = new_file(output, request.file)
    if request.scoring is not None and not errors:
        raise ParameterError(
            f"--scoring {request.scoring} has no effect with --no-errors; leave one of them out"
        )
    if output.suffix.lower() not in PAGES:
        raise ParameterError(f"{output} is not an HTML file; use one of {', '.join(PAGES)}")
    with page as file:
        table = read(checked, request)
        loaded = table.loaded
        solution = select_in_memory(loaded, table.k, request)
        # The report finds the warnings of the selection itself.
        warnings = {in_shell_words(warning) for warning in solution.warnings}
        messages.notes = [note for note in messages.notes if note not in warnings]
        # A fit with a given k takes no groups.
        group_column = request.groups if table.k == AUTO else None
        used = {*loaded.table.names, request.target, group_column}
        selector = SelectBestK(table.k, request.method, **request.selector_options(table.k))
        selector.solution_ = solution
        with messages.stage("computing the report") as progress:
            made = make_report(
                selector,
                loaded.table,
                loaded.y,
                target=request.target,
                errors=errors,
                notes=messages.notes,
                path=str(request.file),
                command=equivalent_command(request),
                progress=progress,
                dropped=[name for name in checked.source.types if name not in used],
                groups=loaded.of_rows.get("groups"),
                group_column=group_column,
                scoring=request.scoring,
            )
        file.write_text(made.html, encoding="utf-8", newline="\n")
    seconds = {"read": table.seconds, "solve": solution.seconds}
    result = as_dict(loaded, solution, request, seconds)
    result["report"] = str(output)
    result["bytes"] = len(made.html.encode("utf-8"))
    result["warnings"] = [
        in_shell_words(f"{caution.kind}: {caution.text}")
        for caution in made.facts.cautions
        if caution.kind != "note"
    ]
    return result


def equivalent_command(request: TableOptions) -> str:
    """The command that selects the same features."""
    words = ["bestk", "select", str(request.file), "--target", request.target]
    without_effect = {"file", "target", "as_json", "quiet"}
    if request.k != AUTO:
        without_effect.add("scoring")
    for option in fields(request):
        value = getattr(request, option.name)
        if option.name in without_effect or value == option.default:
            continue
        name = "-k" if option.name == "k" else f"--{option.name.replace('_', '-')}"
        for item in value if isinstance(value, tuple) else (value,):
            words += [name, str(item)]
    return shlex.join(words)


def print_report(result: dict[str, Any]) -> None:
    """Print the selection in a line, the warnings, and the file."""
    out = console()
    out.print(heading(result, f"method: {result['method']}"), f": {result['quality']}", sep="")
    for caution in result["warnings"]:
        out.print(f"warning    {printable(caution)}")
    size = f"{result['bytes'] / 1000:,.0f} kB"
    out.print("Wrote ", bold(result["report"]), f" ({size})", sep="")
