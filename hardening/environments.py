"""The same selections, bit for bit, whatever the threads, the layer and the processor.

``python -m hardening.environments`` runs `hardening.golden` in a new process for each way in
which kernels can be compiled and run, and compares each bit with the first. Kernels are compiled
anew for every way that changes them.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from hardening.golden.selections import Record, differences
from hardening.record import keep

QUICK = ("iris", "wine", "breast_cancer", "digits", "diabetes")
SAME_CODE: dict[str, dict[str, str]] = {
    **{f"{n} threads": {"NUMBA_NUM_THREADS": str(n)} for n in (1, 2, 3, 8)},
    "layer omp, 3 threads": {"NUMBA_THREADING_LAYER": "omp", "NUMBA_NUM_THREADS": "3"},
    "layer workqueue, 3 threads": {"NUMBA_THREADING_LAYER": "workqueue", "NUMBA_NUM_THREADS": "3"},
    "one BLAS thread": {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
}
OTHER_CODE: dict[str, dict[str, str]] = {
    "bounds checked": {"NUMBA_BOUNDSCHECK": "1"},
    "a generic processor": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    "AVX2, no AVX-512": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ""},
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
    for name, changes in (SAME_CODE | OTHER_CODE).items():
        if options.only and not any(word in name for word in options.only):
            continue
        with tempfile.TemporaryDirectory() as cache:
            fresh = {"NUMBA_CACHE_DIR": cache} if name in OTHER_CODE else {}
            wrong += compare(name, changes | fresh, options.sets, first)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
