"""``bestk compare``: several methods on one table, side by side."""

from pathlib import Path
from typing import Any

import click

from bestk.cli._input import shown
from bestk.cli._options import (
    AUTO,
    K_HELP,
    SHARED,
    Count,
    Request,
    complete_methods,
    k_option,
    shared_options,
)

K = click.option("-k", type=Count(), show_default="10", metavar="N", help=f"{K_HELP}.")
METHODS = ("auto", "maxrel", "mrmr", "jmi", "cmim", "tpower", "search")


def _own_options(command: Any) -> Any:
    """The shared options, with a -k that is a number."""
    options = tuple(K if option is k_option else option for option in SHARED)
    return shared_options(command, options)


@click.command(short_help="Compare several methods.")
@_own_options
@click.option(
    "-m", "--method", "methods", multiple=True, default=METHODS, show_default=True,
    shell_complete=complete_methods, help="A method to compare (repeatable).",
)  # fmt: skip
@click.option(
    "--cv", type=click.IntRange(min=0), default=5, show_default=True, metavar="N",
    help="Number of cross-validation folds; 0: no error is computed.",
)  # fmt: skip
@click.option(
    "--keep", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Store each finished fold in FOLDER, and read the folds that are there.",
)  # fmt: skip
def compare(methods: tuple[str, ...], cv: int, keep: Path | None, **shared: Any) -> None:
    """Select k features of FILE by several methods, and compare the selections.

    The value is the objective cmi of each selection, in nats, computed with the estimates of the
    first method. The error is the cross-validated error rate, or the mean squared error in
    regression, of a linear model on standardized columns (gradient boosting if some columns
    contain text). Features are selected from the training rows of each fold only.
    """
    from bestk.cli._progress import Talk

    request = Request(**shared)
    talk = Talk(request.quiet)
    result = _run(request, talk, tuple(dict.fromkeys(methods)), cv, keep)
    talk.say_notes()
    if request.as_json:
        from bestk.cli._show import print_json

        print_json(result | {"notes": talk.notes})
    else:
        _print(result)


def _run(
    request: Request, talk: Any, methods: tuple[str, ...], cv: int, keep: Path | None
) -> dict[str, Any]:
    from bestk.cli._table import check, features_wanted, read

    if cv == 1:
        raise ValueError("--cv 1 leaves no rows for training; pass --cv 2 or more, or --cv 0")
    if keep is not None and not cv:
        raise ValueError("--keep stores cross-validation folds, and --cv 0 has none")
    if request.k == AUTO:
        raise ValueError("-k auto is not supported by compare; pass a number of features")
    checked = check(request)
    from bestk.cli._side_by_side import choose, measure_errors, refuse_folds
    from bestk.selection.methods import get_method

    chosen = {name: get_method(name) for name in methods}
    loaded, _ = read(checked, request, talk)
    k = features_wanted(checked, loaded)
    if cv:
        refuse_folds(loaded, request, cv)
    rows = choose(loaded, k, chosen, request, talk)
    if cv:
        measured = measure_errors(loaded, k, chosen, request, talk, cv, keep)
        rows = {name: row | measured[name] for name, row in rows.items()}
    return {
        "file": shown(loaded.source.path),
        "target": loaded.target,
        "rows": loaded.table.n_samples,
        "columns": loaded.table.n_features,
        "k": k,
        "folds": cv,
        "methods": rows,
    }


def _print(result: dict[str, Any]) -> None:
    from bestk.cli._show import bold, console, new_table

    rows: dict[str, Any] = result["methods"]
    first = next(iter(rows))
    numbers = ["value", f"shared with {first}", "seconds", *(["error"] if result["folds"] else [])]
    table = new_table("method", *numbers, numbers=numbers)
    best = max(row["value"] for row in rows.values())
    least = min((row["error"] for row in rows.values() if "error" in row), default=None)
    for name, row in rows.items():
        cells = [_marked(f"{row['value']:.4f}", row["value"] == best)]
        cells += [str(row["shared"][first]), f"{row['seconds']:.3f}"]
        if least is not None:
            error = f"{row['error']:.4f} ± {row['error_deviation']:.4f}"
            cells.append(_marked(error, row["error"] == least))
        table.add_row(name, *cells)
    out = console()
    asked = f"Selected {result['k']} of {result['columns']} features for {result['target']!r}"
    out.print(bold(asked), f" ({result['rows']} rows)\n", sep="")
    out.print(table)


def _marked(text: str, yes: bool) -> Any:
    from bestk.cli._show import bold

    return bold(text) if yes else text
