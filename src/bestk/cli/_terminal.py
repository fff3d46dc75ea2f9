"""What a terminal shows: results on stdout; progress, notes and errors on stderr."""

import json
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from bestk._memory import limits
from bestk.errors import SelectionWarning, printable

# The status of the process at its end.
FAULT = 1
WRONG = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
TERMINATED = 143
CODES = {
    0: "success",
    FAULT: "an internal error or not enough memory; doctor: a check failed",
    WRONG: "invalid options, or a file that cannot be read or written",
    INTERRUPTED: "interrupted by Ctrl-C",
    BROKEN_PIPE: "broken pipe",
    TERMINATED: "terminated by SIGTERM",
}

# The options of the command that set the arguments which errors name.
OPTIONS = {
    "k": "-k",
    "target": "--target-kind",
    "information": "--information",
    "correction": "--correction",
    "bound": "--bound",
}

# The number of characters of a line in a pipe, where nothing is cut or folded.
PIPE_WIDTH = 10_000

# A warning of scikit-learn, of which bestk has its own note.
MANY_CLASSES = "The number of unique classes"

# A function of the work that is done, and of all work.
Progress = Callable[[int, int], None]


class ErrorGroup(click.Group):
    """Commands whose errors are one line; ``--debug`` shows the traceback instead."""

    def main(self, args: Sequence[str] | None = None, **options: Any) -> NoReturn:  # type: ignore[override]
        """Run a command, and exit with its status."""
        given = list(sys.argv[1:] if args is None else args)
        options |= {"prog_name": "bestk", "standalone_mode": False}
        _prepare_process()
        try:
            code = super().main(given, **options)
        except click.Abort:
            click.echo("bestk: interrupted", err=True)
            sys.exit(INTERRUPTED)
        except Exception as error:
            if "--debug" in given:
                raise
            message, code = explain(error)
            click.echo(f"bestk: error: {printable(' '.join(message.split()))}", err=True)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and exit with its own status on a broken pipe."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(BROKEN_PIPE)
        return result


def _prepare_process() -> None:
    """Replace closed streams, and make SIGTERM and SIGHUP delete temporary files."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  open until the process ends
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if threading.current_thread() is not threading.main_thread():
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, lambda received, frame: sys.exit(128 + received))


def explain(error: Exception) -> tuple[str, int]:
    """What went wrong in words, and the exit status."""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{error.format_message()} (see {error.ctx.command_path} --help)", WRONG
    if isinstance(error, click.ClickException):
        return error.format_message(), WRONG
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}", WRONG
    if isinstance(error, MemoryError):
        asked = f": {str(error)[:200]}" if str(error) else ""
        advice = "raise the limit, exclude columns, or use a sample of the rows"
        return f"not enough memory{asked}; {limits()}; {advice}", FAULT
    if isinstance(error, ValueError | ImportError | OSError):
        return in_shell_words(str(error)), WRONG
    advice = "this is a bug in bestk; --debug shows the traceback"
    return f"{type(error).__name__}: {error}; {advice}", FAULT


def in_shell_words(message: str) -> str:
    """Replace Python arguments in a message by command-line options."""
    message = re.sub(r"^y (?=has|is|holds)", "the target ", message)
    assignment = rf"\b(?P<name>{'|'.join(OPTIONS)})=(?:'(?P<text>[^']*)'|(?P<word>[\w.-]+))"
    return re.sub(assignment, _as_option, message)


def _as_option(match: re.Match[str]) -> str:
    """An argument with its value, as the command takes it."""
    return f"{OPTIONS[match['name']]} {match['text'] or match['word']}"


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
        with self._bar(text) as progress, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            warnings.filterwarnings("ignore", MANY_CLASSES)
            yield progress
        for warning in caught:
            text = str(warning.message)
            if issubclass(warning.category, SelectionWarning):
                # It has one sentence on each line.
                sentences = text.splitlines()
            else:
                sentences = [" ".join(text.split())]
            for sentence in sentences:
                self.note(in_shell_words(sentence))

    @contextmanager
    def _bar(self, text: str) -> Iterator[Progress]:
        """A bar on a terminal, and nothing elsewhere: rich before 15 would print an empty line."""
        if self.quiet or not sys.stderr.isatty():
            yield lambda done, total: None
            return
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import Progress as Bars

        with Bars(console=Console(stderr=True), transient=True) as bars:
            task = bars.add_task(escape(printable(text)), total=None)
            yield lambda done, total: bars.update(task, completed=done, total=total)


def print_json(result: dict[str, Any]) -> None:
    """Print a result, with null for numbers that are not finite."""
    finite = json.loads(json.dumps(result), parse_constant=lambda number: None)
    click.echo(json.dumps(finite, indent=2).replace("\x7f", "\\u007f"))


def console() -> Any:
    """The console of results; brackets and colons in texts are not markup."""
    from rich.console import Console

    class PipeConsole(Console):
        def on_broken_pipe(self) -> None:
            raise  # handled for all output in one place

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return PipeConsole(width=width, highlight=False, markup=False, emoji=False)


def new_table(left: tuple[str, ...], right: tuple[str, ...] = (), first: str = "") -> Any:
    """A table of rich, with columns of text, which are left-aligned, then columns of numbers.

    ``first`` is the name of a column of numbers before both, if there is one.
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    if first:
        table.add_column(first, justify="right", overflow="fold")
    for name in left:
        table.add_column(name, justify="left", overflow="fold")
    for name in right:
        table.add_column(name, justify="right", overflow="fold")
    return table


def bold(text: str) -> Any:
    """Bold text, with control characters escaped."""
    from rich.text import Text

    return Text(printable(text), style="bold")


def heading(result: dict[str, Any], details: str) -> Any:
    """How many features were selected and for which target, in bold, and some details."""
    text = f"Selected {result['k']} of {result['columns']} features for {result['target']!r}"
    return bold(text).append(f" ({details})", style="not bold")
