"""Limits of the processor: the parts of the work that cannot be avoided."""

from typing import Any

import numpy as np

from benchmarks.counting.cases import Case
from benchmarks.counting.contenders import Contender, Job
from bestk.information.backends._native import NativeCounter, cut_tasks
from bestk.information.backends._packed import LANES
from bestk.native import kernels
from bestk.native.threads import run_tiles, spans


def _and_popcount(case: Case, budget: float) -> Job:
    """AND and popcount of all planes, over the groups of rows and tiles that bestk counts."""
    counter = NativeCounter(case.codes, case.target)
    packed, request = counter.packed, counter.request(None, None)
    if packed.codes is not None:
        raise ValueError("bestk does not count all pairs of this table by planes")
    n_words, n_classes = int(packed.words[-1]), len(packed.sizes)

    def prepare(task: Any) -> Any:
        begin, end, first, last = task
        rows = np.concatenate([_planes(packed, place) for place in range(begin, end)])
        tiles = packed.bits[packed.bits_at[first] : packed.bits_at[last]]
        n_planes = int(packed.n_planes[first:last].sum())  # tiles lie one after another
        return rows.ravel(), len(rows), tiles, n_planes, packed.words, n_classes

    def count(job: Any) -> None:
        kernels.count_rows(*job, np.empty(n_classes * job[1] * job[3] * LANES, np.uint32))

    def _planes(packed: Any, place: int) -> Any:
        tile, lane = divmod(place, LANES)
        bits = packed.bits[packed.bits_at[tile] : packed.bits_at[tile + 1]]
        return bits.reshape(-1, n_words, LANES)[: packed.levels[place] - 1, :, lane]

    tasks = [prepare(task) for task in cut_tasks(packed, request)[0].tolist()]
    run_tiles(count, tasks)
    return Job(lambda: run_tiles(count, tasks), case.n_pairs)


def _output(case: Case, budget: float) -> Job:
    """Touch every entry once."""

    def run() -> Any:
        out = np.empty((case.n_features, case.n_features))
        run_tiles(lambda span: out[slice(*span)].fill(1.0), spans(len(out), 64))
        return out

    run()
    return Job(run, case.n_pairs)


AND_POPCOUNT = Contender(
    "limit: AND+popcount", "bestk", "limit", "counts", _and_popcount, threads=None
)

LIMITS: tuple[Contender, ...] = (
    AND_POPCOUNT,
    Contender("limit: output", "numpy", "limit", "nothing", _output, threads=None),
)
