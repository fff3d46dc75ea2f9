"""``bestk select --dry-run``: how a file would be read, and the memory that takes."""

from math import ceil
from typing import Any

from bestk._memory import machine_memory
from bestk.cli._input import shown
from bestk.cli._options import Request
from bestk.cli._table import Checked
from bestk.data.files import Source, count_rows
from bestk.data.printable import printable
from bestk.selection.methods import Quadratic, get_method
from bestk.selection.objectives import KEPT, MEMORY


def estimate(checked: Checked, request: Request, method: str, in_blocks: bool) -> dict[str, Any]:
    """Estimate what a selection would need; the rows are counted, and one block is read."""
    rows, columns = count_rows(checked.source, request.target), len(checked.names)
    at_once = min(_rows_of_a_block(checked.source), rows) if in_blocks else rows
    needed = 8 * at_once * columns + rows * columns + _bytes_of_pairs(method, columns, checked.k)
    return {
        "file": shown(request.file),
        "target": request.target,
        "method": method,
        "k": request.k if isinstance(request.k, str) else checked.k,
        "rows": rows,
        "columns": columns,
        "blocks": ceil(rows / max(1, at_once)) if in_blocks else 0,
        "memory": {"needed": needed, "available": machine_memory()},
    }


def _rows_of_a_block(source: Source) -> int:
    return max(1, next((batch.num_rows for batch in source.batches(list(source.types))), 1))


def _bytes_of_pairs(method: str, columns: int, k: int) -> int:
    """Bytes of the matrix of all pairs, or of the columns of pairs that are kept."""
    if isinstance(get_method(method), Quadratic) and 8 * columns**2 <= MEMORY:
        return 8 * columns**2
    return min(8 * columns * k, KEPT)


def print_estimate(result: dict[str, Any]) -> None:
    """Print an estimate in a few lines."""
    from bestk.cli._show import bold, console

    out, memory, blocks = console(), result["memory"], result["blocks"]
    k = "a number of features chosen by cross-validation" if result["k"] == "auto" else result["k"]
    out.print(bold(f"Would select {k} of {result['columns']:,} features"), end="")
    out.print(f" for {printable(repr(result['target']))} (method: {result['method']})")
    out.print(f"read    {f'in {blocks:,} blocks of rows' if blocks else 'in memory'}")
    out.print(f"size    {result['rows']:,} rows x {result['columns']:,} columns")
    out.print(f"memory  about {in_units(memory['needed'])} of {in_units(memory['available'])}")


def in_units(n_bytes: float) -> str:
    """Format bytes for a person.

    Examples
    --------
    >>> in_units(999), in_units(125_000_000), in_units(3 * 2**30)
    ('999 B', '119 MiB', '3.0 GiB')
    """
    size, units = float(n_bytes), ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{size:.0f} {units[0]}" if size >= 10 or units[0] == "B" else f"{size:.1f} {units[0]}"
