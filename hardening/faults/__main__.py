"""Inject faults and check the results: ``python -m hardening.faults [--only disk ...]``."""

import argparse
import sys
import time
from collections.abc import Iterator
from functools import partial

from hardening.faults import cluster, disk, interrupted, killed, memory
from hardening.record import keep


def main() -> int:
    """Run the trials, print each, keep a row for each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = ("disk", "interrupted", "killed", "memory", "cluster")
    parser.add_argument("--only", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--rounds", type=int, default=5, help="of what is done at random moments")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    at_random = {"interrupted": interrupted, "killed": killed, "cluster": cluster}
    plain = {"disk": disk, "memory": memory}
    wrong = 0
    for kind in options.only:
        if kind in plain:
            trials = plain[kind].trials
        else:
            trials = partial(at_random[kind].trials, options.rounds, options.seed)
        wrong += _run(kind, trials())
    return int(wrong > 0)


def _run(kind: str, trials: Iterator[tuple[str, str | None]]) -> int:
    start, tried, failed = time.perf_counter(), 0, 0
    for name, problem in trials:
        tried += 1
        failed += problem is not None
        print(f"  {kind}: {name}: {problem or 'as it should be'}", flush=True)
    keep("faults", kind, tried, failed, time.perf_counter() - start)
    return failed


if __name__ == "__main__":
    sys.exit(main())
