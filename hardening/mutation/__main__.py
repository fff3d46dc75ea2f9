"""Put faults into the code one at a time and see whether the tests notice.

    python -m hardening.mutation --minutes 60 --seed 0    try a sample, on from where it stopped
    python -m hardening.mutation --again                  all related tests for the survivors
    python -m hardening.mutation --report                 outcomes by module, and the survivors

Needs cosmic-ray. A copy of the repository in ``--folder`` is changed, never the repository. The
first run has the tests nearest to a module, few random examples each; ``--again`` all related ones.
"""

import argparse
import os
import time
import traceback
from collections import Counter
from pathlib import Path
from tempfile import gettempdir

from hardening.mutation import record, sample, targets
from hardening.mutation.worker import Worker, prepare

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Run what the options ask for."""
    options = _options()
    if options.report:
        record.tidy(lambda key: _line(ROOT, key))
        print(record.report())
        return
    base = prepare(options.tree, options.folder)
    mutants = _survivors(base) if options.again else _untried(base, options)
    print(f"{len(mutants)} faults to try", flush=True)
    until = time.monotonic() + 60 * options.minutes
    children = [
        _fork(base, options, number, mutants[number :: options.workers], until)
        for number in range(options.workers)
    ]
    for child in children:
        os.waitpid(child, 0)


def _untried(base: Path, options: argparse.Namespace) -> list[sample.Mutant]:
    names = [n for n in targets.modules(base) if options.only in n]
    done = record.read()
    drawn = sample.draw(base, names, options.per_module, options.seed)
    tried = Counter(module for module, *_ in done)  # the least tried come first
    untried = [mutant for mutant in drawn if mutant.key not in done]
    return sorted(untried, key=lambda mutant: tried[mutant.module])


def _line(tree: Path, key: record.Key) -> str | None:
    mutant = sample.recall(tree, key)
    return None if mutant is None else str(mutant.line)


def _survivors(base: Path) -> list[sample.Mutant]:
    rows = [row for row in record.read().values() if row.outcome == "survived"]
    found = [sample.recall(base, row.key) for row in rows]
    return [mutant for mutant in found if mutant is not None]


def _fork(
    base: Path, options: argparse.Namespace, number: int, mutants: list[sample.Mutant], until: float
) -> int:
    child = os.fork()
    if child == 0:
        try:
            folder = options.folder / f"worker-{number}"
            Worker(base, folder, nearest=not options.again).work(mutants, until)
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(0)
    return child


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m hardening.mutation", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--per-module", type=int, default=8)
    parser.add_argument("--only", default="", help="modules whose path has this in it")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tree", type=Path, default=ROOT, help="the repository to copy")
    parser.add_argument("--folder", type=Path, default=Path(gettempdir()) / "bestk-mutation")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--report", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
