"""Run the benchmark: ``python -m benchmarks.counting [costs] [--quick] [--only CASE] ...``."""

import argparse
import os
import warnings
from pathlib import Path

from benchmarks.counting import extras, laws, plots
from benchmarks.counting.cases import cases
from benchmarks.counting.costs import report_costs
from benchmarks.counting.race import race
from benchmarks.counting.record import Row, table, write_csv
from benchmarks.machine import RESULTS, describe_machine
from benchmarks.timing import REFERENCE
from bestk.native.threads import n_threads

PARTS = (*cases(None, quick=True), "laws", "start")


def main() -> None:
    options = _read_options()
    warnings.simplefilter("ignore")  # what peers have to say is not ours to print
    if options.what == "costs":
        report_costs(options.quick)
        return
    rows, machine = _measure(options), describe_machine()
    print(f"\n{machine}")
    whole = not options.quick and set(options.only) == set(PARTS)
    if options.out is None and not whole:
        print("a part of the benchmark is no record: nothing written (--out FOLDER writes it)")
        return
    path = (options.out or RESULTS) / "counting.csv"
    write_csv(rows, machine, path)
    plots.draw(rows, machine, path)
    print(f"wrote {path}, {path.with_suffix('.png').name}, {path.with_suffix('.svg').name}")


def _measure(options: argparse.Namespace) -> list[Row]:
    """Every part that was asked for, printed as it comes."""
    threads, rounds = n_threads(), options.rounds
    rows: list[Row] = []
    for name, make in cases(options.data, options.quick).items():
        if name in options.only:
            case = make()
            found = race(case, rounds, options.budget, threads)
            print(f"\n{case.title}: {case.shape}\n{_quiet(found)}\n{table(found)}", flush=True)
            if case.raw is not None:
                found += (waits := extras.discretising(case, rounds, threads))
                print(_seconds(waits), flush=True)
            rows += found
    if "laws" in options.only:
        for law in laws.QUICK if options.quick else laws.FULL:
            found = laws.measure(law, rounds, threads)
            print(f"\n{laws.report(law, found)}\n{_quiet(found)}", flush=True)
            rows += found
    if "start" in options.only:
        found = extras.first_calls(rounds)
        print(f"\na new process, imports included\n{_seconds(found)}")
        rows += found
    return rows


def _seconds(rows: list[Row]) -> str:
    return "\n".join(
        f"{row.contender:24}  {row.seconds_min:.3f} s, median {row.seconds_median:.3f}"
        for row in rows
    )


def _quiet(rows: list[Row]) -> str:
    """How busy the machine was, told by a job that never changes."""
    least = [row.reference_ms for row in rows if row.reference_ms]
    return f"{REFERENCE}: {min(least):.1f} to {max(least):.1f} ms"


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.counting", description=__doc__)
    parser.add_argument("what", nargs="?", choices=["run", "costs"], default="run")
    parser.add_argument("--quick", action="store_true", help="small sizes: about a minute")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART",
                        help=f"some of {', '.join(PARTS)}")  # fmt: skip
    parser.add_argument("--data", type=Path, default=os.environ.get("BESTK_DATA") or None,
                        help="folder of the data sets, *.npz (default: BESTK_DATA)")  # fmt: skip
    parser.add_argument("--rounds", type=int, help="how often each job is timed (7; quick: 3)")
    parser.add_argument("--budget", type=float,
                        help="seconds a slow peer may take in a round (1; quick: 0.1)")  # fmt: skip
    parser.add_argument("--out", type=Path, help="folder for CSV and pictures (default: results, "
                        "after a whole run)")  # fmt: skip
    options = parser.parse_args()
    options.rounds = options.rounds or (3 if options.quick else 7)
    options.budget = options.budget or (0.1 if options.quick else 1.0)
    options.data = None if options.data is None else Path(options.data)
    return options


if __name__ == "__main__":
    main()
