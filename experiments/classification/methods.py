"""The methods that are compared, with the effort that each protocol can afford."""

from bestk.bqp.solvers import Effort
from bestk.bqp.solvers._lowrank import LowRank
from bestk.bqp.solvers._sdp import SDP
from bestk.bqp.solvers._search import Search
from bestk.bqp.solvers._tpower import TruncatedPower
from bestk.methods.registry import METHODS, Method, Quadratic
from experiments.lowrank import PublishedLowRank

PUBLISHED = ("maxrel", "mrmr", "jmi", "qpfs", "spectral", "sdp", "lowrank", "tpower")
OURS = ("lowrank-scored", "tpower-warm", "search")
NAMES = (*PUBLISHED, *OURS)
# The columns of Tables 3 and 4, with LowRank in the form that fits them
PRINTED = ("maxrel", "mrmr", "jmi", "qpfs", "spectral", "sdp", "lowrank-scored", "tpower")
LARGE = 700  # features from which the paper has no SDP
HUGE = 2000
FEW_DRAWS = 10_000  # of LowRank inside folds, and in quick runs
STEADY = Search(islands=1, patience=10)
LIGHT = Search(population=4, islands=1, depth=1, patience=3)
FIRST_K, LAST_K = 10, 100
COARSE = tuple(range(FIRST_K, LAST_K + 1, 10))
SPARSE = (50,)
SEED = 0
COLUMNS_ONLY = 2**25  # bytes: above 2048 features Search asks for columns, not for all pairs


def method_for(name: str, n: int, draws: int | None = None) -> Method:
    """A method by name; with few ``draws``, of LowRank, Search gives up sooner as well.

    ``tpower``, ``sdp`` and ``lowrank`` are the published forms: every k from Linear, no swaps, and
    one vector of the best pair on the matrix of low rank. ``tpower-warm`` starts from the k before,
    too, and ``lowrank-scored`` scores its choices on the matrix itself.
    """
    if name == "lowrank":
        return Quadratic("cmi", PublishedLowRank(draws))
    if name == "lowrank-scored":
        return Quadratic("cmi", LowRank(samples=draws))
    if name == "sdp":
        return Quadratic("cmi", SDP(swaps=False))
    if name == "tpower-warm":
        return Quadratic("cmi", TruncatedPower(warm_start=True))
    if name == "search":
        return Quadratic("cmi", LIGHT if draws or n >= HUGE else STEADY)
    return METHODS[name]


def effort_for(name: str) -> Effort:
    """No bounds, no limits of time: the same rows on every run."""
    effort = Effort(SEED, None, None)
    return effort._replace(memory=COLUMNS_ONLY) if name == "search" else effort


def all_ks(n: int) -> list[int]:
    """The paper's numbers of features, one by one to n or to the last."""
    return list(range(FIRST_K, min(n, LAST_K) + 1))


def ks_for(name: str, n: int, nested: bool, ks: list[int] | None = None) -> list[int]:
    """The numbers of features for which a method is run: all, but for SDP where it is slow."""
    wanted = ks or all_ks(n)
    if name != "sdp" or (not nested and n < LARGE):
        return wanted
    few = SPARSE if nested and n >= HUGE else COARSE
    return [k for k in wanted if k in few] or wanted[:1]
