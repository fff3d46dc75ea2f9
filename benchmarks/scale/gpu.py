"""Time the torch backend on a GPU: ``python -m benchmarks.scale.gpu [--quick]``.

Each part appends rows to ``benchmarks/results/gpu.csv`` and the picture beside it is drawn anew.

``products`` times bare products of planes, the whole n x n of them and the tiles above the
diagonal alone, and the matrix of pairs: counts, look-ups, entropies, measure, both halves
written, left on the GPU. ``streamed`` keeps row sums and best pairs of a matrix that is never
held. ``home`` brings matrices into the host's memory, ``select`` picks features from counts that
are ready, ``default`` from a table of numbers in the host's memory, ``relevant`` tests all columns
and pairs of a wide table, and the rows named native are the same work on two cores of the same
machine. ``gpu_sources.csv`` says to which version of the code the rows of a part belong.
"""

import argparse
import csv
import os
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.end_to_end.__main__ import make
from benchmarks.machine import RESULTS, describe_machine
from benchmarks.scale.gpu_picture import draw
from benchmarks.scale.gpu_sources import FILE as SOURCES_FILE
from benchmarks.scale.gpu_sources import note_part
from bestk import SelectBestK, SelectRelevant, pair_scan
from bestk.bqp.lazy import MEMORY
from bestk.bqp.solvers import Effort
from bestk.information import Entropies, Query
from bestk.information.backends import _torch_kernels as kernels
from bestk.information.backends import get_backend
from bestk.information.measures import SYMMETRIC_CMI
from bestk.methods.registry import METHODS
from bestk.native.threads import threads
from bestk.tables.codes import Codes
from bestk.tables.target import ClassTarget

FILE = RESULTS / "gpu.csv"
CORES, ROUNDS, TOP = 2, 9, 1_000
PRODUCT, STREAMED, SMALL = (32_768, 8_192), (100_000, 10_000), (4_096, 2_048)
ONE = 2.0**9  # a byte of 1, read as an 8-bit float, is 2^-9
ALL_PAIRS = Query(SYMMETRIC_CMI, lowest=0.0)


@dataclass(frozen=True)
class Row:
    """One measurement."""

    part: str
    what: str
    n: int  # columns
    m: int  # rows
    levels: int
    classes: int
    seconds: float
    detail: str = ""


def main() -> None:
    options = _read_options()
    warnings.simplefilter("ignore")
    parts = {
        "products": products,
        "streamed": streamed,
        "home": home,
        "select": select,
        "default": default,
        "relevant": relevant,
    }
    for name in options.parts or parts:
        for row in parts[name](options.quick):
            line, size = _line(row), f"{row.n} x {row.m}"
            print(f"{row.what:46} {size:>15} {row.seconds:11.6f} s  {row.detail}", flush=True)
            _append(line, options.out)
        if not options.quick:
            note_part(name, options.out.with_name(SOURCES_FILE.name))
    draw(options.out)


def products(quick: bool) -> Iterator[Row]:
    """Bare products beside the matrix of pairs."""
    n, m = SMALL if quick else PRODUCT
    shape = n, m, 2, 2
    codes, target = _coins(*shape)
    x = torch.from_numpy(codes.values).cuda()
    bare: dict[str, float] = {}
    for kind in ("bit", "fp8", "int8"):
        for part, strip in (("whole", n), ("upper half", 2048)):
            bare[f"{kind} {part}"] = _median(_bare(x, kind, strip))
            yield Row("products", f"bare {kind} product, {part}", *shape, bare[f"{kind} {part}"])
    del x
    counters = {"coins": _counter(codes, target), "any odds": _counter(*_odds(n, m))}
    for name, counter in counters.items():
        for dtype in ("float32", "float64"):
            seconds = _median(lambda c=counter, d=dtype: c.matrix(ALL_PAIRS, getattr(torch, d)))
            ratios = ", ".join(f"{seconds / value:.2f} x {key}" for key, value in bare.items())
            yield Row("products", f"matrix of pairs, {dtype}, {name}", *shape, seconds, ratios)
    found = counters["coins"].matrix(ALL_PAIRS, torch.float32)
    yield _matrix_by_native(codes, target, found, shape)


def _matrix_by_native(codes: Codes, target: ClassTarget, found: Any, shape: Any) -> Row:
    """The same matrix on two cores, and whether every bit of it is the same."""
    out = np.empty((codes.n_features,) * 2, np.float32)
    out[:] = 0.0  # memory that the system has handed out
    with _cores():
        counter = get_backend("native")(codes, target, None)
        counter.fill(ALL_PAIRS._replace(rows=np.arange(64)), out[:64])  # loads
        seconds = _clock(lambda: counter.fill(ALL_PAIRS, out))[0]
    strips = zip(torch.from_numpy(out).split(2048), found.split(2048), strict=True)
    same = all(bool((own.cuda() == theirs).all()) for own, theirs in strips)
    return Row(
        "products", f"native, {CORES} cores, float32, coins", *shape, seconds, f"same: {same}"
    )


