"""Progress bars and notes, on stderr."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from bestk.data.printable import printable

MANY_CLASSES = "The number of unique classes"  # said with the option that helps, elsewhere
Report = Callable[[int, int], None]  # how much is done, and of how much


class Talk:
    """What a command says beside its result."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Keep a note, to be said once the progress bars are gone."""
        if text not in self.notes:
            self.notes.append(text)

    def say_notes(self) -> None:
        """Print the notes."""
        if not self.quiet:
            for text in self.notes:
                click.echo(f"bestk: note: {printable(text)}", err=True)

    @contextmanager
    def stage(self, text: str) -> Iterator[Report]:
        """A bar while something is done; warnings become notes."""
        with self._bar(text) as report, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            warnings.filterwarnings("ignore", MANY_CLASSES)
            yield report
        for warning in caught:
            self._note_warning(warning.message)

    def _note_warning(self, message: Warning | str) -> None:
        """Keep a warning as a note; one on a selection has a note on every line."""
        from bestk.cli._errors import in_shell_words
        from bestk.errors import SelectionWarning

        if isinstance(message, SelectionWarning):
            for line in str(message).splitlines():
                self.note(in_shell_words(line))
        else:
            self.note(" ".join(str(message).split()))

    @contextmanager
    def _bar(self, text: str) -> Iterator[Report]:
        """A bar on a terminal; elsewhere nothing, which rich before 15 ends with an empty line."""
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
