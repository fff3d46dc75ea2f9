"""Run the benchmark: ``python -m benchmarks.solvers [--quick] [--only PART ...] ...``."""

import warnings

from benchmarks.machine import describe_machine
from benchmarks.solvers import costs, information, instances, peers, plots, sdp, simulation, wide
from benchmarks.solvers.measure import warm_up, work
from benchmarks.solvers.options import Options, read_options
from benchmarks.solvers.record import Ledger, Row
from benchmarks.solvers.verdict import sound
from benchmarks.timing import REFERENCE

PARTS = {
    part.PART: part for part in (simulation, instances, information, wide, peers, sdp, costs)
}  # fmt: skip
TESTED = (
    "all solvers against brute force, exact against HiGHS: tests/solvers",
    "sdp against a conic solver at n <= 100: tests/solvers/test_sdp.py",
    "bad input and Ctrl-C: tests/test_problem.py, tests/solvers",
)


def main() -> None:
    options = read_options(tuple(PARTS), __doc__)
    warnings.simplefilter("ignore")  # what peers have to say is not ours to print
    machine, path = describe_machine(), options.out / "solvers.csv"
    ledger = Ledger(path, machine, options.only if options.fresh else ())
    print(f"{machine}\n{ledger.path}: {len(ledger.rows)} rows so far", flush=True)
    warm_up()
    for name in options.only:
        work(PARTS[name].jobs(options), ledger)
    written = plots.draw(ledger.rows, machine, options.out)
    print(f"\n{summary(ledger.rows, options)}")
    print(f"\nwrote {ledger.path} and {', '.join(path.name for path in written)} (PNG, SVG)")


def summary(rows: list[Row], options: Options) -> str:
    """Every claim with what was measured."""
    verdicts = [
        *simulation.claims(rows),
        *instances.claims(rows, options),
        *information.claims(rows, options),
        *wide.claims(rows, options),
        *peers.claims(rows),
        *sdp.claims(rows, options),
        *costs.claims(rows),
        sound(rows),
    ]
    size = "quick sizes: no record, and not the sizes that the claims are about\n"
    least = [row.reference_ms for row in rows]
    return "\n".join(
        [
            *([size] if options.quick else []),
            *map(str, verdicts),
            *(f"[by the tests] {text}" for text in TESTED),
            f"\ntime grows with n, at k = n/10, as a power: {simulation.growth(rows)}",
            f"\nthe gap that time buys, in percent\n{information.gap_table(rows)}",
            f"\n{REFERENCE}: {min(least, default=0):.1f} to {max(least, default=0):.1f} ms",
        ]
    )


if __name__ == "__main__":
    main()