def streamed(quick: bool) -> Iterator[Row]:
    """Row sums and best pairs; the matrix itself would take 80 GB."""
    n, m = SMALL if quick else STREAMED
    shape = n, m, 2, 2
    codes, target = _coins(*shape)
    ready, counter = _clock(lambda: _counter(codes, target))
    yield Row("streamed", "table to the GPU, single features counted", *shape, ready)
    groups = np.zeros(n, np.int64)
    best = _median(lambda: counter.scan(ALL_PAIRS, groups, TOP), 3)
    yield Row("streamed", f"best partners and {TOP} best pairs", *shape, best)
    counter.row_sums(ALL_PAIRS)
    seconds, kept = _clock(lambda: counter.row_sums(ALL_PAIRS))
    yield Row("streamed", "row sums", *shape, seconds)
    for count in (1, 100):
        out, rows = np.empty((count, n)), np.arange(count) * 7
        each = _median(lambda r=rows, o=out: counter.fill(ALL_PAIRS._replace(rows=r), o))
        yield Row("streamed", f"columns of the matrix, brought home: {count}", *shape, each)
    with _cores():
        peer = get_backend("native")(codes, target, None)
        seconds, theirs = _clock(lambda: peer.row_sums(ALL_PAIRS))
    same = f"same: {bool((kept == theirs).all())}"
    yield Row("streamed", f"native, {CORES} cores: row sums", *shape, seconds, same)


def home(quick: bool) -> Iterator[Row]:
    """Matrices brought into the host's memory, of columns of several levels too."""
    for shape in ((5_000, 6_000, 3, 2), (5_000, 6_000, 10, 10), (20_000, 1_000, 2, 2)):
        n = min(shape[0], 1_000) if quick else shape[0]
        sizes = n, *shape[1:]
        codes, target = _coins(*sizes)
        counter, out = _counter(codes, target), np.zeros((n, n))
        run = lambda c=counter, o=out: c.fill(ALL_PAIRS, o)  # noqa: E731
        yield Row("home", "matrix of pairs brought home, float64", *sizes, _median(run, 3))
        kept = _median(lambda c=counter: c.matrix(ALL_PAIRS), 3)
        yield Row("home", "matrix of pairs left on the GPU, float64", *sizes, kept)
        with _cores():
            theirs = np.zeros((n, n))
            peer = get_backend("native")(codes, target, None)
            peer.fill(ALL_PAIRS._replace(rows=np.arange(64)), theirs[:64])
            seconds = _clock(lambda p=peer, o=theirs: p.fill(ALL_PAIRS, o))[0]
        same = f"same: {bool((theirs == out).all())}"
        yield Row("home", f"native, {CORES} cores, float64", *sizes, seconds, same)


def select(quick: bool) -> Iterator[Row]:
    """100 features from entropies that are ready, by methods that need columns."""
    for n, m in (SMALL,) if quick else (PRODUCT, STREAMED):
        codes, target = _coins(n, m, 2, 2)
        ours = Entropies.count(codes, target, "torch:cuda")
        with _cores():
            theirs = Entropies.count(codes, target, "native", n_jobs=CORES)
        memory = 2**26 if quick else MEMORY  # columns, not a whole matrix at home
        effort = Effort(random_state=0, bound=None, memory=memory)
        for name in ("linear", "tpower", "forward", "jmi", "mrmr"):
            METHODS[name].select(ours, 3, effort=effort)  # loads
            seconds, found = _clock(partial(METHODS[name].select, ours, 100, effort=effort))
            yield Row("select", f"{name}, k = 100", n, m, 2, 2, seconds)
            if name in ("forward", "jmi"):
                with _cores():
                    METHODS[name].select(theirs, 3, effort=effort)
                    run = partial(METHODS[name].select, theirs, 100, effort=effort)
                    seconds, other = _clock(run)
                same = f"same: {found.support.tolist() == other.support.tolist()}"
                what = f"native, {CORES} cores: {name}, k = 100"
                yield Row("select", what, n, m, 2, 2, seconds, same)


def default(quick: bool) -> Iterator[Row]:
    """10 features by the default, from numbers in the host's memory to the selection."""
    for m, n in ((500, 300),) if quick else ((2_000, 20_000), (10_000, 5_000)):
        X, y = make(m, n, "float")
        what, fit = f"SelectBestK(10), {m:,} x {n:,}", SelectBestK(10, random_state=0).fit
        on_device = SelectBestK(10, random_state=0, backend="torch:cuda").fit
        seconds = _median(lambda f=on_device, X=X, y=y: f(X, y))
        yield Row("default", what, n, m, 0, 2, seconds)
        found = on_device(X, y).support_
        with _cores():
            seconds, own = _clock(lambda f=fit, X=X, y=y: f(X, y))
        same = f"same: {bool((found == own.support_).all())}"
        yield Row("default", f"native, {CORES} cores: {what}", n, m, 0, 2, seconds, same)


