"""Errors as one line with an exit status."""

import os
import re
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from bestk._memory import is_limited, limits, machine_memory
from bestk.cli._options import STDIN_FOLDER
from bestk.data.printable import printable, printable_lines

FAULT, WRONG, INTERRUPTED, BROKEN_PIPE, TERMINATED = 1, 2, 130, 141, 143
CODES = {
    0: "success",
    FAULT: "an internal error or not enough memory; doctor: a check failed",
    WRONG: "invalid options, or a file that cannot be read or written",
    INTERRUPTED: "interrupted by Ctrl-C",
    BROKEN_PIPE: "broken pipe",
    TERMINATED: "terminated by SIGTERM",
}
# bytes of address space below which some libraries abort: code, and stack and arenas of a thread
MIN_ADDRESS_SPACE, ADDRESS_SPACE_PER_THREAD = 0.9 * 2**30, 80 * 2**20
MEMORY_MESSAGES = ("failed to map segment", "cannot allocate memory", "_find_and_load")
OPTIONS = {"k": "-k", "target": "--target-kind"} | {
    name: f"--{name}" for name in ("information", "discretizer", "correction", "bound")
}


class ErrorGroup(click.Group):
    """Commands whose errors are one line; ``--debug`` shows the traceback too."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> NoReturn:
        """Run a command, and exit with its status."""
        given = list(sys.argv[1:] if args is None else args)
        code: Any
        prepare_streams()
        exit_on_signals()
        try:
            code = super().main(given, "bestk", complete_var, standalone_mode=False, **extra)
        except Exception as error:
            if "--debug" in given:
                import traceback

                text = "".join(traceback.format_exception(error))
                click.echo(printable_lines(text), nl=False, err=True)
            message, code = format_error(error)
            click.echo(message, err=True)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and exit with its own status on a broken pipe."""
        least = MIN_ADDRESS_SPACE + ADDRESS_SPACE_PER_THREAD * (os.cpu_count() or 1)
        if is_limited() and machine_memory() < least:
            raise MemoryError(f"bestk and its libraries need {least / 2**30:.2f} GiB")
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(BROKEN_PIPE)
        return result


def exit_on_signals() -> None:
    """Make SIGTERM and SIGHUP raise SystemExit, so that temporary files are deleted."""
    if threading.current_thread() is not threading.main_thread():
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, lambda received, frame: sys.exit(128 + received))


def prepare_streams() -> None:
    """Replace closed standard streams, and escape characters that the encoding lacks."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  open until the process ends
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def format_error(error: Exception) -> tuple[str, int]:
    """The line to print, and the exit status.

    Examples
    --------
    >>> format_error(ValueError("k=9 is more than the 4 columns of the table"))
    ('bestk: error: -k 9 is more than the 4 columns of the table', 2)
    >>> format_error(ValueError("/tmp/bestk-stdin-1/stdin.csv is empty"))[0]
    'bestk: error: standard input is empty'
    """
    if isinstance(error, click.Abort):
        return "bestk: interrupted", INTERRUPTED
    message, code = _explain(error)
    message = re.sub(rf"\S*{STDIN_FOLDER}\w+\S(stdin\.\w+(\.gz)?)", "standard input", message)
    return f"bestk: error: {printable(' '.join(message.split()))}", code


def _explain(error: Exception) -> tuple[str, int]:
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{error.format_message()} (see {error.ctx.command_path} --help)", WRONG
    if isinstance(error, click.ClickException):
        return error.format_message(), WRONG
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}", WRONG
    if _lacks_memory(error):
        asked = f": {str(error)[:200]}" if str(error) else ""
        advice = "raise the limit, exclude columns, or use a sample of the rows"
        return f"not enough memory{asked}; {limits()}; {advice}", FAULT
    if isinstance(error, ValueError | ImportError | OSError):
        return in_shell_words(str(error)), WRONG
    advice = "this is a bug in bestk; --debug shows the traceback"
    return f"{type(error).__name__}: {error}; {advice}", FAULT


def _lacks_memory(error: Exception) -> bool:
    """Whether memory ran out, also while a library was loaded."""
    if isinstance(error, ImportError | OSError | SystemError):
        return is_limited() and any(words in str(error) for words in MEMORY_MESSAGES)
    return isinstance(error, MemoryError)


def in_shell_words(message: str) -> str:
    """Replace Python arguments in a message by command-line options.

    Examples
    --------
    >>> in_shell_words("exclude it, or use information='gaussian'")
    'exclude it, or use --information gaussian'
    """
    names = "|".join(OPTIONS)
    message = re.sub(r"^y (?=has|is|holds)", "the target ", message)
    return re.sub(
        rf"\b({names})=(?:'([^']*)'|([\w.-]+))",
        lambda found: f"{OPTIONS[found[1]]} {found[2] or found[3]}",
        message,
    )
