"""The low-rank approximation: the best choice along many directions of a few eigenvectors."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, comb, inf
from typing import ClassVar

import numpy as np

from bestk._typing import Floats, Indices
from bestk.bqp.problem import BQP, NO_ITEMS, best_first
from bestk.bqp.relaxations.eigen import lanczos
from bestk.bqp.solvers._base import Run, Solver
from bestk.native import kernels
from bestk.native.threads import n_threads, run_tiles, spans

# Operations of a draw, see ``Budget``: for each item, and besides.
OPERATIONS_OF_SCORE = 1.5
OPERATIONS_OF_DRAW = 600.0
# Directions that are drawn and ordered together.
MAX_BATCH = 2**20
# The same with a time limit: in the first batch, and at most; each batch has twice as many.
FIRST_TIMED_BATCH = 2**6
MAX_TIMED_BATCH = 2**16
# Scores of items along directions that one thread computes between two checks of the keyboard.
MAX_SCORES = 8_000_000
# The same with a time limit, between two checks of the clock.
MAX_TIMED_SCORES = 125_000
# Directions that one thread tries at once, at least: without, and with a time limit.
MIN_PIECE = 8192
MIN_TIMED_PIECE = 16
# Draws for each choice that there is, at most: a small problem needs no more.
MAX_DRAWS_PER_CHOICE = 100
# Bands of directions on an axis, times the root of their number by which steps along and between
# bands are about equally long.
BANDS = 0.45
# Bands in a tile: about a hundred draws in a square, for which the same few items are open.
TILE = 9
# Directions that are ordered together, so few that they stay in the cache.
CURVE_ROWS = 2**14
# Bits of a number by which directions are ordered.
KEY_BITS = 62
# Every direction is to be within this of a draw, but with this probability.
PRECISION = 0.1
FAILURE = 0.1


@dataclass(frozen=True)
class LowRank(Solver):
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

    @property
    def draws(self) -> int:
        """Number of draws: ``samples``, or the published rule."""
        if self.samples is not None:
            return self.samples
        cells = (1.0 + 4.0 / PRECISION) ** self.d
        log_of_failure = np.log(FAILURE) - np.log(cells)
        return round(log_of_failure / np.log1p(-1.0 / cells))

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by what each adds to the others; some draws are tried in any case."""
        deadline = run.deadline_after(0.5)
        V, signs = factor(problem.matrix, self.d, deadline)
        try_directions = partial(_best_along, problem.rows, V, signs, problem.k)
        n_choices = comb(problem.n, problem.k)
        count = min(self.draws, MAX_DRAWS_PER_CHOICE * n_choices)
        operations_of_draw = OPERATIONS_OF_DRAW + OPERATIONS_OF_SCORE * problem.n
        best = NO_ITEMS
        best_value = -np.inf
        run.details["draws"] = 0
        with ThreadPoolExecutor(n_threads()) as pool:
            for directions in _batches(self.d, count, run):
                pieces = _pieces(directions, problem.n, run)
                futures = [pool.submit(try_directions, piece) for piece in pieces]
                for piece, future in zip(pieces, futures, strict=True):
                    if run.time_left <= 0 and run.details["draws"]:
                        future.cancel()
                        continue
                    value, items = future.result()
                    run.details["draws"] += len(piece)
                    run.spend(operations_of_draw * len(piece))
                    if value > best_value:
                        best = items
                        best_value = value
                        run.keep(best)
        return best_first(problem, best)

    def for_path(self, count: int) -> "LowRank":
        """The solver for one of many k, which share the draws."""
        return replace(self, samples=ceil(self.draws / count))


def _batches(d: int, count: int, run: Run) -> Iterator[Floats]:
    """Draws in an order in which neighbours are close: arrays of shape (some, d), count in all.

    With a deadline, the first batch is small and the next are larger, until the time is up.
    """
    size = MAX_BATCH
    max_size = MAX_BATCH
    if np.isfinite(run.deadline):
        size = FIRST_TIMED_BATCH
        max_size = MAX_TIMED_BATCH
    n_drawn = 0
    while n_drawn < count and (run.time_left > 0 or n_drawn == 0):
        n_next = min(count - n_drawn, size)
        yield along_a_curve(run.rng.standard_normal((n_next, d)))
        n_drawn += n_next
        size = min(2 * size, max_size)


