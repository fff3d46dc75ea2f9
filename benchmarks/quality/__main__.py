"""Compare selected features by error: ``python -m benchmarks.quality run|merge|limits|report``.

run: select and score what the record lacks; merge: add the cells of other files to the record;
limits: what ways that know more than the table reach; report: write the page.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import RESULTS
from benchmarks.quality.reads import note_read
from benchmarks.quality.runs import Plan, choose_sets, merge_rows, run
from benchmarks.quality.ways import DEFAULT, RUNNABLE, missing_package

PAGE = Path(__file__).parents[2] / "docs" / "quality.md"
ROWS = RESULTS / "quality.jsonl"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("task", choices=["run", "merge", "limits", "report"])
    parser.add_argument("--half", choices=["tune", "judge"], default="judge")
    ways = {"default": list(RUNNABLE), "choices": RUNNABLE, "metavar": "WAY"}
    parser.add_argument("--ways", nargs="+", **ways)
    parser.add_argument("--sets", nargs="+", default=[], help="names, families or sources")
    parser.add_argument("--folds", type=int, default=5, choices=range(1, 6), metavar="1..5")
    parser.add_argument("--made-folds", type=int, default=1, choices=range(1, 4), metavar="1..3")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, help="start nothing after this time")
    parser.add_argument("--out", type=Path, default=ROWS, help="file of results, JSON lines")
    parser.add_argument("--merged", nargs="+", type=Path, default=[], help="files to add")
    parser.add_argument("--data", help="folder of the paper's sets (default: BESTK_DATA)")
    parser.add_argument("--data2", help="folder of the other sets (default: BESTK_DATA2)")
    parser.add_argument("--page", type=Path, default=PAGE)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Do the task."""
    options = parse(arguments)
    folders = {"BESTK_DATA": options.data, "BESTK_DATA2": options.data2}
    os.environ.update({name: folder for name, folder in folders.items() if folder})
    if options.task == "report":
        from benchmarks.quality.report import write_report

        write_report(options.out, options.page)
    elif options.task == "limits":
        from benchmarks.quality.limits import write_limits

        write_limits(RESULTS, options.jobs)
    elif options.task == "merge":
        print(f"{merge_rows(options.out, options.merged)} new cells")
    else:
        run(plan_of(options))
    return 0


def plan_of(options: argparse.Namespace) -> Plan:
    """What to run of what was asked for; says what is left out, and records a read of judge."""
    entries, absent = choose_sets(options.half, options.sets)
    if absent:
        print(f"left out, no file: {', '.join(absent)}")
    ways = []
    for way in options.ways:
        package = missing_package(way)
        if package is None:
            ways.append(way)
        else:
            print(f"left out, not installed: {way} (pip install {package})")
    if options.half == "judge" and DEFAULT in ways:
        sources = dict.fromkeys(entry.source for entry in entries)
        note_read(f"{len(entries)} tables ({', '.join(sources)})")
    return Plan(
        out=options.out,
        sets=tuple(entry.name for entry in entries),
        ways=tuple(ways),
        folds=options.folds,
        made_folds=options.made_folds,
        repeats=options.repeats,
        jobs=options.jobs,
        seconds=options.seconds,
    )


if __name__ == "__main__":
    sys.exit(main())
