"""``bestk compare``: several methods on one table, side by side."""

from pathlib import Path
from typing import Any

import click

from bestk.cli._input import shown
from bestk.cli._options import AUTO, Request, complete_methods, shared_options

METHODS = ("auto", "maxrel", "mrmr", "jmi", "cmim", "tpower", "search")


@click.command(short_help="Several methods side by side, with their errors.")
@shared_options
@click.option(
    "-m", "--method", "methods", multiple=True, default=METHODS, show_default=True,
    shell_complete=complete_methods, help="A method; repeat for more.",
)  # fmt: skip
@click.option(
    "--cv", type=click.IntRange(min=0), default=5, show_default=True, metavar="N",
    help="Folds of the cross-validated error; 0: none is measured.",
)  # fmt: skip
@click.option(
    "--keep", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Add each fold to FILE when it is done; where FILE has folds of this comparison, go on "
    "from there.",
)  # fmt: skip
def compare(methods: tuple[str, ...], cv: int, keep: Path | None, **shared: Any) -> None:
    """Select k features of FILE by several methods, and compare what they are worth.

    The value of every choice is that of the objective cmi: what its pairs of features say about
    the target, in nats, read as the first method reads them. The error is measured in folds, with
    features selected from the training rows of each alone, and is that of a linear model on
    standardised numbers, or of boosted trees where there is text: the share of wrong classes, or
    the mean squared error.
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
        raise ValueError("one fold leaves no rows to learn from; pass --cv 2 or more, or 0")
    if keep is not None and not cv:
        raise ValueError("--keep is for folds, and --cv 0 has none")
    if request.k == AUTO:
        raise ValueError("methods are compared at one number of features; give -k a number")
    checked = check(request)
    if keep is not None:
        from bestk.evaluation._keep import check_path

        check_path(keep)
    from bestk.cli._side_by_side import choose, measure_errors, refuse_folds
    from bestk.methods import get_method

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
    asked = f"{result['k']} of {result['columns']} features that tell of {result['target']!r}"
    out.print(bold(asked), f", from {result['rows']} rows\n", sep="")
    out.print(table)


def _marked(text: str, yes: bool) -> Any:
    from bestk.cli._show import bold

    return bold(text) if yes else text
