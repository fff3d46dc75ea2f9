"""Work that may crash or never end, done by a process of its own that tells what it finds."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

MARK = "bestk-found "  # begins a line that is ours; libraries print what they like
OVER = "the time was up"
Found = dict[str, Any]  # by name: what was found, or {"error": why not}


def tell(name: str, work: Callable[[], Any]) -> None:
    """In the child: do some work, and print what it found or how it failed."""
    print(MARK + json.dumps({name: guarded(work)}), flush=True)


def guarded(work: Callable[[], Any]) -> Any:
    """What some work finds, or the error that it ends with.

    Examples
    --------
    >>> guarded(lambda: 1 / 0)
    {'error': 'ZeroDivisionError: division by zero'}
    """
    try:
        return work()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {' '.join(str(error).split())}"}


def failed(found: Any) -> bool:
    """Whether nothing was found but an error."""
    return isinstance(found, dict) and "error" in found


def ask(module: str, names: Sequence[str], limit: float) -> Found:
    """What a child finds for each name; after a crash, another goes on with the next name."""
    found: Found = {}
    end = monotonic() + limit
    while left := [name for name in names if name not in found]:
        if (time := end - monotonic()) <= 0:
            return found | {name: {"error": OVER} for name in left}
        output, reason = _run(module, left, time)
        found |= _read(output)
        lost = [name for name in left if name not in found]
        found |= {name: {"error": reason} for name in lost[:1]}
    return found


def _run(module: str, names: Sequence[str], limit: float) -> tuple[str, str]:
    """What a child prints, and how it ended."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", module, *names],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").decode(errors="replace"), OVER
    said = done.stderr.decode(errors="replace").split("\n")
    last = next((line for line in reversed(said) if line.strip()), "")
    return done.stdout.decode(errors="replace"), f"{_ended(done.returncode)} {last}".strip()


def _ended(code: int) -> str:
    """How a process ended, in words.

    Examples
    --------
    >>> _ended(3), _ended(-11)
    ('the process ended with code 3', 'the process was ended by SIGSEGV')
    """
    if code >= 0:
        return f"the process ended with code {code}"
    try:
        return f"the process was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"the process was ended by signal {-code}"


def _read(output: str) -> Found:
    found: Found = {}
    for line in output.splitlines(keepends=True):
        if line.startswith(MARK) and line.endswith("\n"):  # else it was cut
            found |= json.loads(line[len(MARK) :])
    return found
