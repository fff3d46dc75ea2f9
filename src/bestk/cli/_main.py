"""The commands and their options; each imports its work when it runs."""

import os
import platform
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any
from warnings import catch_warnings

import click

from bestk import __version__, _memory
from bestk.cli._options import DECLARED, TableOptions, debug_option, options, parse_k
from bestk.cli._terminal import CODES, ErrorGroup, print_json
from bestk.errors import printable

# The packages that bestk uses, and the extra that each belongs to; None: they are always there.
PACKAGES: dict[str, str | None] = {
    "numpy": None,
    "scipy": None,
    "scikit-learn": None,
    "narwhals": None,
    "click": "cli",
    "rich": "cli",
    "pyarrow": "cli",
    "matplotlib": "plots",
    "jinja2": "report",
    "torch": "gpu",
    "dask": "dask",
    "distributed": "dask",
}

STATUS = "\n".join(f"  {code:<3}  {meaning}" for code, meaning in CODES.items())
EPILOG = f"""\b
Exit status:
{STATUS}

FILE is a CSV or TSV file (also .gz) with a header line, or a Parquet, Feather or Arrow file.
"""
EXAMPLES = """\b
Examples:
  bestk select cells.csv --target type -k 20
  bestk select cells.parquet -t type -k 5 --method exact --bound tight -o best.csv
  bestk select cells.csv -t type -k 5 --quiet | head -1
  bestk select cells.csv -t type --json | jq .features[0].name
"""

# The methods that are compared by default.
COMPARED = ("auto", "maxrel", "mrmr", "jmi", "cmim", "tpower", "search")


def print_result(
    request: TableOptions, result: dict[str, Any], show: Callable[[Any], None]
) -> None:
    """Print the notes, then the result: as JSON, as names alone if quiet, or by ``show``."""
    if not request.quiet:
        for text in request.messages.notes:
            click.echo(f"bestk: note: {printable(text)}", err=True)
    if request.as_json:
        print_json(result | {"notes": request.messages.notes})
    elif request.quiet and "report" in result:
        click.echo(printable(result["report"]))
    elif request.quiet and "features" in result:
        click.echo("\n".join(printable(feature["name"]) for feature in result["features"]))
    else:
        show(result)


@click.group(
    cls=ErrorGroup,
    epilog=EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="bestk %(version)s")
