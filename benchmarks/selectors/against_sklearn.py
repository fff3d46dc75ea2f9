"""A whole selection on a large table, compared with scikit-learn's univariate filters."""

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.counting.cases import Case
from benchmarks.selectors.contenders import Job, Selector, race
from benchmarks.selectors.options import Options
from benchmarks.selectors.record import Row, pick
from benchmarks.selectors.tables import gisette_like
from benchmarks.solvers.verdict import Verdict, verdict
from bestk import SelectBestK

PART = "scikit-learn"
K = 50
WHOLE, NEIGHBOURS = "bestk SelectBestK", "SelectKBest(mutual_info_classif)"
Make = Callable[[Case, int, Options], Job]


def _bestk(**settings: Any) -> Make:
    def make(case: Case, k: int, options: Options) -> Job:
        def run() -> Any:
            return SelectBestK(k, **settings).fit(case.raw, case.y)

        run()
        return Job(run)

    return make


def _f_classif(case: Case, k: int, options: Options) -> Job:
    from sklearn.feature_selection import SelectKBest, f_classif

    return Job(lambda: SelectKBest(f_classif, k=k).fit(case.raw, case.y))


def _mutual_info(share: float = 1.0, counted: bool = False, **settings: Any) -> Make:
    """Nearest neighbours on the numbers, or counts on the codes, of a share of the columns."""

    def make(case: Case, k: int, options: Options) -> Job:
        from sklearn.feature_selection import SelectKBest, mutual_info_classif

        score = partial(mutual_info_classif, discrete_features=counted, random_state=0, **settings)
        n = max(k, round(share * case.n_features))
        X = (case.X if counted else case.raw)[:, :n]
        return Job(lambda: SelectKBest(score, k=k).fit(X, case.y), n / case.n_features)

    return make


def _ours(name: str, **settings: Any) -> Selector:
    return Selector(name, "bestk", "bestk", "", _bestk(**settings), threads=None)


def _theirs(name: str, make: Make) -> Selector:
    return Selector(name, "scikit-learn", "peer", "", make)


QUICK = (
    _ours(WHOLE),
    _ours("bestk SelectBestK, no bound", bound=None),
    _ours("bestk jmi", method="jmi"),
    _ours("bestk maxrel", method="maxrel"),
    _theirs("SelectKBest(f_classif)", _f_classif),
)
LONG = (
    _theirs(NEIGHBOURS, _mutual_info()),
    _theirs(f"{NEIGHBOURS[:-1]}, n_jobs=-1)", _mutual_info(n_jobs=-1)),
    _theirs(f"{NEIGHBOURS[:-1]}), codes", _mutual_info(0.2, counted=True)),
)


def measure(options: Options) -> list[Row]:
    """The quick ones in turn, then the long ones, once."""
    case = gisette_like(options)
    quick, _ = race(PART, case, K, QUICK, options.rounds, options)
    long, _ = race(PART, case, K, (QUICK[0], *LONG), 1, options)  # a round runs its first twice
    return [*quick, *long[1:]]


def claims(rows: list[Row]) -> list[Verdict]:
    """All pairs, a global choice and its proof in less time than single columns there."""
    own = {row.contender: row for row in pick(rows, PART)}
    claim = "a full SelectBestK (CAIM, all pairs, TPower, bound) is faster than " + NEIGHBOURS
    if WHOLE not in own or NEIGHBOURS not in own:
        return [verdict(claim, "", False, None)]
    ours, theirs = own[WHOLE], own[NEIGHBOURS]
    others = "; ".join(f"{name} {row.seconds_min:.2f} s" for name, row in own.items())
    ratio = theirs.seconds_min / ours.seconds_min
    return [Verdict(claim, f"{ratio:.0f} times: {others}", ratio > 1)]
