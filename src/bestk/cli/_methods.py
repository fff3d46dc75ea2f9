"""``bestk methods``: list the available methods."""

from typing import Any

import click

from bestk.cli._options import complete_methods, debug_option


@click.command(short_help="List the available methods.")
@click.argument("name", required=False, shell_complete=complete_methods)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@debug_option
def methods(name: str | None, as_json: bool) -> None:
    """List the available methods, or describe the method NAME."""
    from dataclasses import asdict

    from bestk.cli._show import print_json
    from bestk.method_notes import NOTES

    if name is not None and name not in NOTES:
        from bestk.methods import get_method

        get_method(name)  # says which name may be meant
    notes = {key: asdict(NOTES[key]) for key in NOTES if name in (None, key)}
    if as_json:
        print_json(notes)
    elif name is None:
        _print_all(notes)
    else:
        _print_one(name, notes[name])


def _print_all(notes: dict[str, Any]) -> None:
    from bestk.cli._show import bold, console, new_table

    table = new_table("method", "title", "use")
    for name, note in notes.items():
        table.add_row(bold(name), note["title"], note["use"])
    out = console()
    out.print(table)
    out.print("`bestk methods NAME` shows the formula, reference, cost and limits of a method.")


def _print_one(name: str, note: dict[str, str]) -> None:
    from rich.table import Table

    from bestk.cli._show import bold, console

    grid = Table.grid(padding=(0, 2))
    for key, text in note.items():
        grid.add_row(key, bold(text) if key == "title" else text)
    console().print(grid)
