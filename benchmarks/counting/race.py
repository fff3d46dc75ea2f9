"""All contenders on one case: made ready, checked, then timed in turn."""

from benchmarks.counting.cases import Case
from benchmarks.counting.contenders import Contender, Job
from benchmarks.counting.limits import LIMITS
from benchmarks.counting.onehot import YARDSTICKS
from benchmarks.counting.ours import COLUMNS, OURS, WHOLE
from benchmarks.counting.peers import PEERS
from benchmarks.counting.record import Row
from benchmarks.counting.timing import interleave

CONTENDERS: tuple[Contender, ...] = (*OURS, *LIMITS, *YARDSTICKS, *PEERS)
SLOW_ROUNDS = 3  # for those that are timed on a sample


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
    ours = {c.name for c in CONTENDERS if c.kind in ("bestk", "limit")}
    quick = {name: job.run for name, job in jobs.items() if name in ours}
    timings = interleave(quick, rounds - min(rounds, SLOW_ROUNDS)) if rounds > SLOW_ROUNDS else {}
    together = interleave({n: j.run for n, j in jobs.items()}, min(rounds, SLOW_ROUNDS))
    for name, timing in together.items():
        timings[name] = timing.join(timings[name]) if name in timings else timing
    base = {
        "pair": timings[WHOLE].best / jobs[WHOLE].units,
        "column": timings[COLUMNS].best / jobs[COLUMNS].units,
    }
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


def _blank(contender: Contender, case: Case, threads: int) -> dict:
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
