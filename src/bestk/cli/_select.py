"""``bestk select``: select features of a table, and write the reduced table."""

from contextlib import ExitStack
from dataclasses import dataclass
from math import ceil, isfinite
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from bestk._memory import machine_memory
from bestk.cli._options import AUTO, TableOptions, shown
from bestk.cli._output import Messages, bold, console, heading, new_table
from bestk.cli._table import CheckedFile, check, is_long, new_file, read, select_in_blocks
from bestk.data.files import Formulas, Loaded, copy_columns, count_rows, output_suffix
from bestk.data.printable import printable
from bestk.problem.solution import TOLD, Solution
from bestk.selection.choose_k import refuse_auto
from bestk.selection.methods import Quadratic, get_method
from bestk.selection.objectives import KEPT, MEMORY
from bestk.selection.selector import select

IMAGES = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Outputs:
    """The files that a selection writes."""

    table: Path | None
    plot: Path | None
    escape_formulas: bool


def select_from_file(
    request: TableOptions, messages: Messages, outputs: Outputs, stream: bool
) -> dict[str, Any]:
    """Check the options, then read, select and write."""
    suffix = output_suffix(outputs.table) if outputs.table else ""
    image = check_image(outputs.plot) if outputs.plot else ""
    checked = check(request)
    with ExitStack() as files:
        table, plot = (
            files.enter_context(new_file(path, request.file)) if path else None
            for path in (outputs.table, outputs.plot)
        )
        get_method(request.method)  # an unknown name is an error before the file is read
        if stream or is_long(request.file):
            refuse_auto(request.k)
            loaded, solution, seconds = select_in_blocks(checked, request, messages)
        else:
            loaded, k, reading = read(checked, request, messages)
            start = perf_counter()
            solution = select_in_memory(loaded, k, request, messages)
            seconds = {"read": reading, "select": perf_counter() - start}
        result = as_dict(loaded, solution, request, seconds | {"solve": solution.seconds})
        if table:
            _write_table(loaded, result, table, suffix, outputs, messages)
        if plot:
            with messages.stage("writing the plot"):
                draw(solution, plot, image)
    return result


def select_in_memory(
    loaded: Loaded, k: int | str, request: TableOptions, messages: Messages
) -> Solution:
    """Select from a table in memory."""
    number = "features" if k == AUTO else f"{k} features"
    with messages.stage(f"selecting {number}"):
        return select(loaded.table, loaded.y, k, request.method, **request.options())


def as_dict(
    loaded: Loaded, solution: Solution, request: TableOptions, seconds: dict[str, float]
) -> dict[str, Any]:
    """A selection in plain values."""
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
        "method": request.method,
        "objective": float(solution.objective),
        "upper_bound": float(solution.upper_bound),
        "gap": float(solution.gap),
        "quality": solution.quality,
        "features": features,
        "warnings": list(solution.warnings),
        "seconds": seconds,
    } | {name: solution.details[name] for name in ("k_errors",) if name in solution.details}


def _write_table(
    loaded: Loaded, result: dict[str, Any], path: Path, suffix: str, outputs: Outputs,
    messages: Messages,
) -> None:  # fmt: skip
    columns = [*(feature["name"] for feature in result["features"]), loaded.target]
    formulas = Formulas(outputs.escape_formulas)
    with messages.stage("writing the selected columns") as progress:
        copy_columns(loaded.source, columns, path, suffix, progress, formulas)
    if formulas.found and not outputs.escape_formulas:
        messages.note(
            f"{formulas.found} cells in {outputs.table} begin like formulas, which a spreadsheet "
            "may run; --escape-formulas prefixes them with '"
        )


def print_selection(result: dict[str, Any]) -> None:
    """Print a table of the features, and lines on the whole selection."""
    names = ("relevance", "contribution", "new_information")
    heads = tuple(name.replace("_", " ") for name in names)
    table = new_table(("feature",), heads, first="rank")
    for feature in result["features"]:
        numbers = [f"{feature[name]:.4f}" for name in names]
        table.add_row(str(feature["rank"]), printable(feature["name"]), *numbers)
    out, seconds = console(), result["seconds"]
    out.print(heading(result, f"method: {result['method']}, {result['rows']} rows"), end="\n\n")
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


def print_names(result: dict[str, Any]) -> None:
    """Print the names of the features alone."""
    click.echo("\n".join(printable(feature["name"]) for feature in result["features"]))


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


def draw(solution: Solution, path: Path, suffix: str) -> None:
    """Draw the features and their pairs into a file."""
    from matplotlib.figure import Figure

    from bestk.plots import plot_features, plot_pairs

    side = min(15.0, max(5.0, 0.3 * solution.k))
    figure = Figure(figsize=(2 * side + 4, side + 2), layout="constrained")
    features, pairs = figure.subplots(1, 2)
    plot_features(solution, ax=features)
    plot_pairs(solution, ax=pairs)
    figure.savefig(path, format=suffix[1:], dpi=150, bbox_inches="tight")


def dry_run(request: TableOptions, messages: Messages, stream: bool) -> dict[str, Any]:
    """Estimate the memory of a selection; the rows are counted, and one block is read."""
    checked = check(request)
    with messages.stage(f"counting the rows of {shown(request.file)}"):
        rows, columns = count_rows(checked.source, request.target), len(checked.names)
    in_blocks = stream or is_long(request.file)
    at_once = min(_rows_of_a_block(checked), rows) if in_blocks else rows
    pairs = _bytes_of_pairs(request.method, columns, checked.k)
    return {
        "file": shown(request.file),
        "target": request.target,
        "method": request.method,
        "k": request.k if isinstance(request.k, str) else checked.k,
        "rows": rows,
        "columns": columns,
        "blocks": ceil(rows / max(1, at_once)) if in_blocks else 0,
        "memory": {
            "needed": 8 * at_once * columns + rows * columns + pairs,
            "available": machine_memory(),
        },
    }


def _rows_of_a_block(checked: CheckedFile) -> int:
    batches = checked.source.batches(list(checked.source.types))
    return max(1, next((batch.num_rows for batch in batches), 1))


def _bytes_of_pairs(method: str, columns: int, k: int) -> int:
    """Bytes of the matrix of all pairs, or of the columns of pairs that are kept."""
    if isinstance(get_method(method), Quadratic) and 8 * columns**2 <= MEMORY:
        return 8 * columns**2
    return min(8 * columns * k, KEPT)


def print_dry_run(result: dict[str, Any]) -> None:
    """Print an estimate in a few lines."""
    out, memory, blocks = console(), result["memory"], result["blocks"]
    k = "a number of features chosen by cross-validation" if result["k"] == AUTO else result["k"]
    out.print(bold(f"Would select {k} of {result['columns']:,} features"), end="")
    out.print(f" for {printable(repr(result['target']))} (method: {result['method']})")
    out.print(f"read    {f'in {blocks:,} blocks of rows' if blocks else 'in memory'}")
    out.print(f"size    {result['rows']:,} rows x {result['columns']:,} columns")
    out.print(f"memory  about {in_units(memory['needed'])} of {in_units(memory['available'])}")


def in_units(n_bytes: float) -> str:
    """Format a number of bytes.

    Examples
    --------
    >>> in_units(999), in_units(125_000_000), in_units(3 * 2**30)
    ('999 B', '119 MiB', '3.0 GiB')
    """
    size, units = float(n_bytes), ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{size:.0f} {units[0]}" if size >= 10 or units[0] == "B" else f"{size:.1f} {units[0]}"
