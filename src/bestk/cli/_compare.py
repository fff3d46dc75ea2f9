"""``bestk compare`` and ``bestk report``: more about the features of a table."""

import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

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
from bestk.errors import printable
from bestk.evaluation import error_curves
from bestk.methods.method import Method
from bestk.methods.registry import get_method
from bestk.selectors.base import resolve_options
from bestk.selectors.pipeline import read_dataset, select_features
from bestk.selectors.resampling import measure_for_each
from bestk.selectors.selector import SelectBestK
from bestk.tables.files import Loaded

PAGES = (".html", ".htm")


def compare_methods(request: TableOptions, names: tuple[str, ...], cv: int) -> dict[str, Any]:
    """Check the options, then read, select and cross-validate."""
    if request.k == AUTO:
        raise ValueError("-k auto is not supported by compare; pass a number of features")
    if request.scoring is not None and not cv:
        raise ValueError(
            f"--scoring {request.scoring} has no effect with --cv 0, by which no error is "
            "computed; leave one of them out"
        )
    checked = check(request)
    methods = {name: get_method(name) for name in names}
    loaded, k, _ = read(checked, request)
    k = min(int(k), count_features(loaded, request))
    rows = _select_by_each(loaded, k, methods, request)
    if cv:
        random = {"random_state": request.seed or 0}  # the same folds each time
        with request.messages.stage(f"{cv}-fold cross-validation") as progress:
            curves = error_curves(
                loaded.table, loaded.y, methods, [k], cv=cv, progress=progress,
                **(request.options() | loaded.of_rows | random),
            )  # fmt: skip
        sign = -1 if curves.rising else 1
        for name, row in rows.items():
            errors = curves.errors(name)[0]
            row |= {"error": float(errors.mean()), "error_deviation": float(errors.std(ddof=1))}
            row |= {curves.measure: sign * row["error"]} if request.scoring else {}
    measure = curves.measure if cv else "error"
    return about(loaded, request) | {"k": k, "folds": cv, "measure": measure, "methods": rows}


def _select_by_each(
    loaded: Loaded, k: int, methods: dict[str, Method], request: TableOptions
) -> dict[str, dict[str, Any]]:
    """The selection of each method from all rows."""
    options = {
        name: resolve_options(SelectBestK(k, method, **request.options()))
        for name, method in methods.items()
    }
    with request.messages.stage("estimating mutual information"):
        weights = loaded.of_rows.get("sample_weight")
        any_options = next(iter(options.values()))
        dataset = read_dataset(loaded.table, loaded.y, any_options, weights)
        information_of_method = measure_for_each(dataset, options)
    solutions = {}
    for name, information in information_of_method.items():
        for note in (*information.dataset.notes, *information.notes):
            request.messages.note(in_shell_words(note))
        with request.messages.stage(f"selecting by {name}"):
            solutions[name] = select_features(information, options[name], k)
        for finding in diagnose(information, solutions[name]):
            if finding.kind == "leak":  # the errors below are those of the leak
                request.messages.note(in_shell_words(finding.sentence))
    chosen = {name: set(s.support.tolist()) for name, s in solutions.items()}
    return {
        name: {
            "features": [str(loaded.table.names[place]) for place in s.support],
            **{each: float(getattr(s, each)) for each in (*VALUES, "seconds")},
            "shared": {other: len(chosen[name] & chosen[other]) for other in chosen},
        }
        for name, s in solutions.items()
    }


def print_comparison(result: dict[str, Any]) -> None:
    """Print a row for each method, with the best error in bold."""
    rows, measure = result["methods"], result["measure"]
    first = next(iter(rows))
    least = min((row["error"] for row in rows.values() if "error" in row), default=None)
    heads = ("in common with " + first, "seconds")
    table = new_table(("method",), heads if least is None else (measure, *heads))
    for name, row in rows.items():
        cells: list[Any] = [str(row["shared"][first]), f"{row['seconds']:.3f}"]
        if least is not None:
            digits = 4 if abs(row[measure]) < 100 else 1
            error = f"{row[measure]:.{digits}f} ± {row['error_deviation']:.{digits}f}"
            cells.insert(0, bold(error) if row["error"] == least else error)
        table.add_row(name, *cells)
    out = console()
    out.print(heading(result, f"{result['rows']} rows"))
    out.print(table)


def write_report(request: TableOptions, output: Path, errors: bool) -> dict[str, Any]:
    """Check the options, then read, select and write the report."""
    from bestk.report import make_report

    checked, messages = check(request), request.messages
    page = new_file(output, request.file)
    if request.scoring is not None and not errors:
        raise ValueError(
            f"--scoring {request.scoring} has no effect with --no-errors; leave one of them out"
        )
    if output.suffix.lower() not in PAGES:
        raise ValueError(f"{output} is not an HTML file; use one of {', '.join(PAGES)}")
    with page as file:
        loaded, k, seconds = read(checked, request)
        solution = select_in_memory(loaded, k, request)
        known = set(map(in_shell_words, solution.warnings))  # which the report finds itself
        messages.notes = [note for note in messages.notes if note not in known]
        grouped = request.groups if k == AUTO else None  # elsewhere fit takes no groups
        used = {*loaded.table.names, request.target, grouped}
        selector = SelectBestK(k, request.method, **request.selector_options(k))
        selector.solution_ = solution
        with messages.stage("computing the report") as progress:
            made = make_report(
                selector, loaded.table, loaded.y, target=request.target,
                errors=errors, notes=messages.notes,
                path=str(request.file), command=equivalent_command(request), progress=progress,
                dropped=[name for name in checked[0].types if name not in used],
                groups=loaded.of_rows.get("groups"), group_column=grouped, scoring=request.scoring,
            )  # fmt: skip
        file.write_text(made.html, encoding="utf-8", newline="\n")
    result = as_dict(loaded, solution, request, {"read": seconds, "solve": solution.seconds})
    found = [c for c in made.facts.cautions if c.kind != "note"]
    cautions = [in_shell_words(f"{c.kind}: {c.text}") for c in found]
    size = len(made.html.encode("utf-8"))
    return result | {"report": str(output), "bytes": size, "warnings": cautions}


def equivalent_command(request: TableOptions) -> str:
    """The command that selects the same features."""
    words = ["bestk", "select", str(request.file), "--target", request.target]
    for each in fields(request)[2:]:
        value, option = getattr(request, each.name), f"--{each.name.replace('_', '-')}"
        of_the_report = ["as_json", "quiet"] + ["scoring"] * (request.k != AUTO)
        if value != each.default and each.name not in of_the_report:
            for item in value if isinstance(value, tuple) else (value,):
                words += ["-k" if each.name == "k" else option, str(item)]
    return shlex.join(words)


def print_report(result: dict[str, Any]) -> None:
    """Print the selection in a line, the warnings, and the file."""
    out = console()
    out.print(heading(result, f"method: {result['method']}"), f": {result['quality']}", sep="")
    for caution in result["warnings"]:
        out.print(f"warning    {printable(caution)}")
    size = f"{result['bytes'] / 1000:,.0f} kB"
    out.print("Wrote ", bold(result["report"]), f" ({size})", sep="")
