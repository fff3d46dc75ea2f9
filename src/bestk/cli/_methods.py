"""``bestk methods``: list the available methods."""

import click

from bestk.cli._options import complete_methods, debug_option


@click.command(short_help="List the available methods.")
@click.argument("name", required=False, shell_complete=complete_methods)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@debug_option
def methods(name: str | None, as_json: bool) -> None:
    """List the available methods, or describe the method NAME."""
    from bestk.cli._show import bold, console, new_table, print_json
    from bestk.selection.method_notes import NOTES

    if name is not None and name not in NOTES:
        from bestk.selection.methods import get_method

        get_method(name)  # says which name may be meant
    notes = {key: NOTES[key] for key in NOTES if name in (None, key)}
    if as_json:
        print_json(notes)
        return
    table = new_table("method", "what it is")
    for key, note in notes.items():
        table.add_row(bold(key), note)
    console().print(table)
