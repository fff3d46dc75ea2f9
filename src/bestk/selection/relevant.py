"""SelectRelevant: every feature that carries information, alone or in a pair."""

from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy import stats
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt

from bestk._checks import whole
from bestk._typing import Floats, Indices
from bestk.data.codes import Codes, encode
from bestk.data.features import find_features, find_numeric, read_features
from bestk.data.table import Table, read_column
from bestk.data.target import Target, read_target
from bestk.discretize import EqualFrequency
from bestk.information import Entropies, normal_scores
from bestk.information.reading import ParsedTarget, Reading, discretise
from bestk.information.scan import best_partners, top_pairs
from bestk.native.threads import threads
from bestk.selection.base import SELECTABLE, TableSelector
from bestk.selection.pipeline import weigh

MIN_BINS, MAX_BINS = 3, 10  # of numeric columns, for what a straight line does not show
MAX_PERMUTATIONS = 20
PERMUTED_PAIR_SAMPLES = 2e10  # pairs times rows that are counted for permutations
POOLED_TAIL = 10  # permuted values beyond which tails are extrapolated
GRID = 512  # points of an integral, and of a tail


@dataclass(frozen=True)
class PreparedTable:
    """A table as the tests need it: nothing here depends on the target."""

    scores: Floats  # normal scores of the numeric columns, a row each
    numeric: Indices
    bins: Codes  # all columns, numbers in a few bins
    halves: Codes  # all columns, numbers cut at the median

    @classmethod
    def of(cls, table: Table, categorical: Indices, target: Target) -> "PreparedTable":
        """Bins and scores of every column."""
        numeric = find_numeric(table, categorical)
        scores = np.empty((0, table.n_samples))
        if len(numeric):
            scored = normal_scores(table.keep(numeric).numeric()[0])
            scores = scored.values / scored.one
        bins = int(np.clip(table.n_samples**0.5 / 3, MIN_BINS, MAX_BINS))
        cut = [table, table]
        if len(numeric):
            cut = [discretise(EqualFrequency(b), table, numeric, target)[0] for b in (bins, 2)]
        return cls(scores, numeric, encode(cut[0]), encode(cut[1]))


@dataclass(frozen=True)
class PreparedTarget:
    """A target as the tests need it; rows can be permuted."""

    classes: Target  # two for a continuous target
    scores: Floats | None  # normal scores of a continuous target

    @classmethod
    def of(cls, target: ParsedTarget) -> "PreparedTarget":
        """Classes as they are; numbers also cut at the median."""
        if not target.continuous:
            return cls(target.classes, None)
        numbers = target.numbers
        halves = EqualFrequency(2).fit_transform(numbers[:, np.newaxis])[:, 0]
        scored = normal_scores(numbers[:, np.newaxis])
        return cls(read_target(halves, len(numbers)), scored.values[0] / scored.one)

    def permuted(self, rng: np.random.RandomState) -> "PreparedTarget":
        """The same values in other rows."""
        order = rng.permutation(len(self.classes.codes))
        classes = Target(self.classes.codes[order], self.classes.classes, self.classes.counts)
        return PreparedTarget(classes, None if self.scores is None else self.scores[order])


def alone_pvalues(columns: PreparedTable, goal: PreparedTarget) -> tuple[Floats, Floats]:
    """P-values of each column by itself, and its relevance in nats.

    Numbers take the smaller of two p-values, doubled: of a straight line through normal scores,
    and of bins. Categories have the second alone.
    """
    entropies = Entropies.count(columns.bins, goal.classes)
    relevance = entropies.mi()
    degrees = (columns.bins.levels - 1) * (goal.classes.n_classes - 1)
    if goal.scores is None:
        # Bartlett: the mean under chance is exact, so the statistic is scaled to that of chi-square
        chance = relevance - Entropies.count(columns.bins, goal.classes, correction="chance").mi()
        ratio = np.divide(relevance, chance, out=np.zeros_like(chance), where=chance > 0)
        binned = stats.chi2.sf(ratio * degrees, np.maximum(degrees, 1))
    else:
        binned = _explained(_bin_share(columns.bins, goal.scores), columns.bins.levels - 1, goal)
    p = np.where(columns.bins.levels > 1, binned, 1.0)
    if len(columns.numeric):
        linear = _explained(*_line_share(columns.scores, goal), goal)
        linear[~columns.scores.any(axis=1)] = 1.0
        p[columns.numeric] = np.minimum(1.0, 2 * np.minimum(p[columns.numeric], linear))
    return p, relevance