@debug_option
@click.pass_context
def main(ctx: click.Context) -> None:
    """Select the k best features of a table jointly."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@main.command("select", epilog=EXAMPLES, short_help="Select the k best features for a target.")
@options(*DECLARED)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="Write the selected columns and the target to this file.",
)
@click.option(
    "--dry-run", is_flag=True, help="Print the rows of FILE used and the memory needed, then stop."
)
def select_command(output: Path | None, dry_run: bool, **values: Any) -> None:
    """Select the k features of FILE that predict the target best together.

    Prints for each feature, best first, its mutual information with the target (relevance), what it
    adds to the objective, the score of the whole selection (contribution), and its smallest mutual
    information with the target given another selected feature (new information), in nats. With
    --quiet only the names are printed.
    """
    from bestk.cli import _select

    request = TableOptions(**values)
    if dry_run:
        result = _select.dry_run(request)
        print_result(request, result, _select.print_dry_run)
    else:
        result = _select.select_from_file(request, output)
        print_result(request, result, _select.print_selection)


@main.command(short_help="Compare several methods.")
@options(*(DECLARED.keys() - {"k", "method", "bound", "threshold"}))
@click.option(
    "-k",
    callback=parse_k,
    metavar="N",
    help="Number of features, or a fraction of the features in (0, 1]. By default 10.",
)
@click.option(
    "-m",
    "--method",
    "methods",
    multiple=True,
    default=COMPARED,
    show_default=True,
    metavar="NAME",
    help="A method to compare (repeatable).",
)
@click.option(
    "--cv",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="Number of cross-validation folds; 0: no error is computed.",
)
def compare(methods: tuple[str, ...], cv: int, **values: Any) -> None:
    """Select k features of FILE by several methods, and compare their cross-validated errors.

    The error is the error rate, or the mean squared error in regression, of a linear model on
    standardized columns (gradient boosting if some columns contain text): its mean and standard
    deviation over the folds. Features are selected from the training rows of each fold only.
    """
    from bestk.cli import _compare

    request = TableOptions(**values)
    result = _compare.compare_methods(request, tuple(dict.fromkeys(methods)), cv)
    print_result(request, result, _compare.print_comparison)


@main.command(short_help="Write an HTML report of a selection.")
@options(*(DECLARED.keys() - {"weights"}))
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(path_type=Path),
    default="report.html",
    show_default=True,
    help="HTML file to write.",
)
@click.option("--errors/--no-errors", default=True, help="Compute cross-validated scores.")
def report(output: Path, errors: bool, **values: Any) -> None:
    """Select k features of FILE, and write an HTML report of the selection.

    The report shows whether the features predict the target, which were selected and how often they
    are selected again from parts of the rows, how many are needed, whether other methods are
    better, warnings, pairs of features, how the columns were read, and the optimality gap. It is
    one self-contained file that needs no network.
    """
    from bestk.cli import _compare

    request = TableOptions(**values)
    result = _compare.write_report(request, output, errors)
    print_result(request, result, _compare.print_report)


@main.command(short_help="List the available methods.")
@click.argument("name", required=False)
@options("as_json")
def methods(name: str | None, as_json: bool) -> None:
    """List the available methods, or describe the method NAME."""
    from bestk.cli._terminal import bold, console, new_table
    from bestk.methods.registry import METHODS, describe_method

    names = [name] if name else list(METHODS)
    described = {method: describe_method(method) for method in names}
    if as_json:
        print_json(described)
        return
    table = new_table(("method", "description"))
    for method, description in described.items():
        table.add_row(bold(method), description)
    console().print(table)


@main.command(short_help="Check the installation.")
@options("as_json")
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check the installation: versions, compiled library, threads, memory and a test selection.

    The exit status is 1 if the test selection FAILED, and 0 otherwise.
    """
    test = run_test()
    installed = {
        (package.name or "").lower(): package.version for package in metadata.distributions()
    }
    packages = {
        name: {"version": installed.get(name), "extra": extra} for name, extra in PACKAGES.items()
    }
    checks = {
        "bestk": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": packages,
        "memory": {"free": _memory.free_memory(), "text": _memory.limits()},
        "test": test,
        "ok": "error" not in test,
    }
    if as_json:
        print_json(checks)
    else:
        click.echo("\n".join(map(printable, format_checks(checks))))
    ctx.exit(0 if checks["ok"] else 1)


def run_test() -> dict[str, Any]:
    """Run a small selection, and read how the library counts; the error where that fails."""
    y = [i % 2 for i in range(60)]
    colours = ("red", "green", "blue")
    # Only the second column says something about y.
    X = []
    for i in range(60):
        informative = y[i] + i % 7 / 10
        X.append([i * i % 13, informative, colours[i % 3]])
    try:
        from bestk import select
        from bestk.native import cpu_levels
        from bestk.native.threads import n_threads

        with catch_warnings(action="ignore"):
            selected = select(X, y, k=1).support.tolist()
        if selected != [1]:
            return {"error": f"the test selection gave column {selected}, not [1]"}
        cpu = os.environ.get("BESTK_CPU") or cpu_levels()[-1]
        return {"cpu": cpu, "threads": n_threads()}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def format_checks(checks: dict[str, Any]) -> Iterator[str]:
    """A line for each check."""
    yield f"bestk {checks['bestk']}, Python {checks['python']}, {checks['platform']}"
    for name, package in checks["packages"].items():
        absent = f"not installed (optional: pip install 'bestk[{package['extra']}]')"
        yield f"{name:<13} {package['version'] or absent}"
    yield f"{'memory':<13} {checks['memory']['text']}"
    test = checks["test"]
    if checks["ok"]:
        yield f"{'library':<13} loaded, CPU level {test['cpu']}, {test['threads']} threads"
    yield f"{'selection':<13} {'OK' if checks['ok'] else 'FAILED: ' + test['error']}"
    yield "OK" if checks["ok"] else "FAILED"
