"""Run all methods on one table: prepare, check, then time them in turn."""

from collections.abc import Iterable

from benchmarks.counting.cases import Case
from benchmarks.counting.contenders import Contender, Job
from benchmarks.counting.limits import LIMITS
from benchmarks.counting.onehot import YARDSTICKS
from benchmarks.counting.ours import OURS, SINGLE_COLUMNS, WHOLE_CALL
from benchmarks.counting.peers import PEERS
from benchmarks.counting.record import Row
from benchmarks.timing import REFERENCE, interleave, reference

CONTENDERS: tuple[Contender, ...] = (*OURS, *LIMITS, *PEERS, *YARDSTICKS)
BASES = {c.unit: c for c in (WHOLE_CALL, SINGLE_COLUMNS)}  # whose time is 1


def race(
    case: Case,
    rounds: int,
    budget: float,
    threads: int,
    contenders: Iterable[Contender] = CONTENDERS,
    part: str = "cases",
) -> list[Row]:
    """Time everyone who can run; report everyone who cannot."""
    jobs: dict[Contender, Job] = {}
    notes: dict[Contender, str] = {}
    for contender in contenders:
        try:
            jobs[contender] = contender.make(case, budget)
        except ImportError:
            notes[contender] = "not installed"
        except Exception as error:  # a peer may fail in any way; the run goes on
            notes[contender] = f"failed: {type(error).__name__}: {error}"[:120]
    runs = {contender.name: job.run for contender, job in jobs.items()}
    timings = interleave({**runs, REFERENCE: reference()}, rounds)
    rows = []
    for contender in contenders:
        total = case.n_pairs if contender.unit == "pair" else case.n_features
        row = Row(
            part, case.name, contender.name, contender.kind, contender.version,
            contender.computes, contender.unit, case.n_features, len(case.X),
            contender.threads or threads, note=notes.get(contender, ""),
        )  # fmt: skip
        if contender in jobs:
            job, timing, base = jobs[contender], timings[contender.name], BASES[contender.unit]
            share = job.units / total
            whole = timings[base.name].best * total / jobs[base].units
            row = row.timed(
                units=job.units,
                units_total=total,
                seconds_min=timing.best / share,
                seconds_median=timing.median / share,
                times_bestk=timing.best / share / whole,
                error=job.error,
                reference_ms=1e3 * timings[REFERENCE].best,
                note=_verdict(contender, job),
            )
        rows.append(row)
    return rows


def _verdict(contender: Contender, job: Job) -> str:
    if job.error is None or job.error <= contender.tolerance:
        return ""
    return f"DIFFERS from the definition by {job.error:.2g}"
