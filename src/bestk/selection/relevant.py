"""SelectRelevant: every feature that carries information, alone or in a pair."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy import stats
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt

from bestk._checks import whole
from bestk._typing import Floats, Indices
from bestk.data.features import find_features, find_numeric, read_features
from bestk.data.table import Table, read_column
from bestk.information import Entropies, Query, measures
from bestk.information.reading import ParsedTarget, Reading
from bestk.native.threads import threads
from bestk.selection._pvalues import (
    PreparedTable,
    PreparedTarget,
    alone_pvalues,
    calibrate,
    cut_in_two,
    mean_relevance,
    pair_pvalues,
)
from bestk.selection.base import SELECTABLE, TableSelector
from bestk.selection.pipeline import weigh

MAX_PERMUTATIONS = 50
PERMUTED_PAIR_SAMPLES = 2e10  # pairs times rows that are counted for permutations


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
        How often y is permuted to correct the p-values; by default up to 50 times, fewer for
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
        mean = mean_relevance(columns, goal)  # permutations do not change it
        alone = alone_pvalues(columns, goal, mean)
        relevance = Entropies.count(columns.bins, goal.classes).mi()
        given, self.partners_, cmi = np.ones_like(alone), np.full(len(alone), -1), relevance
        if self.pairs:
            given, self.partners_, cmi = pair_pvalues(columns, goal)
        rng, null = check_random_state(self.random_state), []
        for _ in range(self.n_permutations_):
            other = goal.permuted(rng)
            lowest = alone_pvalues(columns, other, mean)
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
        numeric = find_numeric(table, find_features(categorical_features, table))
        codes = cut_in_two(table, numeric, classes)
        n, count = codes.n_features, whole(top, "top", 1)
        source: Any = Entropies.count(codes, classes).source
        _, pairs, synergy = source.summary(Query(measures.INTERACTION), count, sums=False)
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
