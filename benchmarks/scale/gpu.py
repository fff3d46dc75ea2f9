"""Time the torch backend on a GPU: ``python -m benchmarks.scale.gpu [--quick] [--out FILE]``.

Each case fills the whole matrix I(xj; y | xi) in the host's memory. ``fresh`` is the time into
new memory, as a user sees it; ``again`` that into memory the system has already handed out. The
parts are those of the GPU: products of planes, look-ups and sums, planes cut from codes, results
on their way to the host; the last overlaps with the others. ``roofline`` is the time that the
products would take at the rate at which the GPU multiplies large matrices of bytes, as a share
of the time they take.
"""

import argparse
import csv
import gc
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

from bestk.codes import Codes, Target
from bestk.information._measures import CMI
from bestk.information.backends import _torch_table, get_backend
from bestk.information.backends._torch_products import empty_counts, multiply, plane_dtype

PRODUCTS = ("gemm", "cutlass", "nvjet", "imma", "xmma")
SIZES, SAMPLES, LEVELS, CLASSES = (5_000, 20_000, 50_000), (1_000, 6_000), (2, 3, 10), (2, 10)
DOUBLE_UP_TO = 20_000  # features; larger matrices are of float32
PEER_UP_TO = 5_000  # features that numba counts too, to compare


@dataclass(frozen=True)
class Row:
    """One table: seconds but for the last four."""

    n: int
    m: int
    levels: int
    classes: int
    dtype: str
    ready: float  # codes brought to the GPU, single features counted
    fresh: float
    again: float
    one_row: float  # one feature against all
    products: float
    look_ups: float
    planes: float
    to_host: float
    numba: float | None  # all cores of the same machine
    same: bool | None  # as numba's results, to the last bit
    pairs_a_second: float  # unordered pairs over ``fresh``
    pair_samples_a_second: float
    busy_pair_samples_a_second: float  # over the GPU's own work, results not brought home
    roofline: float


def main() -> None:
    options = _read_options()
    warnings.simplefilter("ignore")  # the profiler's
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    rate = _ceilings()
    cases = list(product(SIZES, SAMPLES, LEVELS, CLASSES))
    rows = []
    print(" ".join(f"{name:>{_width(name)}}" for name in _names()))
    for case in cases[:12] if options.quick else cases:
        rows.append(_measure(*case, rate))
        print(_line(rows[-1]), flush=True)
        if options.out is not None:
            _write_csv(rows, options.out)


def _write_csv(rows: list[Row], path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, _names())
        writer.writeheader()
        writer.writerows(map(asdict, rows))


def _measure(n: int, m: int, levels: int, classes: int, rate: float) -> Row:
    codes, target = _made_up(n, m, levels, classes)
    ready, counter = _clock(lambda: get_backend("torch:cuda")(codes, target, None))
    dtype = np.float64 if n <= DOUBLE_UP_TO else np.float32
    _compile(*_made_up(300, m, levels, classes), dtype)
    gc.collect()
    out = np.empty((n, n), dtype)
    fresh = _clock(lambda: counter.fill(CMI, out))[0]
    again = _clock(lambda: counter.fill(CMI, out))[0]
    parts = _parts(lambda: counter.fill(CMI, out))
    line = np.empty((1, n), dtype)
    rows = [_clock(lambda: counter.fill(CMI, line, np.array([7])))[0] for _ in range(9)]
    numba, same = _peer(codes, target, out) if n <= PEER_UP_TO else (None, None)
    pairs = n * (n + 1) / 2
    planes = 1 if levels == 2 else levels
    least = 2 * m * planes**2 * pairs / rate
    busy = parts["products"] + parts["look_ups"] + parts["planes"]
    return Row(
        n, m, levels, classes, np.dtype(dtype).name, ready, fresh, again, statistics.median(rows),
        **parts, numba=numba, same=same, pairs_a_second=pairs / fresh,
        pair_samples_a_second=pairs * m / fresh, busy_pair_samples_a_second=pairs * m / busy,
        roofline=least / parts["products"],
    )  # fmt: skip


