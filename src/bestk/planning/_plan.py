"""The plan of a selection: what will be done, what it takes, and why."""

from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any

from bestk._choose_k import AUTO, count_folds, numbers_to_try, refuse_auto
from bestk._memory import machine_memory
from bestk.methods import Effort, Quadratic, get_method
from bestk.planning._memory import Memory, in_words, memory_of
from bestk.planning._pace import Pace
from bestk.planning._path import Path, choose_path
from bestk.planning._seconds import Seconds, seconds_here, seconds_on_gpu, seconds_on_workers
from bestk.planning._shape import Shape
from bestk.planning._work import columns_made, pairs_counted
from bestk.reading import LARGEST_BLEND
from bestk.solvers._registry import get_solver
from bestk.streaming._memory import bytes_of_codes, bytes_of_counts

TIMED = ("forward", "swap", "tpower", "linear", "search", "auto")  # solvers whose time is known


@dataclass(frozen=True)
class Plan:
    """What a selection will do and take; nothing of it is done yet."""

    shape: Shape
    k: int
    method: str
    path: Path
    reason: str
    pairs: int  # that are counted
    memory: Memory
    available: float  # bytes of memory that the machine has
    here: Seconds
    gpu: Seconds | None  # an H200; None where one does not help or does not hold the table
    workers: int | None
    on_workers: Seconds | None
    notes: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Whether the machine has the memory."""
        return self.memory.total <= self.available

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        gpu, far = self.gpu, self.on_workers
        return {
            **{name: getattr(self.shape, name) for name in ("rows", "columns", "classes")},
            "rows_are_estimated": self.shape.is_estimate,
            "k": self.k,
            "method": self.method,
            "information": self.path.information,
            "path": {"rows": self.path.rows, "pairs": self.path.pairs, "name": self.path.name},
            "reason": self.reason,
            "pairs": self.pairs,
            "memory": self.memory.to_dict() | {"available": self.available, "fits": self.fits},
            "seconds": {
                "here": self.here.to_dict(),
                "gpu": None if gpu is None else gpu.to_dict(),
                "workers": None if far is None else far.to_dict() | {"count": self.workers},
            },
            "shape": asdict(self.shape),
            "notes": list(self.notes),
        }


def make_plan(
    shape: Shape, selector: Any, *, workers: int | None = None, pace: Pace | None = None
) -> Plan:
    """What ``selector.fit`` will do with a table of some shape, and what it will take.

    Parameters
    ----------
    shape : Shape
        Of the table.
    selector : SelectBestK
        With the options that will be used.
    workers : int, default=None
        Workers of a cluster, of one core each, to estimate for.
    pace : Pace, default=None
        The speed of the machine; by default it is measured, which takes under a second once
        kernels are compiled.

    Returns
    -------
    Plan

    Examples
    --------
    >>> from bestk import SelectBestK
    >>> plan = make_plan(Shape(1000, 1_000_000, item_bytes=1), SelectBestK(100, "jmi"))
    >>> plan.path.name, plan.pairs
    ('columns of pairs on demand', 99000000)
    >>> plan.memory.table, plan.memory.matrix
    (1000000000, 0)
    """
    if shape.in_blocks:
        refuse_auto(selector.k)
    method, k = selector.method, count(selector.k, shape.columns)
    path = choose_path(shape, selector)
    pace = pace or Pace.measure(shape, path, selector)
    here = seconds_here(shape, path, selector, k, pace)
    if selector.k == AUTO:
        folds = count_folds(selector.cv, shape.rows)
        here = here.times(folds)  # a selection of all rows, and one of most of them in each fold
    far = None if workers is None else seconds_on_workers(shape, path, workers, here, pace)
    return Plan(
        shape, k, method if isinstance(method, str) else repr(method), path,
        explain(shape, path, selector, k), pairs_counted(shape, path, method, k),
        memory_of(shape, path, method, k), machine_memory(),
        here, seconds_on_gpu(shape, path, selector, k, here), workers, far,
        tuple(_notes(shape, path, selector, workers, far)),
    )  # fmt: skip


def count(k: float | str, n: int) -> int:
    """How many features k means, of n; "auto": the most that are tried."""
    if isinstance(k, str):
        return numbers_to_try(n)[-1]
    wanted = int(k) if isinstance(k, Integral) else max(1, round(float(k) * n))
    if wanted > n:
        raise ValueError(f"k={wanted} is more than the {n} columns to select from")
    return wanted


def explain(shape: Shape, path: Path, selector: Any, k: int) -> str:
    """Why a path is taken, in a sentence or two."""
    n, method = shape.columns, get_method(selector.method)
    size, room = in_words(8 * n * n), in_words(Effort().memory)
    if path.pairs == "none":
        why = "it needs no pairs of features"
    elif not isinstance(method, Quadratic):
        why = f"it is greedy, and counts one column of {n:,} pairs after each pick"
    elif path.pairs == "columns":
        reason = f"over the {room} it may take" if 8 * n * n > Effort().memory else "of little use"
        asked = f"about {columns_made(method, n, k):,} columns are asked for"
        why = (
            f"a matrix of {n:,} x {n:,} pairs is {size}, {reason}; {asked}, and no bound is proved"
        )
    elif get_solver(method.solver).needs != "columns":
        why = f"solver {get_solver(method.solver).name!r} needs all pairs, {size}"
    else:
        why = f"all pairs are {size}, within the {room} that a matrix may take"
    return why if path.rows == "table" else f"{_why_blocks(shape, path)}; {why}"


def _why_blocks(shape: Shape, path: Path) -> str:
    if path.rows == "sums":
        return "rows are read in blocks and added up"
    planes = shape.planes(path.counted[0])
    counts = in_words(bytes_of_counts(planes, shape.classes))
    codes = in_words(bytes_of_codes(shape.rows, shape.columns, planes))
    return f"rows are read in blocks, of which counts would keep {counts} and codes {codes}"


def _notes(shape: Shape, path: Path, selector: Any, workers: int | None, far: Any) -> list[str]:
    notes = []
    if selector.k == AUTO:
        folds = count_folds(selector.cv, shape.rows)
        notes.append(
            f"the number of features is chosen by cross-validation in {folds} folds, which takes "
            "most of the time"
        )
    method = get_method(selector.method)
    solver = get_solver(method.solver).name if isinstance(method, Quadratic) else ""
    if solver and solver not in TIMED and not selector.time_limit:
        notes.append(f"how long solver {solver!r} takes depends on the numbers, and is left out")
    if selector.bound == "tight" and path.pairs == "matrix":
        notes.append("the time of a tight bound depends on the numbers, and is left out")
    if path.information == "blend" and not path.covariances and shape.numeric:
        notes.append(f"over {LARGEST_BLEND:,} values: one estimate is counted, none averaged")
    if path.rows in ("counts", "codes") and shape.numeric:
        notes.append("cut points of numbers are found in a sample of the rows")
    if workers and far is None:
        notes.append("workers need dask and distributed: pip install 'bestk[dask]'")
    return notes
