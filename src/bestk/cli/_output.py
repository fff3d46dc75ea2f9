"""Results on stdout; progress and notes on stderr."""

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import Any

import click

from bestk.cli._errors import in_shell_words
from bestk.cli._options import TableOptions
from bestk.data.printable import printable, printable_json

PIPE_WIDTH = 10_000  # characters: nothing is cut or folded in a pipe
MANY_CLASSES = "The number of unique classes"  # a warning of scikit-learn; bestk has its own note
Progress = Callable[[int, int], None]  # work done, and the total


class Messages:
    """The progress bars and notes of a command."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Keep a note, to be printed after the progress bars."""
        if text not in self.notes:
            self.notes.append(text)

    @contextmanager
    def stage(self, text: str) -> Iterator[Progress]:
        """Show a progress bar, and keep warnings as notes."""
        from bestk.errors import SelectionWarning

        with self._bar(text) as progress, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            warnings.filterwarnings("ignore", MANY_CLASSES)
            yield progress
        for message in (warning.message for warning in caught):
            if isinstance(message, SelectionWarning):  # one note per line
                for line in str(message).splitlines():
                    self.note(in_shell_words(line))
            else:
                self.note(" ".join(str(message).split()))

    @contextmanager
    def _bar(self, text: str) -> Iterator[Progress]:
        """A bar on a terminal, and nothing elsewhere: rich before 15 would print an empty line."""
        from rich import progress
        from rich.console import Console

        console = Console(stderr=True)
        if self.quiet or not console.is_terminal:
            yield lambda done, total: None
            return
        columns = (
            progress.SpinnerColumn(),
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TimeElapsedColumn(),
        )
        with progress.Progress(*columns, console=console, transient=True) as bars:
            task = bars.add_task(printable(text), total=None)
            yield lambda done, total: bars.update(task, completed=done, total=total)


def print_result(
    request: TableOptions, messages: Messages, result: dict[str, Any], show: Callable[[Any], None]
) -> None:
    """Print the notes, then the result: as JSON, or by the function given."""
    if not request.quiet:
        for text in messages.notes:
            click.echo(f"bestk: note: {printable(text)}", err=True)
    if request.as_json:
        print_json(result | {"notes": messages.notes})
    else:
        show(result)


def print_json(result: dict[str, Any]) -> None:
    """Print a result, with null for numbers that are not finite."""
    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
    print(printable_json(json.dumps(_finite(result), indent=2, ensure_ascii=ascii_only)))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def console() -> Any:
    """The console of results; brackets and colons in texts are not markup."""
    from rich.console import Console

    class PipeConsole(Console):
        def on_broken_pipe(self) -> None:
            raise  # handled for all output in one place

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return PipeConsole(width=width, highlight=False, markup=False, emoji=False)


def new_table(left: tuple[str, ...], right: tuple[str, ...] = (), first: str = "") -> Any:
    """A table with columns of text, then columns of numbers; ``first`` is a number before both."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in (first,) * bool(first) + left + right:
        table.add_column(name, justify="left" if name in left else "right", overflow="fold")
    return table


def bold(text: str) -> Any:
    """Bold text, with control characters escaped."""
    from rich.text import Text

    return Text(printable(text), style="bold")


def heading(result: dict[str, Any], details: str) -> Any:
    """How many features were selected and for which target, in bold, and some details."""
    from rich.text import Text

    text = f"Selected {result['k']} of {result['columns']} features for {result['target']!r}"
    return Text.assemble((printable(text), "bold"), f" ({details})")
