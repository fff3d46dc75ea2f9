"""Results as a person reads them, and as a program does."""

import json
import sys
from collections.abc import Iterable
from math import isfinite
from typing import Any

from bestk.data.printable import printable, printable_json

WIDE = 10_000  # columns of a pipe: nothing is cut there


def console() -> Any:
    """Where results go: stdout, as wide as it is; brackets and colons are no markup."""
    from rich.console import Console

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            raise  # so that the exit code is that of any other output

    width = None if sys.stdout.isatty() else WIDE
    return Pipe(width=width, highlight=False, markup=False, emoji=False)


def new_table(*columns: str, numbers: Iterable[str] = ()) -> Any:
    """A table with a line below its head; some columns hold numbers."""
    from rich import box
    from rich.table import Table

    table, right = Table(box=box.SIMPLE_HEAD, pad_edge=False), set(numbers)
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    return table


def bold(text: str) -> Any:
    """Text that stands out."""
    from rich.text import Text

    return Text(printable(text), style="bold")


def print_json(result: dict[str, Any]) -> None:
    """Print a result, null where a number is not finite; all texts are exact."""
    plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    print(printable_json(json.dumps(_finite(result), indent=2, ensure_ascii=plain)))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value