def relevant(quick: bool) -> Iterator[Row]:
    """All features of which two tell the class together, tested alone and in pairs."""
    m = 833
    for n in (400, 600) if quick else (32_768, 131_072):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((m, n), dtype=np.float32)
        y = (X[:, 3] > 0) ^ (X[:, n - 5] > 0)
        selector = SelectRelevant(backend="torch:cuda")
        seconds = _median(lambda s=selector, X=X, y=y: s.fit(X, y), 3)
        found = sorted(np.flatnonzero(selector.support_).tolist())
        yield Row("relevant", "SelectRelevant", n, m, 0, 2, seconds, f"found: {found[:5]}")
        seconds = _median(lambda X=X, y=y: pair_scan(X, y, top=1, backend="torch:cuda"), 3)
        yield Row("relevant", "pair_scan", n, m, 0, 2, seconds)


def _bare(x: Any, kind: str, strip: int) -> Callable[[], None]:
    """Products of strips of rows with all rows from there on: one strip is the whole."""
    n = len(x)
    if kind == "bit":
        words = kernels.Words.of(np.array([0]), np.array([x.shape[1]]), x.device)
        bits = kernels.pack(x, torch.arange(n, device=x.device), 1, words)

        def count() -> None:
            for start in range(0, n, strip):
                planes, sides = bits[start // kernels.SIDE :], (min(strip, n - start), n - start)
                kernels.count(planes, planes, sides, words.ends, torch.uint16)

        return count
    planes = x.view(torch.float8_e4m3fn if kind == "fp8" else torch.int8)
    out = torch.empty(
        strip * n, dtype=torch.float32 if kind == "fp8" else torch.int32, device="cuda"
    )
    one = torch.full((), ONE, device="cuda")

    def run() -> None:
        for start in range(0, n, strip):
            a, b = planes[start : start + strip], planes[start:]
            to = out[: len(a) * len(b)].view(len(a), len(b))
            if kind == "fp8":
                torch._scaled_mm(a, b.T, one, one, out_dtype=to.dtype, out=to)
            else:
                torch._int_mm(a, b.T, out=to)

    return run


def _counter(codes: Codes, target: ClassTarget) -> Any:
    return get_backend("torch:cuda")(codes, target, None)


def _coins(n: int, m: int, levels: int, classes: int) -> tuple[Codes, ClassTarget]:
    """Columns that know nothing of the classes, all levels alike."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, levels, (n, m), dtype=np.uint8)
    values[:, :levels] = np.arange(levels)  # every level occurs
    y = rng.permutation(np.arange(m) % classes)
    return _codes(values, levels), ClassTarget(y, np.arange(classes), np.bincount(y))


def _odds(n: int, m: int) -> tuple[Codes, ClassTarget]:
    """Two-level columns, each with odds of its own: look-ups are spread over the whole tables."""
    rng = np.random.default_rng(1)
    values = (rng.random((n, m), np.float32) < rng.random((n, 1), np.float32)).astype(np.uint8)
    values[:, :2] = 0, 1
    y = rng.permutation(np.arange(m) % 2)
    return _codes(values, 2), ClassTarget(y, np.arange(2), np.bincount(y))


def _codes(values: Any, levels: int) -> Codes:
    return Codes(values, np.full(len(values), levels), [str(i) for i in range(len(values))])


class _cores:  # noqa: N801
    """Run on CORES cores, and threads, alone."""

    def __enter__(self) -> None:
        self._all = os.sched_getaffinity(0)
        os.sched_setaffinity(0, sorted(self._all)[:CORES])
        self._threads = threads(CORES)
        self._threads.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._threads.__exit__(*error)
        os.sched_setaffinity(0, self._all)


def _median(run: Callable[[], Any], rounds: int = ROUNDS) -> float:
    run()
    return statistics.median(_clock(run)[0] for _ in range(rounds))


def _clock(run: Callable[[], Any]) -> tuple[float, Any]:
    torch.cuda.synchronize()
    start = time.perf_counter()
    result = run()
    torch.cuda.synchronize()
    return time.perf_counter() - start, result


def _line(row: Row) -> dict[str, Any]:
    """The row, with where and when."""
    machine = describe_machine()
    where = f"{torch.cuda.get_device_name()}, torch {torch.__version__}; {machine.cpu}"
    commit = os.environ.get("BESTK_COMMIT", machine.commit)
    return asdict(row) | {"machine": where, "date": machine.date, "commit": commit}


def _append(line: dict[str, Any], path: Path) -> None:
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, list(line), lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(line)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "parts", nargs="*", help="products, streamed, home, select, default or relevant; all"
    )
    parser.add_argument("--quick", action="store_true", help="small tables: does it run?")
    parser.add_argument("--out", type=Path, default=FILE)
    return parser.parse_args()


if __name__ == "__main__":
    main()
