"""The low-rank approximation: the best choice along many directions of a few eigenvectors."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, comb, inf
from typing import ClassVar

import numpy as np

from bestk._typing import Floats, Indices
from bestk.bqp.problem import BQP, best_first
from bestk.bqp.relaxations.eigen import lanczos
from bestk.bqp.solvers._base import Needs, Run
from bestk.native import kernels
from bestk.native.threads import n_threads, run_tiles, spans

# Operations of a draw, see ``Budget``: for each item, and besides.
OPERATIONS_OF_SCORE = 1.5
OPERATIONS_OF_DRAW = 600.0
MAX_BATCH = 1 << 20  # directions drawn at once
FIRST_TIMED_BATCH, MAX_TIMED_BATCH = 1 << 6, 1 << 16  # the same, with a time limit
MAX_SCORES = 8_000_000  # that one thread computes at once
MAX_TIMED_SCORES = 125_000  # the same, with a time limit
MIN_PIECE = 8192  # directions that one thread tries at once without a time limit
MAX_DRAWS_PER_CHOICE = 100  # a small problem needs no more draws
BANDS = 0.45  # as many as make the steps along and between them about equal
CURVE_ROWS = 2**14  # directions that are ordered together: they stay in the cache
TILE = 9  # bands: about a hundred draws in a square, for which the same few items are open


@dataclass(frozen=True)
class LowRank:
    """Low-rank approximation: the best k in d eigenvectors (Papailiopoulos et al. 2014).

    Q is near V S V', where V = U sqrt(abs(L)) holds the d eigenpairs of largest magnitude and S
    their signs. For c ~ N(0, I_d) the candidate is X = top_k(Vc), scored on Q itself; where an
    eigenvalue is negative, also Y = top_k(V S V'x) and the best k of their union. With
    M0 = (1 + 4 / 0.1)^d, the number of draws is (ln 0.1 - ln M0) / ln(1 - 1 / M0): every direction
    is within 0.1 of a draw with probability 0.9.

    Parameters
    ----------
    d : int, default=3
        Eigenvectors.
    samples : int, default=None
        Number of draws, in place of the rule; fewer where there are few choices.

    D. Papailiopoulos, I. Mitliagkas, A. Dimakis and C. Caramanis. Finding dense subgraphs via
    low-rank bilinear optimization. ICML 2014.

    Examples
    --------
    >>> LowRank().draws
    926519
    >>> LowRank(d=1).pick(BQP(np.outer([1.0, 3.0, 2.0], [1.0, 3.0, 2.0]), k=2), Run())
    array([1, 2])
    """

    d: int = 3
    samples: int | None = None

    name: ClassVar[str] = "lowrank"
    needs: ClassVar[Needs] = "matrix"

    @property
    def draws(self) -> int:
        """Number of draws: ``samples``, or the published rule."""
        cells = (1.0 + 4.0 / 0.1) ** self.d
        rule = (np.log(0.1) - np.log(cells)) / np.log1p(-1.0 / cells)
        return round(rule) if self.samples is None else self.samples

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by what each adds to the others; some draws are tried in any case."""
        Q, (V, signs) = problem.rows, factor(problem.Q, self.d, run.part(0.5))
        work, best = partial(_best_along, Q, V, signs, problem.k), -np.inf
        count = min(self.draws, MAX_DRAWS_PER_CHOICE * comb(problem.n, problem.k))
        run.details["draws"] = 0
        of_draw = OPERATIONS_OF_DRAW + OPERATIONS_OF_SCORE * problem.n
        with ThreadPoolExecutor(n_threads()) as pool:
            for draws in _batches(self.d, count, run):
                pieces = _pieces(draws, problem.n, run)
                futures = [pool.submit(work, piece) for piece in pieces]
                for piece, future in zip(pieces, futures, strict=True):
                    if run.time_left <= 0 and run.details["draws"]:
                        future.cancel()
                        continue
                    value, items = future.result()
                    run.details["draws"] += len(piece)
                    run.spend(of_draw * len(piece))
                    if value > best:
                        best, run.details["incumbent"] = value, items
        return best_first(problem, run.details["incumbent"])

    def for_path(self, count: int) -> "LowRank":
        """The solver for one of many k, which share the draws."""
        return replace(self, samples=ceil(self.draws / count))


def _batches(d: int, count: int, run: Run) -> Iterator[Floats]:
    """Draws in an order in which neighbours are close; few at first if there is a deadline."""
    timed = np.isfinite(run.deadline)
    size, most = (FIRST_TIMED_BATCH, MAX_TIMED_BATCH) if timed else (MAX_BATCH, MAX_BATCH)
    left = count
    while left > 0 and (run.time_left > 0 or left == count):
        yield along_a_curve(run.rng.standard_normal((min(left, size), d)))
        left, size = left - min(left, size), min(2 * size, most)


def _pieces(directions: Floats, n: int, run: Run) -> list[Floats]:
    """Directions that one thread tries at once."""
    timed = np.isfinite(run.deadline)
    size = max(16, MAX_TIMED_SCORES // n) if timed else max(MIN_PIECE, MAX_SCORES // n)
    return [directions[i : i + size] for i in range(0, len(directions), size)]


def _best_along(
    Q: Floats, V: Floats, signs: Floats, k: int, directions: Floats
) -> tuple[float, Indices]:
    """The best choice along some directions, and its value."""
    best, value = np.zeros(len(Q), np.uint8), np.empty(1)
    kernels.try_directions(Q, V, signs, len(Q), len(V), k, directions, len(directions), best, value)
    return float(value[0]), np.flatnonzero(best)


def factor(Q: Floats, d: int, deadline: float = inf) -> tuple[Floats, Floats]:
    """Rows sqrt(abs(l)) u for the d eigenpairs of largest magnitude, and the signs of l."""
    start = np.random.default_rng(0).uniform(0.5, 1.5, len(Q))
    values, vectors = lanczos(Q, start, "LM", min(d, len(Q)), deadline=deadline)
    peaks = vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))]
    vectors = vectors * np.where(peaks < 0, -1.0, 1.0)
    rows = np.ascontiguousarray((vectors * np.sqrt(np.abs(values))).T)
    return rows, np.where(values < 0, -1.0, 1.0)