def _pieces(directions: Floats, n: int, run: Run) -> list[Floats]:
    """Directions in pieces that one thread tries at once."""
    if np.isfinite(run.deadline):
        size = max(MIN_TIMED_PIECE, MAX_TIMED_SCORES // n)
    else:
        size = max(MIN_PIECE, MAX_SCORES // n)
    starts = range(0, len(directions), size)
    return [directions[start : start + size] for start in starts]


def _best_along(
    Q: Floats, V: Floats, signs: Floats, k: int, directions: Floats
) -> tuple[float, Indices]:
    """The value of the best choice along some directions, and its items.

    V: one row of n entries for each eigenpair, with its sign in ``signs``.
    directions: shape (any, d).
    """
    is_chosen = np.zeros(len(Q), np.uint8)
    value = np.empty(1)
    kernels.try_directions(
        Q,
        V,
        signs,
        len(Q),
        len(V),
        k,
        directions,
        len(directions),
        is_chosen,
        value,
    )
    return float(value[0]), np.flatnonzero(is_chosen)


def factor(Q: Floats, d: int, deadline: float = inf) -> tuple[Floats, Floats]:
    """The best approximation of Q of rank d, V' diag(signs) V: V, of d rows, and the signs.

    The rows of V are sqrt(abs(l)) u for the d eigenvalues l of largest magnitude and their vectors
    u; the signs are those of l.
    """
    n = len(Q)
    start = np.random.default_rng(0).uniform(0.5, 1.5, n)
    values, vectors = lanczos(Q, start, "LM", min(d, n), deadline=deadline)
    # The largest entry of each vector is made positive.
    largest = np.abs(vectors).argmax(axis=0)
    peaks = vectors[largest, np.arange(len(values))]
    vectors = vectors * np.where(peaks < 0, -1.0, 1.0)
    scaled = vectors * np.sqrt(np.abs(values))
    signs = np.where(values < 0, -1.0, 1.0)
    return np.ascontiguousarray(scaled.T), signs


def along_a_curve(directions: Floats) -> Floats:
    """Sort directions so that neighbours are close: tile by tile, band by band within a tile.

    A unit vector of d coordinates has d - 2 heights, its first coordinates, and a turn, the angle
    of the last two. Bands divide the heights finely. Tiles divide heights and turn coarsely, and a
    band is walked along the turn, to and fro.
    """
    count, d = directions.shape
    if d == 1:
        return np.sort(directions, axis=0)
    bands = np.ceil(BANDS * count ** (1.0 / (d - 1)))
    tiles = np.ceil(bands / TILE)
    tiles_of_turn = np.ceil(np.pi * tiles)
    n_bands = [bands] * (d - 2)
    n_tiles = [tiles] * (d - 2) + [tiles_of_turn]
    # A key is the cell, the place along the turn in steps, and the place of the direction, so
    # that no two keys are equal.
    place_bits = count.bit_length()
    n_cells = np.prod(n_tiles + n_bands)
    n_steps = np.floor(2.0 ** (KEY_BITS - place_bits) / n_cells)
    keys = np.empty(count, np.int64)

    def set_keys(span: tuple[int, int]) -> None:
        rows = slice(*span)
        lengths = np.linalg.norm(directions[rows], axis=1, keepdims=True)
        unit = directions[rows] / lengths
        angles = np.arctan2(unit[:, -1], unit[:, -2])
        turn = (angles / np.pi + 1.0) / 2.0
        heights = (unit[:, : d - 2].T + 1.0) / 2.0
        band = _to_and_fro(heights, n_bands)
        tile = _to_and_fro(np.vstack([heights, turn]), n_tiles)
        cell = tile * np.prod(n_bands) + band
        turn_in_band = np.where(band % 2 == 0, turn, 1.0 - turn)
        step = np.floor(turn_in_band * (n_steps - 1.0))
        keys[rows] = (cell * n_steps + step).astype(np.int64) << place_bits
        keys[rows] += np.arange(*span)

    run_tiles(set_keys, spans(count, CURVE_ROWS))
    keys.sort()
    places = keys & ((1 << place_bits) - 1)
    return directions[places]


def _to_and_fro(points: Floats, counts: Sequence[float]) -> Floats:
    """Number the cells of a grid on the unit cube along a path that turns back at every end.

    points: one row for each axis, one column for each point.
    counts: the number of cells on each axis.
    Returns the number of the cell of each point.
    """
    number = np.zeros(points.shape[1])
    for coordinates, count in zip(points, counts, strict=True):
        cell = np.minimum(np.floor(coordinates * count), count - 1.0)
        is_forth = number % 2 == 0
        number = number * count + np.where(is_forth, cell, count - 1.0 - cell)
    return number
