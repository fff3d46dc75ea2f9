"""The methods that are compared: name and timed function."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.counting.cases import Case
from benchmarks.counting.contenders import Contender
from benchmarks.selectors.options import Options
from benchmarks.selectors.record import Row
from benchmarks.timing import REFERENCE, Timing, interleave, reference
from bestk.methods.greedy import Criterion

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Check:
    """What somebody picked, and the criterion by which it should have been picked."""

    criterion: Criterion
    n_features: int  # the first columns of the table, from which it was picked
    picks: Callable[[], Indices]  # best first


@dataclass(frozen=True)
class Job:
    """A selector on a table, ready to be timed."""

    run: Callable[[], Any]
    share: float = 1.0  # of the whole work
    check: Check | None = None
    note: str = ""


@dataclass(frozen=True)
class Selector(Contender):
    """Someone who can select k features."""

    make: Callable[[Case, int, Options], Job]


def race(
    part: str, case: Case, k: int, selectors: Iterable[Selector], rounds: int, options: Options
) -> tuple[list[Row], dict[str, Job]]:
    """Time everyone who can run, in turn; report everyone who cannot."""
    jobs: dict[str, Job] = {}
    notes: dict[str, str] = {}
    selectors = list(selectors)
    for selector in selectors:
        try:
            jobs[selector.name] = selector.make(case, k, options)
        except ImportError as error:
            notes[selector.name] = f"not installed: {error.name}"
        except Exception as error:  # a peer may fail in any way; the run goes on
            notes[selector.name] = _failure(error)
    runs = {name: _guarded(job.run, name, notes) for name, job in jobs.items()}
    timings = interleave({**runs, REFERENCE: reference()}, rounds)
    rows = []
    for selector in selectors:
        name = selector.name
        row = Row(
            part, case.name, name, selector.kind, selector.version, str(k),
            case.n_features, len(case.X), note=notes.get(name, ""),
        )  # fmt: skip
        rows.append(row if name in notes else timed(row, timings, jobs[name]))
    return rows, jobs


def _guarded(run: Callable[[], Any], name: str, notes: dict[str, str]) -> Callable[[], None]:
    """The run, whose failure is noted and ends nobody else's."""

    def go() -> None:
        try:
            run()
        except Exception as error:
            notes[name] = _failure(error)

    return go


def _failure(error: Exception) -> str:
    return f"failed: {type(error).__name__}: {error}"[:120]


def timed(row: Row, timings: dict[str, Timing], job: Job) -> Row:
    """The row with the time of the whole work."""
    found = timings[row.contender]
    return replace(
        row,
        seconds_min=found.best / job.share,
        seconds_median=found.median / job.share,
        share=job.share,
        reference_ms=1e3 * timings[REFERENCE].best,
        note=job.note,
    )