def _explained(share: Floats, degrees: Any, goal: PreparedTarget) -> Floats:
    """P-values of shares of variance that so many parameters explain."""
    rest = len(goal.classes.codes) - 1 - degrees
    return np.asarray(stats.beta.sf(share, np.maximum(degrees, 1) / 2, np.maximum(rest, 1) / 2))


def _line_share(scores: Floats, goal: PreparedTarget) -> tuple[Floats, int]:
    """The share of variance that classes, or a straight line, explain; and their parameters."""
    total = np.maximum(np.einsum("ij,ij->i", scores, scores), np.finfo(float).tiny)
    if goal.scores is not None:
        return (scores @ goal.scores) ** 2 / (total * (goal.scores @ goal.scores)), 1
    member = np.eye(goal.classes.n_classes)[goal.classes.codes]
    between = ((scores @ member) ** 2 / goal.classes.counts).sum(axis=1)
    return between / total, goal.classes.n_classes - 1


def _bin_share(codes: Codes, scores: Floats) -> Floats:
    """The share of the variance of numbers that the levels of each column explain."""
    share = np.empty(codes.n_features)
    for i, row in enumerate(codes.values):
        sums, counts = np.bincount(row, scores), np.bincount(row)
        share[i] = (sums**2 / counts).sum()
    return share / (scores @ scores)


def pair_pvalues(columns: PreparedTable, goal: PreparedTarget) -> tuple[Floats, Indices, Floats]:
    """P-values of each column given its best partner, the partner, and I(xi; y | partner).

    The statistic is the largest 2 m I(xi; y | xj) = 2 m I(xi; y) + 2 m interaction over all j. If
    xi is independent of the others and y, the first part is chi-square, and the second parts are
    independent chi-squares; if columns depend on each other, the largest is smaller.
    """
    codes, n_classes = columns.halves, goal.classes.n_classes
    entropies = Entropies.count(codes, goal.classes)
    relevance, m = entropies.mi(), codes.n_samples
    p, partner = np.ones(codes.n_features), np.full(codes.n_features, -1)
    cmi = np.zeros(codes.n_features)
    kinds = [int(level) for level in np.unique(codes.levels) if level > 1]
    for level in kinds:
        others = np.flatnonzero(codes.levels == level)
        best, found = best_partners(entropies, others)
        for own in kinds:
            rows = np.flatnonzero((codes.levels == own) & (found >= 0))
            alone = (own - 1) * (n_classes - 1)
            given = relevance[rows] + best[rows]
            tests = len(others) - (own == level)
            each = len(kinds) * _largest_sf(2 * m * given, alone, alone * (level - 1), tests)
            better = each < p[rows]
            p[rows[better]], partner[rows[better]] = each[better], found[rows[better]]
            cmi[rows[better]] = given[better]
    return np.minimum(p, 1.0), partner, cmi


def _largest_sf(t: Floats, alone: int, together: int, tests: int) -> Floats:
    """P(s + max of d_j > t): s is chi-square, the d_j are so many others, all independent."""
    grid, logs = _largest_tail(alone, together, tests)
    return np.exp(np.interp(t, grid, logs))


@lru_cache(maxsize=64)
def _largest_tail(alone: int, together: int, tests: int) -> tuple[Floats, Floats]:
    """The logarithm of that probability on a grid that reaches below 1e-100."""
    grid = np.linspace(0.0, np.sqrt(600.0 + 4.0 * (alone + together)), GRID) ** 2
    roots = np.linspace(0.0, 1.0, GRID)
    s = grid[1:, np.newaxis] * roots[1:] ** 2  # s = t u^2 takes the pole of the density at 0
    density = np.zeros((GRID, GRID))
    density[1:, 1:] = stats.chi2.pdf(s, alone) * 2 * grid[1:, np.newaxis] * roots[1:]
    if alone == 1:
        density[1:, 0] = np.sqrt(2 * grid[1:] / np.pi)
    single = np.ones((GRID, GRID))
    single[1:, 1:] = stats.chi2.sf(grid[1:, np.newaxis] - s, together)
    single[1:, 0] = stats.chi2.sf(grid[1:], together)
    any_larger = -np.expm1(tests * np.log1p(-np.minimum(single, 1 - 1e-16)))
    p = np.trapezoid(any_larger * density, roots, axis=1) + stats.chi2.sf(grid, alone)
    return grid, np.minimum.accumulate(np.log(np.clip(p, 1e-300, 1.0)))