def _compile(codes: Codes, target: Target, dtype: Any) -> None:
    """Run every kernel once, on many small tiles."""
    before = _torch_table.COUNT_BYTES
    _torch_table.COUNT_BYTES = {"cuda": 2**16}
    get_backend("torch:cuda")(codes, target, None).fill(CMI, np.empty((300, 300), dtype))
    _torch_table.COUNT_BYTES = before


def _made_up(n: int, m: int, levels: int, classes: int) -> tuple[Codes, Target]:
    """Columns that know nothing of the classes: counting does not care."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, levels, (n, m), dtype=np.uint8)
    values[:, :levels] = np.arange(levels)  # every level occurs
    y = rng.permutation(np.arange(m) % classes)
    target = Target(y, np.arange(classes), np.bincount(y))
    return Codes(values, np.full(n, levels), [str(i) for i in range(n)]), target


def _peer(codes: Codes, target: Target, found: Any) -> tuple[float, bool]:
    """Seconds of the numba backend on every core, and whether it found the same."""
    counter = get_backend("numba")(codes, target, None)
    out = np.empty_like(found)
    counter.fill(CMI, out[:64], np.arange(64))  # compiles
    return _clock(lambda: counter.fill(CMI, out))[0], bool((out == found).all())


def _parts(run: Callable[[], Any]) -> dict[str, float]:
    """Seconds of the GPU by what it does."""
    with profile(activities=[ProfilerActivity.CUDA]) as recorded:
        run()
        torch.cuda.synchronize()
    parts = dict.fromkeys(("products", "look_ups", "planes", "to_host"), 0.0)
    for event in recorded.key_averages():
        parts[_kind(event.key)] += event.self_device_time_total * 1e-6
    return parts


def _kind(kernel: str) -> str:
    if "_write_from_counts" in kernel:
        return "look_ups"
    if "DtoH" in kernel:
        return "to_host"
    return "products" if any(name in kernel.lower() for name in PRODUCTS) else "planes"


def _ceilings() -> float:
    """Print what the machine can do at best; return operations a second on bytes."""
    kind = plane_dtype(torch.device("cuda", 0), 8192)
    a, b = (torch.randint(0, 2, (8192, 8192), dtype=torch.uint8, device="cuda") for _ in "ab")
    out = empty_counts((8192, 8192), kind, a.device)
    product = _median(lambda: multiply(a.view(kind), b.view(kind), out, add=False))
    device = torch.empty(2**28, dtype=torch.uint8, device="cuda")
    pinned = torch.empty(2**28, dtype=torch.uint8, pin_memory=True)
    home = _median(lambda: pinned.copy_(device))
    new = [
        _clock(lambda: torch.from_numpy(np.empty(2**28, np.uint8)).copy_(pinned))[0] for _ in "123"
    ]
    old = torch.zeros(2**28, dtype=torch.uint8)
    same = _median(lambda: old.copy_(pinned))
    rate = 2 * 8192**3 / product
    print(
        f"products of {kind} {rate:.3g} op/s; to pinned memory {2**28 / home:.3g} B/s; "
        f"from there to new memory {2**28 / min(new):.3g}, to old {2**28 / same:.3g} B/s"
    )
    return rate


def _median(run: Callable[[], Any]) -> float:
    run()
    return statistics.median(_clock(run)[0] for _ in range(10))


def _clock(run: Callable[[], Any]) -> tuple[float, Any]:
    torch.cuda.synchronize()
    start = time.perf_counter()
    result = run()
    torch.cuda.synchronize()
    return time.perf_counter() - start, result


def _names() -> list[str]:
    return [field.name for field in fields(Row)]


def _width(name: str) -> int:
    return max(9, len(name))


def _line(row: Row) -> str:
    shown = {
        name: f"{value:.4g}" if isinstance(value, float) else str(value)
        for name, value in asdict(row).items()
    }
    return " ".join(f"{value:>{_width(name)}}" for name, value in shown.items())


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="5,000 features only")
    parser.add_argument("--out", type=Path, help="write a CSV file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
