"""kill -9 while results are made: a later start goes on, and nothing is lost or doubled."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

OUT = "FOLDER"  # stands for where results go
LONG = {
    "paper": ("experiments", "--quick", "--only", "classification/promoter", "--out", OUT),
    "bench": ("benchmarks.quality", "run", "--sets", "credit", "--ways", "default", "mrmr", "jmi",
              "tpower", "f_classif", "--out", f"{OUT}/rows.jsonl"),
}  # fmt: skip
TIMED = ("seconds", "time", "times", "selecting", "judging")  # of a result, which no two runs share


def trials(rounds: int, seed: int) -> Iterator[tuple[str, str | None]]:
    """Kill each program so often, then let it end, and compare with one that was left alone."""
    moments = random.Random(seed)
    for name, words in LONG.items():
        with TemporaryDirectory() as home:
            whole, broken = Path(home, "whole"), Path(home, "broken")
            whole.mkdir(), broken.mkdir()
            start = time.perf_counter()
            _wait(_start(words, whole))
            seconds = time.perf_counter() - start
            for _ in range(rounds):
                moment = moments.uniform(0.1 * seconds, 0.5 * seconds)
                yield f"{name} after {moment:.1f} s", _kill(_start(words, broken), moment)
            _wait(_start(words, broken))
            yield f"{name}, ended", _compare(_jobs(whole), _jobs(broken))


def _start(words: tuple[str, ...], out: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", *(word.replace(OUT, str(out)) for word in words)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


def _wait(process: subprocess.Popen[bytes]) -> None:
    if process.wait(timeout=1800):
        raise RuntimeError(f"exit code {process.returncode} of {process.args}")


def _kill(process: subprocess.Popen[bytes], moment: float) -> str | None:
    time.sleep(moment)
    with suppress(ProcessLookupError):  # it has ended
        os.killpg(process.pid, signal.SIGKILL)  # its workers with it
    process.wait()
    return None


def _jobs(folder: Path) -> list[dict[str, Any]]:
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.open()]
    entries = [json.loads(line) for line in lines]
    cells = [{"key": [e["set"], e["fold"], e["way"]], "result": e} for e in entries if "way" in e]
    return [entry for entry in entries if "key" in entry] + cells


def _compare(whole: list[dict[str, Any]], broken: list[dict[str, Any]]) -> str | None:
    keys = Counter(tuple(entry["key"]) for entry in broken)
    if not whole or set(keys) != {tuple(entry["key"]) for entry in whole}:
        return f"{len(keys)} jobs after the kills, {len(whole)} without"
    if twice := [key for key, count in keys.items() if count > 1]:
        return f"done twice: {twice}"
    expected = {tuple(entry["key"]): _untimed(entry["result"]) for entry in whole}
    other = [e["key"] for e in broken if _untimed(e["result"]) != expected[tuple(e["key"])]]
    return f"other results: {other}" if other else None


def _untimed(result: Any) -> Any:
    """A result without its times."""
    if isinstance(result, dict):
        return {k: _untimed(v) for k, v in result.items() if k not in TIMED}
    return [_untimed(each) for each in result] if isinstance(result, list) else result
