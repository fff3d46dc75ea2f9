"""Fit the constants of the cost model that chooses between planes and histograms."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks.counting.cases import Case, synthetic
from benchmarks.timing import interleave
from bestk.information.backends._native import (
    MAX_PLANE_LEVELS,
    NativeCounter,
    bind,
    cut_tasks,
    run_tasks,
)
from bestk.information.backends._packed import COSTS, LANES, pack
from bestk.information.measures import CMI
from bestk.native.threads import threads

LEVELS, CLASSES, SAMPLES = (2, 3, 5, 10, 20, 40), (2, 5, 10), (70, 300, 1000, 3000, 10_000)
QUICK_LEVELS, QUICK_CLASSES, QUICK_SAMPLES = (2, 5, 10), (2, 5), (70, 1000)
N_FEATURES = 64
NONE = 0  # levels above which a tile gets no planes


@dataclass(frozen=True)
class Point:
    """Nanoseconds of sixteen pairs on one core, both ways."""

    levels: int
    classes: int
    samples: int
    words: int
    planes: float
    histograms: float

    @property
    def parts(self) -> tuple[float, float]:
        """How many words and cells the planes of sixteen pairs have."""
        return (self.levels - 1) ** 2 * self.words, self.levels**2 * (self.classes + 1)


def measure(quick: bool) -> Iterator[Point]:
    grid = (QUICK_LEVELS, QUICK_CLASSES, QUICK_SAMPLES) if quick else (LEVELS, CLASSES, SAMPLES)
    for levels in grid[0]:
        for classes in grid[1]:
            for samples in grid[2]:
                case = synthetic("cost", "cost", samples, N_FEATURES, levels, classes)
                if (case.codes.levels == levels).all():
                    yield _time_both(case, levels, rounds=3 if quick else 7)


def _time_both(case: Case, levels: int, rounds: int) -> Point:
    counter = NativeCounter(case.codes, case.target)
    formula, request = counter.exact.formula(CMI, 0.0), counter.request(None, None)
    tasks, seconds = cut_tasks(counter.packed, request)
    out = np.empty((N_FEATURES, N_FEATURES))
    with_planes = pack(case.codes, case.target, counter.order, MAX_PLANE_LEVELS)
    packed: dict[str, Any] = {
        "planes": replace(with_planes, codes=None),
        "histograms": pack(case.codes, case.target, counter.order, NONE),
    }
    jobs = {
        way: lambda table=table: run_tasks(bind(table, formula), request, tasks, seconds, out)
        for way, table in packed.items()
    }
    with threads(1):
        interleave(jobs, 1)
        timings = interleave(jobs, rounds)
    begin, end, first, last = tasks.T
    blocks = (end - begin) @ (last - first)
    each = {way: 1e9 * timing.best / blocks for way, timing in timings.items()}
    words = int(with_planes.words[-1])
    return Point(levels, case.target.n_classes, len(case.X), words, **each)


def fit(points: list[Point]) -> tuple[float, float, float]:
    """WORD_COST, CELL_COST and SAMPLE_COST of least relative error."""
    planes = np.array([point.planes for point in points])
    parts = np.array([point.parts for point in points])
    (word, cell), _ = nnls(parts / planes[:, None], np.ones(len(points)))
    seen = np.array([point.samples * LANES / point.histograms for point in points])
    return float(word), float(cell), float(seen.sum() / (seen @ seen))


def report_costs(quick: bool) -> None:
    """Print the measurements, the constants in use and those that fit best."""
    points = list(measure(quick))
    print(" levels classes samples   planes ns  histograms ns   (of sixteen pairs, one core)")
    for p in points:
        print(f"{p.levels:7} {p.classes:7} {p.samples:7} {p.planes:11.0f} {p.histograms:14.0f}")
    for title, constants in (("in use", COSTS.tolist()), ("fitted", fit(points))):
        word, cell, sample = constants
        planes = np.array([p.parts for p in points]) @ (word, cell)
        histograms = np.array([p.samples * LANES * sample for p in points])
        true_planes = np.array([p.planes for p in points])
        true_histograms = np.array([p.histograms for p in points])
        taken = np.where(planes < histograms, true_planes, true_histograms)
        best = np.minimum(true_planes, true_histograms)
        print(
            f"\n{title}: WORD_COST = {word:.3g}, CELL_COST = {cell:.3g}, SAMPLE_COST = {sample:.3g}"
            f"\n  error of the model (median, largest): planes {_errors(planes, true_planes)}, "
            f"histograms {_errors(histograms, true_histograms)}"
            f"\n  picks the faster kernel in {(taken == best).mean():.0%} of {len(points)} tables; "
            f"loses at most {(taken / best).max():.2f}x, on average {(taken / best).mean():.3f}x"
        )


def _errors(model: Any, truth: Any) -> str:
    ratio = np.exp(np.abs(np.log(model / truth)))
    return f"{np.median(ratio):.2f}x, {ratio.max():.2f}x"
