"""``bestk select``: select features of a table, and write the reduced table."""

from contextlib import ExitStack
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from bestk.cli._input import shown
from bestk.cli._options import AUTO, Request, bound_option, method_option, shared_options
from bestk.data.printable import printable

IMAGES = (".png", ".svg", ".pdf")
EXAMPLES = """\b
Examples:
  bestk select cells.csv --target type -k 20
  bestk select cells.parquet -t type -k 5 --method exact --bound tight -o best.csv
  bestk select cells.csv -t type -k 5 --quiet | head -1
  bestk select cells.csv -t type --json | jq .features[0].name
"""


@click.command(epilog=EXAMPLES, short_help="Select the k best features for a target.")
@shared_options
@method_option
@bound_option
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="OUT",
    help="Write the selected columns and the target to this file.",
)  # fmt: skip
@click.option(
    "--escape-formulas", is_flag=True,
    help="Prefix ' to cells of a CSV OUT that a spreadsheet would run as formulas.",
)  # fmt: skip
@click.option(
    "--plot", type=click.Path(path_type=Path), metavar="IMAGE",
    help="Write a plot of the features and their pairs (.png, .svg, .pdf).",
)  # fmt: skip
@click.option(
    "--stream", is_flag=True,
    help="Process FILE in blocks of rows (automatic for files larger than half the memory).",
)  # fmt: skip
@click.option(
    "--dry-run", is_flag=True, help="Print how FILE would be read and the memory needed, then stop."
)
def select(
    method: str, bound: str, output: Path | None, escape_formulas: bool, plot: Path | None,
    stream: bool, dry_run: bool, **shared: Any,
) -> None:  # fmt: skip
    """Select the k features of FILE that are jointly most informative about the target.

    Prints for each feature, in nats: the relevance I(x; y), the contribution to the objective, and
    the new information, the smallest I(x; y | x') over the other selected features x'. With --quiet
    only the names are printed, best first.
    """
    from bestk.cli._progress import Talk

    request = Request(**shared)
    talk = Talk(request.quiet)
    if dry_run:
        _dry_run(request, talk, method, stream)
        return
    result = _run(request, talk, method, bound, output, escape_formulas, plot, stream)
    talk.say_notes()
    if request.as_json:
        from bestk.cli._show import print_json

        print_json(result | {"notes": talk.notes})
    elif request.quiet:
        click.echo("\n".join(printable(feature["name"]) for feature in result["features"]))
    else:
        _print(result)


def _dry_run(request: Request, talk: Any, method: str, stream: bool) -> None:
    from bestk.cli._dry_run import estimate, print_estimate
    from bestk.cli._show import print_json
    from bestk.cli._table import check, is_long

    checked = check(request)
    with talk.stage(f"counting the rows of {shown(request.file)}"):
        result = estimate(checked, request, method, stream or is_long(request.file))
    (print_json if request.as_json else print_estimate)(result)


def _run(
    request: Request, talk: Any, method: str, bound: str, output: Path | None, escape: bool,
    plot: Path | None, stream: bool,
) -> dict[str, Any]:  # fmt: skip
    """Read, select and write; what can be wrong with the options is seen before that."""
    from bestk.cli._table import check, features_wanted, is_long, new_file, read, select_rows
    from bestk.data.files import Formulas, copy_columns, output_suffix

    suffix = output_suffix(output) if output else ""
    image = check_image(plot) if plot else ""
    checked = check(request)
    with ExitStack() as files:
        table_file = files.enter_context(new_file(output, request.file)) if output else None
        image_file = files.enter_context(new_file(plot, request.file)) if plot else None
        from bestk.selection.choose_k import refuse_auto
        from bestk.selection.methods import get_method
        from bestk.selection.selector import select as select_features

        chosen = get_method(method)
        options = request.options() | {"bound": None if bound == "none" else bound}
        if stream or is_long(request.file):
            refuse_auto(request.k)
            loaded, solution, seconds = select_rows(checked, request, talk, chosen, options)
        else:
            loaded, reading = read(checked, request, talk)
            start = perf_counter()
            k = request.k if isinstance(request.k, str) else features_wanted(checked, loaded)
            many = "features" if k == AUTO else f"{k} features"
            with talk.stage(f"selecting {many}"):
                included = list(request.include)
                solution = select_features(
                    loaded.table, loaded.y, k, chosen, include=included, **options
                )
            seconds = {"read": reading, "select": perf_counter() - start}
        seconds["solve"] = solution.seconds
        result = tell(loaded, solution, method, seconds=seconds)
        if table_file:
            columns = [*(feature["name"] for feature in result["features"]), request.target]
            with talk.stage("writing the selected columns") as report:
                formulas = Formulas(escape)
                copy_columns(loaded.source, columns, table_file, suffix, report, formulas)
            if formulas.found and not escape:
                talk.note(
                    f"{formulas.found} cells in {output} begin like formulas, which a spreadsheet "
                    "may run; --escape-formulas prefixes them with '"
                )
        if image_file:
            with talk.stage("writing the plot"):
                draw(solution, image_file, image)
    return result