def calibrate(p: Floats, null: Floats, tests: int) -> Floats:
    """P-values from the smaller of some tests, by what permuted targets gave.

    Within the permuted values the p-value is their share; beyond, tails keep their shape.
    Without permutations the smallest is multiplied by the number of tests.
    """
    if not len(null):
        return np.minimum(1.0, tests * p)
    null = np.sort(null)
    share = (1 + np.searchsorted(null, p, side="right")) / (1 + len(null))
    edge = min(POOLED_TAIL, len(null)) - 1
    slope = (edge + 2) / (1 + len(null)) / max(null[edge], 1e-300)
    return np.where(p < null[edge], np.minimum(p * max(slope, 1.0), share), share)


class SelectRelevant(TableSelector):
    """Select every feature that carries information about the target, alone or in a pair.

    A feature is tested by itself, and given its best partner among all other columns: the
    statistic is the largest conditional mutual information I(xi; y | xj). P-values are those of
    chi-square and beta distributions, corrected by permutations of y where these are affordable;
    the Benjamini-Hochberg procedure controls the false discovery rate. The selection is
    all-relevant, not minimal: copies of an informative feature are selected too.

    Parameters
    ----------
    fdr : float, default=0.1
        The expected share of false discoveries among the selected features.
    pairs : bool, default=True
        Whether to look for features that are informative only together with another one. The
        time grows with the square of the number of columns.
    permutations : int, default=None
        How often y is permuted to correct the p-values; by default up to 20 times, fewer for
        wide tables, and never where that would take minutes (``n_permutations_`` says how often).
    categorical_features : as for :class:`SelectBestK`
    target : {"auto", "classes", "continuous"}, default="auto"
        Classes, or numbers to predict.
    random_state : int or RandomState, default=0
        Seed of the permutations.
    n_jobs : int, default=None
        Number of threads; None: all.

    Attributes
    ----------
    pvalues_ : ndarray of shape (n_features,)
        The p-value of each feature.
    qvalues_ : ndarray of shape (n_features,)
        The smallest ``fdr`` at which each would be selected.
    partners_ : ndarray of shape (n_features,)
        The column given which each feature is most informative; -1 without ``pairs``.
    scores_ : ndarray of shape (n_features,)
        The information behind the smaller p-value, in nats: I(xi; y), or I(xi; y | partner).
    in_pair_ : ndarray of shape (n_features,)
        Whether that is the information given the partner.
    n_permutations_ : int
        How often y was permuted.

    References
    ----------
    Y. Benjamini and Y. Hochberg (1995), Controlling the false discovery rate. Journal of the
    Royal Statistical Society B 57, 289-300.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(500, 20))
    >>> y = X[:, 3] * X[:, 7] > 0
    >>> selector = SelectRelevant().fit(X, y)
    >>> selector.get_support(indices=True)
    array([3, 7])
    >>> selector.partners_[[3, 7]]
    array([7, 3])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "fdr": [Interval(RealNotInt, 0, 1, closed="neither")],
        "pairs": ["boolean"],
        "permutations": [Interval(Integral, 0, None, closed="left"), None],
        **{name: SELECTABLE[name] for name in
           ("categorical_features", "target", "random_state", "n_jobs")},
    }  # fmt: skip

    def __init__(
        self,
        fdr: float = 0.1,
        *,
        pairs: bool = True,
        permutations: int | None = None,
        categorical_features: Any = "from_dtype",
        target: str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.fdr = fdr
        self.pairs = pairs
        self.permutations = permutations
        self.categorical_features = categorical_features
        self.target = target
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Test every feature.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            As for :meth:`SelectBestK.fit`, in memory.
        y : array-like of shape (n_samples,)
            The classes, or numbers to predict.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: integers from 0 up.

        Returns
        -------
        self
        """
        self._validate_params()
        table, target = _read(self, X, y, sample_weight)
        with threads(self.n_jobs):
            goal = PreparedTarget.of(target)
            categorical = find_features(self.categorical_features, table)
            self._test(PreparedTable.of(table, categorical, goal.classes), goal)
        return self

    def _test(self, columns: PreparedTable, goal: PreparedTarget) -> None:
        wanted = self.permutations
        self.n_permutations_ = _affordable(columns, self.pairs) if wanted is None else wanted
        alone, relevance = alone_pvalues(columns, goal)
        given, self.partners_, cmi = np.ones_like(alone), np.full(len(alone), -1), relevance
        if self.pairs:
            given, self.partners_, cmi = pair_pvalues(columns, goal)
        rng, null = check_random_state(self.random_state), []
        for _ in range(self.n_permutations_):
            other = goal.permuted(rng)
            lowest = alone_pvalues(columns, other)[0]
            if self.pairs:
                lowest = np.minimum(lowest, pair_pvalues(columns, other)[0])
            null.append(lowest[columns.bins.levels > 1])
        pool = np.concatenate(null) if null else np.empty(0)
        self.in_pair_ = given < alone
        self.scores_ = np.where(self.in_pair_, cmi, relevance)
        p = calibrate(np.minimum(alone, given), pool, 1 + self.pairs)
        self.pvalues_ = np.where(columns.bins.levels > 1, p, 1.0)
        self.qvalues_ = stats.false_discovery_control(self.pvalues_)
        self.support_ = self.qvalues_ <= self.fdr


