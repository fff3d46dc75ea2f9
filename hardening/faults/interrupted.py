"""Ctrl-C at any moment: exit code 130, one line, no partial file, the old file intact."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from hardening.faults.places import contents, write_table

COMMANDS = {
    "select": ("select", "-k", "10", "--method", "search", "--time-limit", "20", "-o", "out.csv"),
    "compare": ("compare", "-k", "10"),
    "report": ("report", "-k", "10", "-o", "out.html"),
}
OLD = b"what was there before"


def trials(rounds: int, seed: int) -> Iterator[tuple[str, str | None]]:
    """Interrupt each command so often, at moments drawn at random."""
    moments = random.Random(seed)
    with TemporaryDirectory() as home:
        folder = Path(home)
        write_table(folder / "table.csv", times=3)
        for name, (verb, *options) in COMMANDS.items():
            words = [verb, "table.csv", "--target", "diagnosis", *options]
            seconds = _duration(words, folder)
            for _ in range(rounds):
                moment = moments.uniform(0.02, seconds)
                yield f"{name} after {moment:.2f} s", _interrupt(words, folder, moment)


def _start(words: list[str], folder: Path) -> subprocess.Popen[str]:
    code = "import bestk.cli; bestk.cli.main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *words], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip


def _duration(words: list[str], folder: Path) -> float:
    start = time.perf_counter()
    _start(words, folder).communicate()
    return time.perf_counter() - start


def _interrupt(words: list[str], folder: Path, moment: float) -> str | None:
    for name in ("out.csv", "out.html"):
        (folder / name).write_bytes(OLD)
    before = contents(folder)
    process = _start(words, folder)
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    if process.returncode == 0:  # it was done, or had begun to end
        return None
    if "import bestk.cli" in said or "<frozen " in said or "site.py" in said:
        return None  # before the first line of bestk ran: Python itself was interrupted
    if process.returncode not in (130, -signal.SIGINT) or "Traceback" in said:
        return f"exit code {process.returncode}: {said[-400:]}"
    after = contents(folder)
    partial = [name for name in after if not _is_whole(after[name], before.get(name))]
    return f"partial files: {partial}" if partial or len(after) != len(before) else None


def _is_whole(now: bytes, before: bytes | None) -> bool:
    """Whether a file is as it was, or all there: the end of a program can be interrupted too."""
    return now == before or now.endswith((b"</html>\n", b"benign\n"))
