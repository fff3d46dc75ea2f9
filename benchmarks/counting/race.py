"""All contenders on one case: made ready, checked, then timed in turn."""

from typing import Any

from benchmarks.counting.cases import Case
from benchmarks.counting.contenders import Contender, Job
from benchmarks.counting.limits import LIMITS
from benchmarks.counting.onehot import YARDSTICKS
from benchmarks.counting.ours import OURS, SINGLE_COLUMNS, WHOLE_CALL
from benchmarks.counting.peers import PEERS
from benchmarks.counting.record import Row
from benchmarks.counting.timing import interleave

CONTENDERS: tuple[Contender, ...] = (*OURS, *LIMITS, *YARDSTICKS, *PEERS)


def race(case: Case, rounds: int, budget: float, threads: int) -> list[Row]:
    """Time everyone who can run; report everyone who cannot."""
    jobs: dict[str, Job] = {}
    notes: dict[str, str] = {}
    for contender in CONTENDERS:
        try:
            jobs[contender.name] = contender.make(case, budget)
        except ImportError:
            notes[contender.name] = "not installed"
        except Exception as error:  # a peer may fail in any way; the run goes on
            notes[contender.name] = f"failed: {type(error).__name__}: {error}"[:120]
    timings = interleave({name: job.run for name, job in jobs.items()}, rounds)
    base = {c.unit: timings[c.name].best / jobs[c.name].units for c in (WHOLE_CALL, SINGLE_COLUMNS)}
    rows = []
    for contender in CONTENDERS:
        of = case.n_pairs if contender.unit == "pair" else case.n_features
        row = _blank(contender, case, threads) | {"note": notes.get(contender.name, "")}
        if contender.name in jobs:
            job, timing = jobs[contender.name], timings[contender.name]
            row |= {
                "units": job.units,
                "of": of,
                "best": timing.best * of / job.units,
                "median": timing.median * of / job.units,
                "times_bestk": timing.best / job.units / base[contender.unit],
                "error": job.error,
                "note": _verdict(contender, job),
            }
        rows.append(Row(**row))
    return rows


def _blank(contender: Contender, case: Case, threads: int) -> dict[str, Any]:
    return {
        "part": "cases",
        "case": case.name,
        "contender": contender.name,
        "kind": contender.kind,
        "version": contender.version,
        "computes": contender.computes,
        "unit": contender.unit,
        "n_features": case.n_features,
        "n_samples": len(case.X),
        "threads": contender.threads or threads,
    }


def _verdict(contender: Contender, job: Job) -> str:
    if job.error is None or job.error <= contender.tolerance:
        return ""
    return f"DIFFERS from the definition by {job.error:.2g}"
