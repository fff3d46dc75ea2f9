"""Which features predict best: ``python -m benchmarks.quality [--quick] [--only SET ...] ...``."""

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import RESULTS
from benchmarks.quality.options import Options, read_options
from benchmarks.quality.plan import PART, QUICK_FOLDS, Plan, forget, jobs, missing_peers
from experiments.jobs import total_cost, work
from experiments.store import Store

PAGE = Path(__file__).parents[2] / "docs" / "quality.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for and not done yet, and write the report."""
    options = read_options(arguments, __doc__)
    if options.missing:
        print(f"not in {options.data or 'any folder'}, left out: {', '.join(options.missing)}")
    if "folds" in options.parts:
        judge(options)
    if "times" in options.parts:
        from benchmarks.quality.times import measure

        measure(options)
    if "report" in options.parts:
        from benchmarks.quality.report import write_report

        page = PAGE if options.out == RESULTS else options.out / PAGE.name
        write_report(options.out, page, options.quick)
        print(f"wrote {page} and the tables and figures in {options.out}")
    return 0


def judge(options: Options) -> None:
    """Errors in folds: say what is to be done and how long it may take; do it."""
    absent = missing_peers(options.methods)
    for name, package in absent.items():
        print(f"{name} is left out: {package} is not installed (pip install {package})")
    names = tuple(name for name in options.methods if name not in absent)
    plan = Plan(options.sets, names, options.data)
    if options.quick:
        plan = Plan(options.sets, names, options.data, QUICK_FOLDS, 1)
    path = options.out / f"{PART}.jsonl"
    forget(path, options.again)
    store = Store(path)
    todo = list(jobs(plan, store))
    minutes = total_cost(todo, store) / 60 / options.jobs
    print(f"{len(todo)} jobs to do, about {minutes:.0f} min on {options.jobs} cores; {store.path}",
          flush=True)  # fmt: skip
    work(todo, store, options.jobs)
    store.pack()


if __name__ == "__main__":
    sys.exit(main())
