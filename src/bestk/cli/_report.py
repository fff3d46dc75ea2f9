"""``bestk report``: an HTML report of a selection."""

import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from bestk.cli._options import TableOptions, shown
from bestk.cli._select import as_dict, select_in_memory
from bestk.cli._table import check, new_file, read
from bestk.cli._terminal import Messages, bold, console, heading, in_shell_words
from bestk.data.printable import printable
from bestk.report import make_report
from bestk.selection.methods import get_method
from bestk.selection.selector import SelectBestK

SUFFIXES = (".html", ".htm")


def write_report(
    request: TableOptions, messages: Messages, output: Path, *, errors: bool, date: str
) -> dict[str, Any]:
    """Check the options, then read, select and write the report."""
    checked = check(request)
    page = new_file(output, request.file)
    if output.suffix.lower() not in SUFFIXES:
        raise ValueError(f"{output} is not an HTML file; use one of {', '.join(SUFFIXES)}")
    with page as file:
        get_method(request.method)  # an unknown name is an error before the file is read
        loaded, k, seconds = read(checked, request, messages)
        solution = select_in_memory(loaded, k, request, messages)
        known = set(map(in_shell_words, solution.warnings))  # which the report finds itself
        names = set(loaded.table.names) | {request.target}
        with messages.stage("computing the report") as progress:
            made = make_report(
                SelectBestK(k, request.method, **request.options()), loaded.table, loaded.y,
                solution=solution, target=request.target, errors=errors, date=date,
                notes=[note for note in messages.notes if note not in known],
                path=shown(request.file), command=equivalent_command(request), progress=progress,
                dropped=[name for name in checked.source.types if name not in names],
            )  # fmt: skip
        file.write_text(made.html, encoding="utf-8", newline="\n")
    result = as_dict(loaded, solution, request, {"read": seconds, "solve": solution.seconds})
    cautions = [f"{c.kind}: {c.text}" for c in made.facts.cautions or () if c.kind != "note"]
    size = len(made.html.encode("utf-8"))
    return result | {"report": str(output), "bytes": size, "warnings": cautions}


def equivalent_command(request: TableOptions) -> str:
    """The command that selects the same features."""
    words = ["bestk", "select", shown(request.file), "--target", request.target]
    for each in fields(request)[2:]:
        value, option = getattr(request, each.name), f"--{each.name.replace('_', '-')}"
        if value != each.default and each.name not in ("as_json", "quiet"):
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


def print_path(result: dict[str, Any]) -> None:
    """Print the name of the file alone."""
    click.echo(printable(result["report"]))
