"""``bestk report``: an HTML report of a selection."""

import shlex
from pathlib import Path
from typing import Any

import click

from bestk.cli._errors import in_shell_words
from bestk.cli._input import shown
from bestk.cli._options import AUTO, Request, bound_option, method_option, shared_options
from bestk.data.printable import printable

PAGES = (".html", ".htm")

EXAMPLES = """\b
Examples:
  bestk report cells.csv --target type -k 20 -o report.html
  bestk report cells.parquet -t type -k auto --no-errors -o cells.html
"""


@click.command(epilog=EXAMPLES, short_help="Write an HTML report of a selection.")
@shared_options
@method_option
@bound_option
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="OUT", default="report.html",
    show_default=True, help="HTML file to write.",
)  # fmt: skip
@click.option(
    "--errors/--no-errors", default=True, show_default=True,
    help="Compute cross-validated errors (the slowest part).",
)  # fmt: skip
@click.option(
    "--date", default="", metavar="TEXT",
    help="Date to print in the report; none by default, so that reports are reproducible.",
)  # fmt: skip
def report(method: str, bound: str, output: Path, errors: bool, date: str, **shared: Any) -> None:
    """Select k features of FILE, and write an HTML report of the selection.

    The report contains the selected features with their scores and pairs, the cross-validated error
    by number of features, the selections of other methods, the optimality gap, how the columns were
    read, and warnings. It is one self-contained file that needs no network.
    """
    from bestk.cli._progress import Talk

    request = Request(**shared)
    talk = Talk(request.quiet)
    result = _run(request, talk, method, bound, output, errors, date)
    talk.say_notes()
    if request.as_json:
        from bestk.cli._show import print_json

        print_json(result | {"notes": talk.notes})
    elif request.quiet:
        click.echo(printable(result["report"]))
    else:
        _print(result)


def _run(
    request: Request, talk: Any, method: str, bound: str, output: Path, errors: bool, date: str
) -> dict[str, Any]:
    """Read, select, gather and write; what can be wrong with the options is seen before that."""
    from bestk.cli._table import check, features_wanted, new_file, read

    checked = check(request)
    page = new_file(output, request.file)
    if output.suffix.lower() not in PAGES:
        raise ValueError(f"{output} is not the name of a page; it is one of {', '.join(PAGES)}")
    with page as file:
        from bestk.report import make_report
        from bestk.selection.methods import get_method
        from bestk.selection.selector import SelectBestK, select

        get_method(method)  # refuses one that is unknown before the file is read
        loaded, seconds = read(checked, request, talk)
        k = request.k if isinstance(request.k, str) else features_wanted(checked, loaded)
        options = request.options() | {"bound": None if bound == "none" else bound}
        if request.include:
            options["include"] = list(request.include)
        many = "features" if k == AUTO else f"{k} features"
        with talk.stage(f"selecting {many}"):
            solution = select(loaded.table, loaded.y, k, method, **options)
        said = set(map(in_shell_words, solution.warnings))  # which the report finds itself
        with talk.stage("computing the report") as progress:
            made = make_report(
                SelectBestK(k, method, **options), loaded.table, loaded.y, solution=solution,
                target=request.target, errors=errors, date=date,
                notes=[note for note in talk.notes if note not in said],
                path=shown(request.file), command=command_of(request, method, bound),
                progress=progress,
                dropped=[name for name in checked.source.types
                         if name != request.target and name not in loaded.table.names],
            )  # fmt: skip
        file.write_text(made.html, encoding="utf-8", newline="\n")
    from bestk.cli._select import tell

    times = {"read": seconds, "solve": solution.seconds}
    told = tell(loaded, solution, method, seconds=times)
    cautions = [f"{c.kind}: {c.text}" for c in made.facts.cautions or () if c.kind != "note"]
    size = len(made.html.encode("utf-8"))
    return told | {"report": str(output), "bytes": size, "warnings": cautions}


def command_of(request: Request, method: str, bound: str) -> str:
    """The command that selects the same features."""
    words = ["bestk", "select", shown(request.file), "--target", request.target]
    plain = {"-k": None, "--method": "auto", "--information": "auto", "--discretizer": "auto",
             "--correction": "none", "--target-kind": "auto", "--bound": "fast",
             "--time-limit": None, "--seed": None}  # fmt: skip
    given = {
        "-k": request.k, "--method": method, "--information": request.information,
        "--discretizer": request.discretizer, "--correction": request.correction,
        "--target-kind": request.target_kind, "--bound": bound,
        "--time-limit": request.time_limit, "--seed": request.seed,
    }  # fmt: skip
    for name, value in given.items():
        words += [name, str(value)] if value != plain[name] else []
    for name, columns in (("--include", request.include), ("--exclude", request.exclude)):
        words += [word for column in columns for word in (name, column)]
    return shlex.join(words)


def _print(result: dict[str, Any]) -> None:
    from bestk.cli._show import bold, console

    out = console()
    asked = f"Selected {result['k']} of {result['columns']} features for {result['target']!r}"
    out.print(bold(asked), f" (method: {result['method']}): {result['quality']}", sep="")
    for caution in result["warnings"]:
        out.print(f"warning    {printable(caution)}")
    size = f"{result['bytes'] / 1000:,.0f} kB"
    out.print("Wrote ", bold(result["report"]), f" ({size})", sep="")
