"""Cells in processes of one thread each; a line is written to a file as each cell ends."""

import gzip
import json
import multiprocessing
import os
import signal
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from threading import Thread
from time import sleep, time
from typing import Any

from benchmarks.machine import describe_machine
from benchmarks.quality.sets import Entry, catalogue
from benchmarks.quality.tables import JUDGE_SEEDS, NEW_JUDGE_SEEDS
from benchmarks.quality.ways import SLOW

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SLOWEST = 300  # seconds of the processor after which a way is stopped and recorded as failed
FIRST_SEEDS = (0, JUDGE_SEEDS[0], NEW_JUDGE_SEEDS[0])  # real sets have the seed 0
Key = tuple[str, int, int, str]


@dataclass(frozen=True)
class Plan:
    """What to run."""

    out: Path
    sets: tuple[str, ...]
    ways: tuple[str, ...]
    folds: int = 5

    made_folds: int = 1
    """Folds of made-up tables, which have seeds for repeats."""

    repeats: int = 1

    jobs: int = 2
    """Processes of one thread each."""

    seconds: float | None = None
    """No cell starts after this time."""


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Finished cells, from the packed copy if there is no other; lines cut short are left out."""
    if not path.exists() and packed_copy(path).exists():
        path.write_bytes(gzip.decompress(packed_copy(path).read_bytes()))
    return _parse_lines(path.read_text()) if path.exists() else []


def read_packed(path: Path) -> list[dict[str, Any]]:
    """Finished cells of a packed copy, whatever lies beside it."""
    return _parse_lines(gzip.decompress(path.read_bytes()).decode())


def _parse_lines(text: str) -> list[dict[str, Any]]:
    rows = []
    for line in text.splitlines():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def merge_rows(path: Path, others: Sequence[Path]) -> int:
    """Add the cells of other files to the record and its packed copy; returns how many are new."""
    lines_of_record = packed_copy(path) if packed_copy(path).exists() else path
    rows = {key_of(row): row for row in read_any(lines_of_record)}
    n_before = len(rows)
    for other in others:
        for row in read_any(other):
            rows.setdefault(key_of(row), row)
    lines = [json.dumps(row, separators=(",", ":")) + "\n" for row in rows.values()]
    path.write_text("".join(lines))
    _pack(path)
    return len(rows) - n_before


def read_any(path: Path) -> list[dict[str, Any]]:
    """Finished cells of a file, packed or not; none if there is no such file."""
    if not path.exists():
        return []
    return read_packed(path) if path.suffix == ".gz" else _parse_lines(path.read_text())


def _pack(path: Path) -> None:
    packed_copy(path).write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def packed_copy(path: Path) -> Path:
    """The compressed copy that is kept with the results."""
    return path.with_name(path.name + ".gz")


def key_of(row: dict[str, Any]) -> Key:
    """What distinguishes a cell from the others."""
    return row["set"], row["repeat"], row["fold"], row["way"]


def cells(plan: Plan) -> Iterator[tuple[str, int, int]]:
    """Tables and folds: one fold of every table, then the next, so that a part is balanced."""
    for repeat, fold in product(range(plan.repeats), range(plan.folds)):
        for name in plan.sets:
            is_real = not catalogue()[name].family
            if is_real or fold < plan.made_folds:
                yield name, repeat, fold


def _takes_slow(name: str, repeat: int, fold: int) -> bool:
    """Whether slow ways are run: the first fold, and of made-up tables the first seed only."""
    return repeat == fold == 0 and catalogue()[name].seed in FIRST_SEEDS


def run(plan: Plan) -> None:
    """Run all cells that are not in the file yet."""
    plan.out.parent.mkdir(parents=True, exist_ok=True)
    _write_machine(plan.out)
    done = {key_of(row) for row in read_rows(plan.out)}
    _end_last_line(plan.out)
    work = list(_work_to_do(plan, done))
    n_cells = sum(len(item.ways) for item in work)
    print(f"{n_cells} cells to run in {len(work)} folds", flush=True)
    os.environ.update(dict.fromkeys(THREADS, "1"))  # read by the processes as they start
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(plan.jobs, context, _prepare, (os.getpid(),)) as pool:
        for number, text in enumerate(pool.map(run_fold, work), 1):
            print(f"{number}/{len(work)} {text}", flush=True)
    if plan.out.exists():
        _pack(plan.out)


def _work_to_do(plan: Plan, done: set[Key]) -> Iterator["Work"]:
    """The folds of a plan, each with the ways that have not finished it."""
    stop = time() + plan.seconds if plan.seconds else None
    for name, repeat, fold in cells(plan):
        takes_slow = _takes_slow(name, repeat, fold)
        ways = []
        for way in plan.ways:
            is_done = (name, repeat, fold, way) in done
            if not is_done and (takes_slow or way not in SLOW):
                ways.append(way)
        if ways:
            yield Work(name, repeat, fold, tuple(ways), plan.out, stop)


@dataclass(frozen=True)
class Work:
    """Some ways on one fold of a table."""

    name: str
    repeat: int
    fold: int
    ways: tuple[str, ...]
    out: Path
    stop: float | None

    @property
    def late(self) -> bool:
        """Whether no cell may start any more."""
        return self.stop is not None and time() > self.stop


def run_fold(work: Work) -> str:
    """Run the cells of a fold, and append a line for each."""
    from benchmarks.quality.judge import Judge, split
    from benchmarks.quality.sets import load
    from benchmarks.quality.ways import serves

    if work.late:
        return f"{work.name} left: no time"
    start = time()
    problem = load(work.name)
    judge = Judge(problem, split(problem, work.repeat, work.fold))
    about = about_fold(judge, work.repeat, work.fold)
    for way in work.ways:
        if not work.late and serves(way, problem.kind):
            _append(work.out, about | {"way": way} | _run_cell(judge, way))
    return f"{work.name}, repeat {work.repeat}, fold {work.fold}: {time() - start:.0f} s"


def about_fold(judge: Any, repeat: int, fold: int) -> dict[str, Any]:
    """What a row says about the table and the fold."""
    problem = judge.problem
    return {
        "set": problem.name,
        "source": problem.source,
        "half": problem.half,
        "family": problem.family,
        "kind": problem.kind,
        "rows": len(judge.rows.y),
        "few_rows": problem.few_rows,
        "columns": problem.X.shape[1],
        "repeat": repeat,
        "fold": fold,
    }


def _prepare(parent: int) -> None:
    """Ignore warnings of packages about their own use, and end this process with its parent."""
    warnings.simplefilter("ignore")

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _run_cell(judge: Any, way: str) -> dict[str, Any]:
    """The result of a cell, or what went wrong."""
    signal.signal(signal.SIGPROF, _too_slow)
    signal.setitimer(signal.ITIMER_PROF, SLOWEST)
    try:
        return judge.run(way)
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"[:300]}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _too_slow(*_: Any) -> None:
    raise TimeoutError(f"more than {SLOWEST} s")


def _append(path: Path, row: dict[str, Any]) -> None:
    """Write a line at once, so that lines of several processes do not mix."""
    line = (json.dumps(row, separators=(",", ":")) + "\n").encode()
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, line)
    finally:
        os.close(file)


def _end_last_line(path: Path) -> None:
    if path.exists() and path.stat().st_size and not path.read_bytes().endswith(b"\n"):
        with path.open("ab") as file:
            file.write(b"\n")


def _write_machine(path: Path) -> None:
    """Machine, date and commit of a run, beside its rows."""
    path.with_suffix(".machine.json").write_text(json.dumps(asdict(describe_machine())) + "\n")


def choose_sets(half: str, wanted: Sequence[str]) -> tuple[list[Entry], list[str]]:
    """Tables of a half, by name, family or source, and the names of those without a file."""
    available = []
    absent = []
    for entry in catalogue().values():
        is_wanted = not wanted or {entry.name, entry.family, entry.source} & set(wanted)
        if entry.half != half or not is_wanted:
            continue
        if entry.available:
            available.append(entry)
        else:
            absent.append(entry.name)
    return available, absent
