"""``python -m hardening.inputs --seconds 600``: inputs of every kind, as long as is wanted."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hardening.record import keep

ROOT = Path(__file__).parents[2]
FAILED = re.compile(r"^FAILED (\S+)", re.MULTILINE)


def run_round(seed: int, examples: int, seconds: float, log: Path) -> tuple[dict, set[str]]:
    """Try each test on so many inputs; its tally, and the tests that failed."""
    with tempfile.TemporaryDirectory() as folder:
        tally = Path(folder, "tally.json")
        settings = {"BESTK_FUZZ_TALLY": str(tally), "BESTK_FUZZ_EXAMPLES": str(examples)}
        command = [sys.executable, "-m", "pytest", "tests/fuzz", "-q", "-n0", "--tb=short",
                   "-p", "no:cacheprovider", "--hypothesis-profile=long",
                   f"--hypothesis-seed={seed}"]  # fmt: skip
        with log.open("a") as out:
            try:
                done = subprocess.run(command, cwd=ROOT, env=os.environ | settings, stdout=out,
                                      stderr=subprocess.STDOUT, timeout=seconds)  # fmt: skip
            except subprocess.TimeoutExpired:
                return {}, {f"seed {seed} hangs"}
        failed = set(FAILED.findall(log.read_text()))
        if done.returncode not in (0, 1):
            failed.add(f"seed {seed} ends with {done.returncode}")
        return (json.loads(tally.read_text()) if tally.exists() else {}), failed


def main() -> None:
    """Rounds of tests until the time is over, and one row for all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 10**6,
                        help="of the first round; by default another each time")  # fmt: skip
    parser.add_argument("--examples", type=int, default=300, help="of each test in a round")
    parser.add_argument("--log", type=Path, default=Path(tempfile.gettempdir(), "inputs.log"))
    chosen = parser.parse_args()
    chosen.log.write_text("")
    start, seed, tried, refused = time.perf_counter(), chosen.seed, 0, 0
    failed: set[str] = set()
    while (spent := time.perf_counter() - start) < chosen.seconds:
        left = 4 * (chosen.seconds - spent) + 600  # a round that is begun is ended, unless it hangs
        tally, broken = run_round(seed, chosen.examples, left, chosen.log)
        tried, refused = tried + tally.get("tried", 0), refused + tally.get("refused", 0)
        failed, seed = failed | broken, seed + 1
    seeds = f"seeds {chosen.seed} to {seed - 1}"
    what = f"calls of the public names, {refused} of them refused with advice; {seeds}"
    keep("inputs", what, tried, len(failed), time.perf_counter() - start)
    print("\n".join(sorted(failed)))


if __name__ == "__main__":
    main()
