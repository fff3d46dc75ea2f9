"""Run the benchmark: ``python -m benchmarks.selectors [--quick] [--only CASE ...] ...``."""

import warnings
from time import perf_counter
from types import ModuleType

from benchmarks.machine import RESULTS, describe_machine
from benchmarks.selectors import against_peers, against_sklearn, curve, every_method, growth, plots
from benchmarks.selectors.options import Options, read_options
from benchmarks.selectors.record import Row, quietness, table, write_csv

PARTS: dict[str, ModuleType] = {
    part.PART: part for part in (against_peers, every_method, against_sklearn, curve, growth)
}
CLAIMS = (against_peers, every_method, against_sklearn, curve)


def main() -> None:
    options = read_options(tuple(PARTS), __doc__)
    warnings.simplefilter("ignore")  # what peers have to say is not ours to print
    rows: list[Row] = []
    for name in options.only:
        start = perf_counter()
        found = PARTS[name].measure(options)
        print(f"\n{name}, {perf_counter() - start:.0f} s\n{_shown(name, found)}\n", flush=True)
        rows += found
    machine = describe_machine()
    print(summary(rows, options))
    print(f"\n{machine}")
    if options.out is None and options.quick:
        print("quick sizes are no record: nothing written (--out FOLDER writes it)")
        return
    path = (options.out or RESULTS) / "selectors.csv"
    plots.draw(write_csv(rows, machine, path), machine, path)
    print(f"wrote {path}, {path.with_suffix('.png').name}, {path.with_suffix('.svg').name}")


def summary(rows: list[Row], options: Options) -> str:
    """Every claim with what was measured, and how busy the machine was."""
    size = ["quick sizes: not those that the claims are about"] if options.quick else []
    verdicts = [str(found) for part in CLAIMS for found in part.claims(rows)]
    return "\n".join([*size, *verdicts, quietness(rows)])


def _shown(name: str, rows: list[Row]) -> str:
    if name == growth.PART:
        return growth.report(rows)
    cases = dict.fromkeys(row.case for row in rows)
    return "\n".join(f"{case}\n{table(r for r in rows if r.case == case)}" for case in cases)


if __name__ == "__main__":
    main()
