"""The methods that are compared, with the effort that each protocol can afford."""

from dataclasses import replace

from bestk.selection.methods import METHODS, Effort, Method, Quadratic
from bestk.solvers._lowrank import LowRank
from bestk.solvers._search import Search

GREEDY = ("maxrel", "mrmr", "jmi")
GLOBAL = ("qpfs", "spectral", "sdp", "lowrank", "tpower")
OURS = ("search",)
NAMES = (*GREEDY, *GLOBAL, *OURS)
LARGE = 700  # features from which the paper has no SDP
HUGE = 2000
FEW_DRAWS = 10_000  # of LowRank inside folds; the published rule makes 926,519
STEADY = Search(islands=1, patience=10)
LIGHT = Search(population=4, islands=1, depth=1, patience=3)
COARSE = tuple(range(10, 101, 10))
SPARSE = (50,)
SEED = 0
COLUMNS_ONLY = 2**25  # bytes: above 2048 features Search asks for columns, not for all pairs


def method_for(name: str, n: int, protocol: str) -> Method:
    """A method by name; inside folds, LowRank draws less and Search gives up sooner."""
    light = protocol == "nested" or (protocol == "states" and n >= HUGE)
    if name == "lowrank" and light:
        return Quadratic("cmi", LowRank(samples=FEW_DRAWS))
    if name == "search":
        return Quadratic("cmi", LIGHT if light or n >= HUGE else STEADY)
    return METHODS[name]


def effort_for(name: str) -> Effort:
    """No bounds, no limits of time: the same rows on every run."""
    effort = Effort(SEED, None, None)
    return replace(effort, memory=COLUMNS_ONLY) if name == "search" else effort


def all_ks(n: int) -> list[int]:
    """The paper's numbers of features: from 10 by 1 to n, or to 100."""
    return list(range(10, min(n, 100) + 1))


def ks_for(name: str, n: int, protocol: str, ks: list[int] | None = None) -> list[int]:
    """The numbers of features for which a method is run: all, but for SDP where it is slow."""
    wanted = ks or all_ks(n)
    if name != "sdp" or (protocol != "nested" and n < LARGE):
        return wanted
    few = SPARSE if protocol == "nested" and n >= HUGE else COARSE
    return [k for k in wanted if k in few] or wanted[:1]