def along_a_curve(directions: Floats) -> Floats:
    """Sort directions so that neighbours are close: tile by tile, band by band within a tile."""
    count, d = directions.shape
    if d == 1:
        return np.sort(directions, axis=0)
    bands = np.ceil(BANDS * count ** (1.0 / (d - 1)))
    tiles = np.ceil(bands / TILE)
    n_tiles, n_bands = [tiles] * (d - 2) + [np.ceil(np.pi * tiles)], [bands] * (d - 2)
    bits = count.bit_length()  # of the place of a direction, which ends its key: no two are equal
    steps = np.floor(2.0 ** (62 - bits) / np.prod(n_tiles + n_bands))
    keys = np.empty(count, np.int64)

    def work(span: tuple[int, int]) -> None:
        part = directions[slice(*span)]
        unit = part / np.linalg.norm(part, axis=1, keepdims=True)
        turn = (np.arctan2(unit[:, -1], unit[:, -2]) / np.pi + 1.0) / 2.0
        heights = (unit[:, : d - 2].T + 1.0) / 2.0
        band = _to_and_fro(heights, n_bands)
        cell = _to_and_fro(np.vstack([heights, turn]), n_tiles) * np.prod(n_bands) + band
        along = np.floor(np.where(band % 2 == 0, turn, 1.0 - turn) * (steps - 1.0))
        keys[slice(*span)] = (cell * steps + along).astype(np.int64) << bits
        keys[slice(*span)] += np.arange(*span)

    run_tiles(work, spans(count, CURVE_ROWS))
    keys.sort()
    return directions[keys & ((1 << bits) - 1)]


def _to_and_fro(places: Floats, counts: Sequence[float]) -> Floats:
    """Number the cells of a grid on the unit cube along a path that turns back at every end."""
    key = np.zeros(places.shape[1])
    for place, count in zip(places, counts, strict=True):
        cell = np.minimum(np.floor(place * count), count - 1.0)
        key = key * count + np.where(key % 2 == 0, cell, count - 1.0 - cell)
    return key