def tell(loaded: Any, solution: Any, method: str, *, seconds: dict[str, float]) -> dict[str, Any]:
    """All there is to know of a choice, in plain values."""
    from bestk.problem.solution import TOLD

    features = [
        {"rank": rank, "name": str(loaded.table.names[place])}
        | {name: float(solution.details[name][rank - 1]) for name in TOLD}
        for rank, place in enumerate(solution.support.tolist(), 1)
    ]
    return {
        "file": shown(loaded.source.path),
        "target": loaded.target,
        "rows": loaded.table.n_samples,
        "columns": loaded.table.n_features,
        "k": solution.k,
        "method": method,
        "objective": float(solution.objective),
        "upper_bound": float(solution.upper_bound),
        "gap": float(solution.gap),
        "quality": solution.quality,
        "features": features,
        "warnings": list(solution.warnings),
        "seconds": seconds,
    } | {name: solution.details[name] for name in ("k_errors",) if name in solution.details}


def _print(result: dict[str, Any]) -> None:
    """A table of the features, and lines on the whole choice."""
    from bestk.cli._show import bold, console, new_table

    told = ("relevance", "contribution", "new_information")
    heads = [name.replace("_", " ") for name in told]
    table = new_table("rank", "feature", *heads, numbers=("rank", *heads))
    for feature in result["features"]:
        numbers = [f"{feature[name]:.4f}" for name in told]
        table.add_row(str(feature["rank"]), printable(feature["name"]), *numbers)
    out, seconds = console(), result["seconds"]
    asked = f"Selected {result['k']} of {result['columns']} features for {result['target']!r}"
    out.print(bold(asked), f" (method: {result['method']}, {result['rows']} rows)\n", sep="")
    out.print(table)
    out.print(f"objective  {result['objective']:.6g}")
    if isfinite(result["upper_bound"]):
        out.print(f"bound      {result['upper_bound']:.6g}")
    out.print("quality    ", bold(result["quality"]), sep="")
    if errors := result.get("k_errors"):
        curve = ", ".join(f"{k}: {error:.3f}" for k, error in errors.items())
        out.print(f"errors     cross-validation error by number of features: {curve}")
    out.print(
        f"time       {seconds['read']:.2f} s to read, {seconds['select']:.2f} s to select "
        f"({seconds['solve']:.2f} s of it to solve)"
    )


def check_image(path: Path) -> str:
    """Return the suffix of an image file that can be written."""
    suffix = path.suffix.lower()
    if suffix not in IMAGES:
        raise ValueError(f"{path} is not an image file; use one of {', '.join(IMAGES)}")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError("plots need matplotlib; run: pip install 'bestk[plots]'") from error
    return suffix


def draw(solution: Any, path: Path, suffix: str) -> None:
    """Draw the features and their pairs into a file."""
    from matplotlib.figure import Figure

    from bestk.plots import plot_features, plot_pairs

    side = min(15.0, max(5.0, 0.3 * solution.k))
    figure = Figure(figsize=(2 * side + 4, side + 2), layout="constrained")
    features, pairs = figure.subplots(1, 2)
    plot_features(solution, ax=features)
    plot_pairs(solution, ax=pairs)
    figure.savefig(path, format=suffix[1:], dpi=150, bbox_inches="tight")
