"""Coverage-guided fuzzing: store each new failure, and continue.

Needs atheris: ``pip install atheris``.
"""

import argparse
import json
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from hardening.record import keep


class Trial:
    """Counts inputs, and keeps the first of each fault: one exception from one place."""

    def __init__(self, folder: Path) -> None:
        self.tried, self.faults, self.folder = 0, dict[str, str](), folder
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, act: Callable[[bytes], None], data: bytes) -> None:
        """Try one input; a fault is kept with the bytes that led to it."""
        self.tried += 1
        try:
            act(data)
        except Exception as error:
            place = _place(error)
            if place not in self.faults:
                self.faults[place] = f"{type(error).__name__}: {error}"[:300]
                (self.folder / f"{len(self.faults)}.bin").write_bytes(data)
                (self.folder / f"{len(self.faults)}.txt").write_text(traceback.format_exc())
                print(f"fault {len(self.faults)} at {place}: {self.faults[place]}", flush=True)


def _place(error: Exception) -> str:
    """The exception and the deepest line of ours, whatever the message says."""
    ours = [f for f in traceback.extract_tb(error.__traceback__) if "bestk" in f.filename]
    at = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
    return f"{type(error).__name__} {at}"


def fuzz(name: str, what: str, act: Callable[[bytes], None], seeds: list[bytes]) -> None:
    """Try inputs for some time, led by what they reach, and record the trial."""
    import atheris

    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--corpus", type=Path, default=Path(tempfile.gettempdir(), f"fuzz-{name}"))
    chosen = parser.parse_args()
    corpus = chosen.corpus / "inputs"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (corpus / f"seed{number}").write_bytes(seed)
    trial, start = Trial(chosen.corpus / "faults"), time.perf_counter()

    def one(data: bytes) -> None:
        trial.run(act, data)
        if time.perf_counter() - start > chosen.seconds:  # libFuzzer never returns
            keep(name, what, trial.tried, len(trial.faults), time.perf_counter() - start)
            print(json.dumps(trial.faults, indent=1), flush=True)
            os._exit(0)

    options = [sys.argv[0], str(corpus), "-max_len=4096", "-timeout=60", "-rss_limit_mb=4096",
               f"-artifact_prefix={chosen.corpus}/", "-print_final_stats=1"]  # fmt: skip
    atheris.Setup(options, one)
    atheris.Fuzz()
