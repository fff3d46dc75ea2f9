"""The methods of bestk by name: how numbers are read, and how features are chosen from them.

To add a candidate, add a line to ``OURS``. Methods with the same reading share it in each fold.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.sets import Problem
from bestk import SelectBestK
from bestk.evaluation._shared import SharedEntropies
from bestk.methods import METHODS, Effort, Greedy, Method, Quadratic
from bestk.reading import Reading
from bestk.solvers._lowrank import LowRank
from bestk.solvers._search import Search
from bestk.table import read_table

Indices = NDArray[np.int64]
CAIM, GAUSSIAN = Reading("discrete", "caim"), Reading("gaussian", None)
MDLP, BLEND = Reading("discrete", "mdlp", "chance"), Reading("blend", "auto")
LARGE = 700  # features from which SDP is left out
FEW_DRAWS = 10_000  # of LowRank; the published rule makes 926,519
SEED = 0
LIGHT = Search(population=4, islands=1, depth=1, patience=3)  # gives up soon


@dataclass(frozen=True)
class Ours:
    """A reading and a method; above ``widest`` features it is left out."""

    reading: Reading
    method: Method
    widest: int | None = None


@dataclass(frozen=True)
class Picks:
    """What was chosen for each k, and the seconds that took for all k together."""

    supports: list[Indices]
    seconds: float


OURS: dict[str, Ours] = {
    "maxrel": Ours(CAIM, METHODS["maxrel"]),
    "mrmr": Ours(CAIM, METHODS["mrmr"]),
    "jmi": Ours(CAIM, METHODS["jmi"]),
    "qpfs": Ours(CAIM, METHODS["qpfs"]),
    "linear": Ours(CAIM, METHODS["linear"]),
    "spectral": Ours(CAIM, METHODS["spectral"]),
    "sdp": Ours(CAIM, METHODS["sdp"], LARGE),
    "tpower": Ours(CAIM, METHODS["tpower"]),
    "lowrank": Ours(CAIM, Quadratic("cmi", LowRank(samples=FEW_DRAWS))),
    "search": Ours(CAIM, METHODS["search"]),
    "gaussian cmi search": Ours(GAUSSIAN, Quadratic("cmi", "search")),
    "gaussian mrmr search": Ours(GAUSSIAN, Quadratic("mrmr", "search")),
    "gaussian mrmr": Ours(GAUSSIAN, Greedy("mrmr")),
    "gaussian jmi": Ours(GAUSSIAN, Greedy("jmi")),
    "gaussian tpower": Ours(GAUSSIAN, Quadratic("cmi", "tpower")),
    "mdlp balanced search": Ours(MDLP, Quadratic("balanced", LIGHT)),
    "blend balanced search": Ours(BLEND, Quadratic("balanced", LIGHT)),
    "blend balanced forward": Ours(BLEND, Quadratic("balanced", "forward")),
    "blend cmi search": Ours(BLEND, Quadratic("cmi", LIGHT)),
    "blend mrmr search": Ours(BLEND, Quadratic("mrmr", LIGHT)),
}
SETTINGS = ("information", "discretizer", "correction")
DEFAULT = "default"  # what SelectBestK() does
SELECTORS: dict[str, Callable[[int], SelectBestK]] = {
    DEFAULT: lambda k: SelectBestK(k, random_state=SEED),
}


def group_of(name: str) -> str:
    """Methods of the same group share their reading: its words; a selector's are its settings."""
    words: Sequence[Any] = (name,)
    if name in OURS:
        reading = OURS[name].reading
        words = (reading.information, reading.discretizer, reading.correction)
    elif name in SELECTORS:
        chosen = SELECTORS[name](1).get_params()
        words = (name, *(chosen[each] for each in ("method", *SETTINGS)))
    return "-".join(str(word) for word in words if word is not None)


def fits(name: str, n_features: int) -> bool:
    """Whether a method is one for so many features."""
    widest = OURS[name].widest if name in OURS else None
    return widest is None or n_features <= widest


def select_ours(names: Sequence[str], train: Problem, ks: Sequence[int]) -> dict[str, Picks]:
    """What methods of one group choose from the rows given.

    Each pays for the reading; pairs that one has counted are there for the next.
    """
    if all(name in SELECTORS for name in names):
        return {name: _by_selector(SELECTORS[name], train, ks) for name in names}
    start = perf_counter()
    entropies = SharedEntropies.of(_measure(OURS[names[0]].reading, train))
    reading, found = perf_counter() - start, {}
    for name in names:
        start = perf_counter()
        effort = Effort(SEED, None, None)
        solutions = OURS[name].method.select_path(entropies, list(ks), (), effort)
        seconds = reading + perf_counter() - start
        found[name] = Picks([solution.support for solution in solutions], seconds)
    return found


def _measure(reading: Reading, train: Problem) -> Any:
    """Entropies of a table; one of categories is counted, whatever the reading is for numbers."""
    if train.nominal and reading.information == "gaussian":
        reading = CAIM
    reading = replace(reading, categorical_features=train.categorical)
    return reading.measure(read_table(train.X), train.y).entropies


def _by_selector(make: Callable[[int], SelectBestK], train: Problem, ks: Sequence[int]) -> Picks:
    start, supports = perf_counter(), []
    for k in ks:
        selector = make(k).set_params(categorical_features=train.categorical)
        supports.append(selector.fit(train.X, train.y).solution_.support)
    return Picks(supports, perf_counter() - start)