@dataclass(frozen=True)
class PairScan:
    """The pairs of features with the largest synergy."""

    pairs: Indices  # a row for each, the lower column first
    synergy: Floats  # I(xi; y | xj) - I(xi; y), in nats
    pvalues: Floats  # of an interaction as large in any of all pairs
    names: Any

    def to_frame(self) -> Any:
        """The pairs, best first, as a pandas data frame."""
        import pandas as pd

        first, second = ([self.names[i] for i in column] for column in self.pairs.T)
        return pd.DataFrame({"first": first, "second": second, "synergy": self.synergy,
                             "pvalue": self.pvalues})  # fmt: skip


def pair_scan(
    X: Any,
    y: Any,
    top: int = 1000,
    *,
    categorical_features: Any = "from_dtype",
    target: str = "auto",
    n_jobs: int | None = None,
) -> PairScan:
    """Find the pairs of features with the largest synergy among all n (n - 1) / 2.

    Numbers are cut at their medians; the synergy of a pair is I(xi; y | xj) - I(xi; y), what the
    two tell about y only together. The matrix of all pairs is never held.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    top : int, default=1000
        The number of pairs to return, or all if there are fewer.
    categorical_features, target, n_jobs
        As for :class:`SelectRelevant`.

    Returns
    -------
    PairScan
        Largest first. P-values are those of chi-square, times the number of pairs.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(400, 100))
    >>> pair_scan(X, X[:, 12] * X[:, 57] > 0, top=1).pairs
    array([[12, 57]])
    """
    options = SelectRelevant(
        categorical_features=categorical_features, target=target, n_jobs=n_jobs
    )
    options._validate_params()
    table, parsed = _read(options, X, y)
    with threads(n_jobs):
        classes = PreparedTarget.of(parsed).classes
        codes = PreparedTable.of(table, find_features(categorical_features, table), classes).halves
        n = codes.n_features
        pairs, synergy = top_pairs(Entropies.count(codes, classes), whole(top, "top", 1))
    degrees = (codes.levels[pairs] - 1).prod(axis=1) * (classes.n_classes - 1)
    tails = stats.chi2.sf(2 * codes.n_samples * synergy, np.maximum(degrees, 1))
    return PairScan(pairs, synergy, np.minimum(1.0, n * (n - 1) / 2 * tails), table.names)


def _read(
    options: SelectRelevant, X: Any, y: Any, sample_weight: Any = None
) -> tuple[Table, ParsedTarget]:
    """The table and its target."""
    if not isinstance(X, Table):
        X = options._check_table(X, reset=True)
    table = read_features(X, options.categorical_features)
    column = read_column(y)
    if sample_weight is not None:
        table, column = weigh(table, column, sample_weight)
    return table, Reading(target=options.target).parse(column, table.n_samples)


def _affordable(columns: PreparedTable, pairs: bool) -> int:
    """How often y is permuted if nobody says."""
    n, m = columns.bins.n_features, columns.bins.n_samples
    work = n * m * (n if pairs else 1)
    return min(MAX_PERMUTATIONS, int(PERMUTED_PAIR_SAMPLES / work))
