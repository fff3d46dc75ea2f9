"""``bestk plan``: what a selection will take, before it starts."""

import re
from pathlib import Path
from typing import Any

import click

from bestk.cli._input import TableFile, shown, which_target
from bestk.cli._options import (
    AUTO,
    SHARED,
    Request,
    bound_option,
    complete_columns,
    method_option,
)
from bestk.cli._printable import printable

EXAMPLES = """\b
Examples:
  bestk plan cells.csv --target type -k 100
  bestk plan cells.parquet -t type -k 100 -m jmi --workers 16
  bestk plan --shape 1000x1000000 --levels 2 --classes 2 -k 100
  bestk plan cells.csv -t type -k 100 --json | jq .seconds.here.total
"""


class Size(click.ParamType):  # type: ignore[type-arg]
    """Rows and columns, such as 1000x50."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        """Two whole numbers with an x between them."""
        found = re.fullmatch(r"(\d+)x(\d+)", str(value).strip().lower())
        if not found:
            self.fail(f"{value!r} is not rows x columns, such as 1000x50")
        return int(found[1]), int(found[2])


def _own_options(command: Any) -> Any:
    """The options of `select`, but that a file is not needed."""
    for option in reversed(SHARED[2:]):
        command = option(command)
    target = click.option(
        "-t", "--target", metavar="COL", shell_complete=complete_columns,
        help="The column to predict; needed for a FILE.",
    )  # fmt: skip
    return click.argument("file", type=TableFile(), required=False)(target(command))


@click.command(epilog=EXAMPLES, short_help="What a selection will take, before it starts.")
@_own_options
@method_option
@bound_option
@click.option("--stream", is_flag=True, help="Read FILE in blocks of rows, and hold none.")
@click.option(
    "--workers", type=click.IntRange(min=1), metavar="N",
    help="Estimate for a cluster of so many workers of one core, too.",
)  # fmt: skip
@click.option(
    "--shape",
    type=Size(),
    metavar="ROWSxCOLUMNS",
    help="Plan for a table of this size, not a FILE.",
)
@click.option(
    "--levels", type=click.IntRange(min=1), metavar="N",
    help="Values of each column of --shape; without it, they are numbers.",
)  # fmt: skip
@click.option(
    "--classes", type=click.IntRange(min=2), metavar="N", help="Of the target of --shape.  [2]"
)
def plan(
    file: Path | None, target: str | None, method: str, bound: str, stream: bool,
    workers: int | None, shape: tuple[int, int] | None, levels: int | None, classes: int | None,
    **shared: Any,
) -> None:  # fmt: skip
    """Say what selecting k features of FILE will take, and how it will be done.

    Only the names and types of the columns and the first rows are read, and kernels are run for
    a moment on a small made-up table to see how fast the machine is. Nothing is selected. Times
    are estimates for a machine that does nothing else.
    """
    from bestk.cli._progress import Talk

    if (file is None) == (shape is None):
        raise click.UsageError("give a FILE, or the --shape of a table; one of the two")
    if file is not None and target is None:
        raise click.UsageError(which_target(file))
    if file is not None and (levels or classes):
        raise click.UsageError("--levels and --classes are for --shape; a FILE tells its own")
    request = Request(file=file or Path(), target=target or "", **shared)
    talk = Talk(request.quiet)
    table = (
        _look(request, talk, stream)
        if shape is None
        else _given(shape, levels, classes or 2, stream)
    )
    result = _make(request, talk, table, method, bound, workers)
    if shape is None:
        result = {"file": shown(request.file), "target": target} | result
    if request.as_json:
        from bestk.cli._show import print_json

        print_json(result | {"notes": [*result["notes"], *talk.notes]})
    else:
        _print(result)
    talk.say_notes()


def _given(shape: tuple[int, int], levels: int | None, classes: int, stream: bool) -> Any:
    from bestk.planning import Shape

    rows, columns = shape
    numeric, size = (columns, 8.0) if levels is None else (0, 1.0)
    return Shape(rows, columns, numeric, levels or 2, classes, size, stream)


def _look(request: Request, talk: Any, stream: bool) -> Any:
    """Open the file, and look at its first rows."""
    from bestk.cli._stream import is_long
    from bestk.cli._table import check
    from bestk.planning._files import look_at

    checked = check(request)
    blocks = stream or is_long(request.file)
    with talk.stage(f"looking at {shown(request.file)}"):
        return look_at(
            checked.source, checked.names, request.target,
            kind=request.target_kind, in_blocks=blocks, coded=request.discretizer == "none",
        )  # fmt: skip


def _make(
    request: Request, talk: Any, shape: Any, method: str, bound: str, workers: int | None
) -> dict[str, Any]:
    from bestk.cli._progress import busy
    from bestk.cli._table import _count
    from bestk.methods import get_method
    from bestk.planning import make_plan
    from bestk.selector import SelectBestK

    get_method(method)  # says which name may be meant
    options = request.options() | {"bound": None if bound == "none" else bound}
    k = AUTO if request.k == AUTO else _count(request, shape.columns)
    selector = SelectBestK(k, method, **options)
    with talk.stage("timing the kernels (a first run compiles, too)"):
        made = make_plan(shape, selector, workers=workers)
    if note := busy():
        talk.note(note)
    return made.to_dict() | {"k_is_auto": request.k == AUTO}


def _print(result: dict[str, Any]) -> None:
    """A line for each thing that is told."""
    from rich.table import Table

    from bestk.cli._show import bold, console

    about = "about " if result["rows_are_estimated"] else ""
    most = "at most " if result["k_is_auto"] else ""
    asked = f"{most}{result['k']} of {result['columns']:,} features"
    out, grid = console(), Table.grid(padding=(0, 2))
    told = f", by {result['method']} from {about}{result['rows']:,} rows\n"
    out.print(bold(asked), told, sep="")
    for name, text in _lines(result):
        grid.add_row(name, printable(text))
    for note in result["notes"]:
        grid.add_row("note", printable(note))
    out.print(grid)


def _lines(result: dict[str, Any]) -> list[tuple[str, str]]:
    from bestk.planning._memory import in_words

    memory, seconds = result["memory"], result["seconds"]
    parts = [name for name in ("table", "codes", "planes", "matrix", "columns") if memory[name]]
    held = ", ".join(f"{name} {in_words(memory[name])}" for name in parts)
    room = "of" if memory["fits"] else "MORE THAN the"
    peak = f"{in_words(memory['peak'])} {room} {in_words(memory['available'])}: {held}"
    lines = [
        ("path", result["path"]["name"]),
        ("why", result["reason"]),
        ("pairs", f"{result['pairs']:,} to count, from information '{result['information']}'"),
        ("memory", peak),
        ("time here", _stages(seconds["here"])),
        ("an H200", _stages(seconds["gpu"]) if seconds["gpu"] else "no help, or no room"),
    ]
    if far := seconds["workers"]:
        same = far["pairs"] == seconds["here"]["pairs"]
        told = "as here: columns, and what is soon counted, are not sent" if same else _stages(far)
        lines.append((f"{far['count']} workers", told))
    return lines


def _stages(seconds: dict[str, float]) -> str:
    """The whole time, and that of each stage."""
    stages = ("read", "prepare", "pairs", "solve")
    told = ", ".join(f"{name} {in_time(seconds[name])}" for name in stages)
    return f"about {in_time(seconds['total'])}: {told}"


def in_time(seconds: float) -> str:
    """Seconds as people read them.

    Examples
    --------
    >>> in_time(0.004), in_time(7.44), in_time(400), in_time(9000)
    ('4 ms', '7.4 s', '6.7 min', '2.5 h')
    """
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        if seconds >= 2 * size or (unit == "s" and seconds >= 1):
            return f"{seconds / size:.2g} {unit}" if seconds < 100 * size else f"{seconds:.0f} s"
    return f"{1000 * seconds:.0f} ms"
