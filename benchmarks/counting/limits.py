"""The limits of the chip: parts of the work that no way of counting the same planes can avoid.

All passes but the last run over the very tiles and groups of rows that bestk counts, shared out
over the threads in the same way, and fold what they see into one number.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from benchmarks.counting.cases import Case
from benchmarks.counting.contenders import Contender, Job
from bestk.information._measures import CMI
from bestk.information.backends._bitplanes import count_rows
from bestk.information.backends._lanes import LANES, load, look_up, no_sums, store
from bestk.information.backends._numba import NumbaCounter, _calls
from bestk.information.backends._pairs import _copy_rows


def _over_tiles(kernel: Any) -> Callable[[Case, float], Job]:
    """Run a kernel over the groups and tiles that bestk would count."""

    def make(case: Case, budget: float) -> Job:
        counter = NumbaCounter(case.codes, case.target)
        packed, request = counter._packed, counter._request(None, None)
        if len(packed.codes):
            raise ValueError("bestk does not count all pairs of this table by planes")
        formula = counter._formula(CMI, 0.0)
        calls = list(_calls(request, packed))

        def run() -> int:
            return sum(kernel(packed, formula, request, tasks) for tasks, _ in calls)

        run()
        return Job(run, case.n_pairs)

    return make


# not cached: numba would not notice a change in the functions of bestk that are compiled in
@numba.njit(parallel=True)
def and_popcount(packed: Any, formula: Any, request: Any, tasks: Any) -> int:
    """AND and popcount of all planes, blocked as bestk blocks them."""
    seen = 0
    for task in numba.prange(len(tasks)):
        rows = _copy_rows(packed, formula, request, tasks[task, 0])
        seen += _count(packed, rows, request.tiles[tasks[task, 1] : tasks[task, 2]])
    return seen


@numba.njit
def _count(packed: Any, rows: Any, tiles: Any) -> int:
    n_rows, words = len(rows.margins), packed.words
    counts = np.zeros(len(packed.sizes) * n_rows * packed.n_planes.max() * LANES + 1, np.uint32)
    seen = 0
    for tile in tiles:
        n_j, at = packed.n_planes[tile], packed.bits_at[tile]
        count_rows(rows.bits, n_rows, packed.bits, at, n_j, words, counts)
        seen += counts[tile % len(counts)]  # somewhere the compiler cannot foresee
    return seen


@numba.njit(parallel=True)
def table_pass(packed: Any, formula: Any, request: Any, tasks: Any) -> int:
    """As many look-ups as the pairs have cells, at counts that occur; nothing is counted."""
    seen = 0
    for task in numba.prange(len(tasks)):
        rows = _copy_rows(packed, formula, request, tasks[task, 0])
        tiles = request.tiles[tasks[task, 1] : tasks[task, 2]]
        seen += _look_up(packed, rows, tiles, formula.class_table)
    return seen


@numba.njit
def _look_up(packed: Any, rows: Any, tiles: Any, table: Any) -> int:
    n_classes = len(packed.sizes)
    total, out = no_sums(), np.zeros(LANES, np.int64)
    for tile in tiles:
        n_j, at = packed.n_planes[tile], packed.margins_at[tile]
        n_margins = n_classes * n_j
        for place in rows.places:
            cells = packed.levels[place] * (n_j + 1) * (n_classes + 1)
            for first in range(0, cells, n_margins):
                for cell in range(min(n_margins, cells - first)):
                    total = total + look_up(table, load(packed.margins, at + cell * LANES))
    store(out, 0, total)
    return out.sum()


@intrinsic
def popcount(typingctx: Any, word: Any) -> Any:
    """How many bits of a 64-bit word are set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        long = ir.IntType(64)
        function = ir.FunctionType(long, [long])
        name = "llvm.ctpop.i64"
        return builder.call(cgutils.get_or_insert_function(builder.module, function, name), args)

    return types.uint64(types.uint64), codegen


def _plain_loop(case: Case, budget: float) -> Job:
    """The first thing one would write: the planes of each column one after another."""
    samples = np.argsort(case.target.codes, kind="stable")
    ends = np.cumsum(-(-case.target.counts // 64))
    words = np.concatenate([[0], ends])
    planes = case.codes.levels - 1
    starts = np.concatenate([[0], np.cumsum(planes)])
    bits = np.zeros((starts[-1], ends[-1] * 64), bool)
    sizes = case.target.counts
    to = np.concatenate([64 * words[c] + np.arange(sizes[c]) for c in range(len(sizes))])
    for feature, values in enumerate(case.codes.values):
        own = values[samples] == np.arange(planes[feature])[:, None]
        bits[starts[feature] : starts[feature + 1], to] = own
    packed = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    per_pair = (planes.mean() ** 2) * words[-1] * 1e-9
    n = int(np.clip(np.sqrt(2 * budget / per_pair), 2, case.n_features))
    pair_loop(packed, words, starts[:3])
    return Job(lambda: pair_loop(packed, words, starts[: n + 1]), n * (n - 1) // 2)


@numba.njit(parallel=True, cache=True, nogil=True)
def pair_loop(bits: Any, words: Any, starts: Any) -> int:
    """AND and popcount pair by pair, class by class, without blocking."""
    seen, n = np.uint64(0), len(starts) - 1
    for index in numba.prange(n):
        i = index // 2 if index % 2 == 0 else n - 1 - index // 2  # a long row beside a short one
        for j in range(i + 1, n):
            for a in range(starts[i], starts[i + 1]):
                for b in range(starts[j], starts[j + 1]):
                    for c in range(len(words) - 1):
                        both = np.uint64(0)
                        for word in range(words[c], words[c + 1]):
                            both += popcount(bits[a, word] & bits[b, word])
                        seen += both
    return seen


def _output(case: Case, budget: float) -> Job:
    def run() -> Any:
        out = np.empty((case.n_features, case.n_features))
        write(out)
        return out

    run()
    return Job(run, case.n_pairs)


@numba.njit(parallel=True, cache=True, nogil=True)
def write(out: Any) -> None:
    """Touch every entry once."""
    for row in numba.prange(len(out)):
        out[row] = row


AND_POPCOUNT = Contender(
    "limit: AND+popcount", "bestk", "limit", "counts", _over_tiles(and_popcount), threads=None
)

LIMITS: tuple[Contender, ...] = (
    AND_POPCOUNT,
    Contender("limit: plain loop", "numba", "limit", "counts", _plain_loop, threads=None),
    Contender(
        "limit: look-ups", "bestk", "limit", "sums of a table", _over_tiles(table_pass),
        threads=None,
    ),
    Contender("limit: output", "numba", "limit", "nothing", _output, threads=None),
)  # fmt: skip
