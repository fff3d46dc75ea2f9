"""The paper's experiments, every table and figure: ``python -m experiments [--quick] ...``."""

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import describe_machine
from experiments import discretisation
from experiments.classification import plan as classification
from experiments.classification.methods import FEW_DRAWS
from experiments.jobs import Job, total_cost, work
from experiments.options import RESULTS, Options, read_options
from experiments.store import Store

PAGE = Path(__file__).parents[1] / "docs" / "paper.md"
QUICK_STEP, QUICK_FOLDS = 10, 3  # k = 10, 20, ...; the first folds of each set


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for and not done yet, and write the report."""
    options = read_options(arguments, __doc__)
    if not options.sets and options.parts != ("report",):
        where = options.data or "any folder: name one with --data or BESTK_DATA"
        print(f"no data set of the paper in {where}", file=sys.stderr)
        return 2
    print(
        f"parts: {', '.join(options.parts)}; protocols: {', '.join(options.protocols)}\n"
        f"data: {options.data}; sets: {', '.join(options.sets) or 'none'}"
        f"{'; left out: ' + ', '.join(options.missing) if options.missing else ''}\n"
        f"results: {options.out}; processes: {options.jobs}; on {describe_machine()}",
        flush=True,
    )
    if "classification" in options.parts:
        classify(options)
    if "discretisation" in options.parts:
        discretise(options)
    if "simulation" in options.parts:
        from experiments.simulation import simulate

        simulate(options.out, options.quick)
    if "report" in options.parts:
        report(options)
    return 0


def classify(options: Options) -> None:
    """The test of classification, by all protocols."""
    plan = classification.Plan(
        options.sets,
        options.data,
        options.protocols,
        step=QUICK_STEP if options.quick else 1,
        folds=QUICK_FOLDS if options.quick else None,
        draws=FEW_DRAWS if options.quick else None,
    )
    run("classification", list(classification.jobs(plan)), options)


def discretise(options: Options) -> None:
    """The study of discretisation."""
    folds = QUICK_FOLDS if options.quick else discretisation.FOLDS
    plan = discretisation.Plan(options.sets, options.data, folds)
    run(discretisation.PART, list(discretisation.jobs(plan)), options)


def run(name: str, jobs: list[Job], options: Options) -> None:
    """Say what is to be done and how long it may take; do it."""
    store = Store(options.out / f"{name}.jsonl")
    jobs = list({job.key: job for job in jobs}.values())  # protocols share selections
    left = sum(job.key not in store for job in jobs)
    minutes = total_cost(jobs, store) / 60 / options.jobs
    print(f"{name}: {left} of {len(jobs)} jobs to do, about {minutes:.0f} min on {options.jobs} "
          f"cores; {store.path}", flush=True)  # fmt: skip
    work(jobs, store, options.jobs)
    store.pack()


def report(options: Options) -> None:
    """Tables, figures and the page; the page of the documentation only from the full results."""
    from experiments.report import write_report

    page = PAGE if options.out == RESULTS else options.out / "paper.md"
    write_report(options.out, page, options.data, options.quick)
    print(f"wrote {page} and the tables and figures in {options.out}")


if __name__ == "__main__":
    sys.exit(main())
