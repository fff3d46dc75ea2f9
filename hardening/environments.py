"""The same selections, bit for bit, whatever the threads and the processor.

``python -m hardening.environments`` runs `hardening.golden` in a new process for each number of
threads and each instruction set that this machine has, and compares each bit with the first.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from typing import Any

from bestk.native._library import cpu_levels
from hardening.golden.selections import Record, differences
from hardening.record import keep

QUICK = ("iris", "wine", "breast_cancer", "digits", "diabetes")
ENVIRONMENTS: dict[str, dict[str, str]] = {
    **{
        f"{n} threads": {"OMP_NUM_THREADS": str(n), "OPENBLAS_NUM_THREADS": "2"}
        for n in (1, 2, 3, 8)
    },
    **{f"kernels for {level}": {"BESTK_CPU": level} for level in cpu_levels()},
    "one BLAS thread": {"OPENBLAS_NUM_THREADS": "1"},
    "BLAS of an older processor": {"OPENBLAS_CORETYPE": "Haswell"},
}


def run(changes: dict[str, str], sets: list[str]) -> Record:
    """The record of a new process with these variables."""
    done = subprocess.run(
        [sys.executable, "-m", "hardening.golden", "--print", "--sets", *sets],
        env=os.environ | changes, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout)


def compare(name: str, changes: dict[str, str], sets: list[str], first: Record) -> int:
    """Say what differs, and how many selections do."""
    start = time.perf_counter()
    try:
        found = list(differences(first, run(changes, sets)))
    except RuntimeError as error:
        found = [str(error)]
    for line in found:
        print(f"  {line}")
    count = sum(map(len, first.values()))
    keep("environments", name, count, len(found), time.perf_counter() - start)
    return len(found)


def main() -> int:
    """Run all, or those whose names have one of the words."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(QUICK))
    parser.add_argument("--only", nargs="+", metavar="WORD", help="part of a name")
    options: Any = parser.parse_args()
    first = run({}, options.sets)
    wrong = 0
    for name, changes in ENVIRONMENTS.items():
        if options.only and not any(word in name for word in options.only):
            continue
        wrong += compare(name, changes, options.sets, first)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
