"""A full disk and a read-only folder: a clear error, the old file intact, nothing half written."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from hardening.faults.places import contents, fill, may_mount, read_only, small_disk, write_table

WRITERS = {
    "select to CSV": ("select", "-o", "out.csv"),
    "select to Parquet": ("select", "-o", "out.parquet"),
    "report": ("report", "--no-errors", "-o", "out.html"),
}
STORE = """
import sys
from pathlib import Path
from experiments.store import Store
store = Store(Path(sys.argv[1]))
for i in range(2000):
    store.add(("part", str(i)), {"x": list(range(20))})
"""
OLD = b"what was there before"


def trials() -> Iterator[tuple[str, str | None]]:
    """Each fault, and what was wrong with the answer to it, if anything."""
    if not may_mount():
        yield "mount", "this process may not mount a file system; run as root"
        return
    with TemporaryDirectory() as home:
        table = write_table(Path(home, "table.csv"), times=20)
        for name, (verb, *more, option, file) in WRITERS.items():
            words = [verb, *more, str(table), "--target", "diagnosis", "-k", "20"]
            yield f"full disk, {name}", _full(words, option, file)
            yield f"read-only, {name}", _read_only(words, option, file)
    yield "full disk, stored results", _store()


def _full(words: list[str], option: str, file: str) -> str | None:
    with small_disk(64) as disk:
        (disk / file).write_bytes(OLD)
        fill(disk)
        before = contents(disk)
        return _judge([*words, option, str(disk / file)], disk, before)


def _read_only(words: list[str], option: str, file: str) -> str | None:
    with small_disk(4096) as disk:
        (disk / file).write_bytes(OLD)
        before = contents(disk)
        with read_only(disk):
            return _judge([*words, option, str(disk / file)], disk, before)


def _judge(words: list[str], disk: Path, before: dict[str, bytes]) -> str | None:
    done = subprocess.run([sys.executable, "-m", "bestk", *words], capture_output=True, text=True)
    said = done.stderr.strip().splitlines()
    if done.returncode != 2:
        return f"exit code {done.returncode}: {done.stderr[-300:]}"
    if not said or "Traceback" in done.stderr or "error:" not in said[-1]:
        return f"no clear error: {done.stderr[-300:]}"
    if "space" not in said[-1] and "Read-only" not in said[-1]:
        return f"the error does not say what is wrong: {said[-1]}"
    return None if contents(disk) == before else f"files changed: {sorted(contents(disk))}"


def _store() -> str | None:
    """A store on a full disk keeps whole lines, and goes on when there is room."""
    with small_disk(128) as disk, TemporaryDirectory() as home:
        path = disk / "jobs.jsonl"
        run = [sys.executable, "-c", STORE]
        done = subprocess.run([*run, path], capture_output=True, text=True)
        if "No space left" not in done.stderr:
            return f"no error on a full disk: {done.stderr[-200:]}"
        moved = Path(home, "jobs.jsonl")
        moved.write_bytes(path.read_bytes())
        done = subprocess.run([*run, moved], capture_output=True, text=True)
        kept = [line for line in moved.read_text().splitlines() if '"key"' in line]
        if done.returncode or len(kept) != 2000 or len(set(kept)) != 2000:
            return f"{len(kept)} lines, {len(set(kept))} different, of 2000"
    return None
