import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def start(data, out, jobs=1):
    options = [
        "--jobs",
        str(jobs),
        "--quick",
        "--only",
        "classification",
        "--data",
        str(data),
        "--out",
        str(out),
    ]
    return subprocess.Popen(
        [sys.executable, "-m", "experiments", *options],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def lines(out):
    path = out / "classification.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def plain(line):
    """A stored line without what differs from run to run."""
    entry = json.loads(line)
    if isinstance(entry["result"], dict):
        for name in ("seconds", "selecting"):
            entry["result"].pop(name, None)
    return entry


def rows(out):
    found = [plain(line) for line in lines(out) if '"key"' in line]
    return sorted(found, key=lambda entry: entry["key"])


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_after_kill_9_a_second_start_does_the_rest_and_nothing_twice(tmp_path, write_set):
    write_set(tmp_path / "data", "promoter")
    killed = start(tmp_path / "data", tmp_path / "out", jobs=2)
    patience = time.monotonic() + 60
    while len(lines(tmp_path / "out")) < 5 and time.monotonic() < patience:
        time.sleep(0.02)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    killed.stdout.close()
    before = [line for line in lines(tmp_path / "out") if '"key"' in line]
    with (tmp_path / "out" / "classification.jsonl").open("a") as file:
        file.write('{"key":["classification","promoter"')  # as if cut short

    second = start(tmp_path / "data", tmp_path / "out")
    text, _ = second.communicate(timeout=120)
    assert second.returncode == 0, text
    after = [line for line in lines(tmp_path / "out") if '"key"' in line]
    assert 3 <= len(before) < len(after)
    assert after[: len(before)] == before
    keys = [tuple(json.loads(line)["key"]) for line in after]
    assert len(set(keys)) == len(keys) == 54
    assert f"{54 - len(before)} of 54 jobs to do" in text

    third = start(tmp_path / "data", tmp_path / "whole")
    text, _ = third.communicate(timeout=120)
    assert third.returncode == 0, text
    assert rows(tmp_path / "whole") == rows(tmp_path / "out")
