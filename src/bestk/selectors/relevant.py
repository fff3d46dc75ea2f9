"""SelectRelevant: every feature that carries information, alone or in a pair."""

from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Self
from warnings import warn

import numpy as np
from scipy import stats
from sklearn.utils import check_random_state

from bestk._checks import whole
from bestk._compat import Interval, RealNotInt
from bestk._typing import Indices
from bestk.diagnosis import significance
from bestk.diagnosis.adjusted_tests import AdjustedTests
from bestk.diagnosis.repeated_rows import draw_one_of_each, note_on_repeats
from bestk.diagnosis.significance import (
    AnyTarget,
    CountedTests,
    InPairs,
    PermutationTests,
    PreparedTarget,
    count_copies,
)
from bestk.errors import ParameterError, SelectionWarning
from bestk.information import Entropies
from bestk.information.scan import PairScan, informative_pairs
from bestk.native.threads import threads
from bestk.selectors.joint_selector import SELECTABLE
from bestk.selectors.table_selector import TableSelector, refuse_blocks
from bestk.tables.covariates import join_covariates
from bestk.tables.dataset import find_covariates
from bestk.tables.frames import as_array, read_features
from bestk.tables.table import Table, find_features
from bestk.tables.target import Target, parse_target


@dataclass(eq=False, repr=False)
class SelectRelevant(TableSelector):
    """Select every feature that carries information about the target, alone or in a pair.

    A feature is tested by itself, and given its best partner among all other columns, by the
    largest conditional mutual information I(xi; y | xj). P-values are those of chi-square and beta
    distributions, exact or corrected for skewness where rows are few, and compared with those of
    permutations of y where these are affordable. The selection is all-relevant, not minimal:
    copies of an informative feature are selected too. Rows must be independent; ``fit`` takes
    ``groups`` of rows that are not, and warns if it sees some.

    Parameters
    ----------
    fdr : float, default=0.1
        The expected share of false discoveries among the selected features.
    pairs : bool, default=True
        Whether to look for features that are informative only together with another one: the
        time grows with the square of the number of columns.
    permutations : int, default=None
        How often y is permuted to correct the p-values; by default up to 50 times, fewer for
        wide tables, and never where that would take minutes (``n_permutations_`` says how often).
    covariates : array-like of str or int, default=None
        Columns of X that are adjusted for, by name, index or mask: what is found adds to them. They
        are not tested: their results are NaN. Residuals of y are permuted, among rows of equal
        categories of the covariates. See :ref:`covariates`.
    categorical_features, target, random_state, backend, n_jobs
        As for :class:`SelectBestK`; the random seed is that of the permutations.

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
    >>> rng = np.random.default_rng(2)
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
           ("covariates", "categorical_features", "target", "random_state", "backend", "n_jobs")},
    }  # fmt: skip

    fdr: float = 0.1
    _: KW_ONLY
    pairs: bool = True
    permutations: int | None = None
    covariates: Any = None
    categorical_features: Any = "from_dtype"
    target: str = "auto"
    random_state: Any = 0
    backend: str = "auto"
    n_jobs: int | None = None

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        covariates: Any = None,
    ) -> Self:
        """Test every feature.

        Parameters
        ----------
        X, y
            As for :meth:`SelectBestK.fit`, in memory or in blocks of rows; y is one target.
        sample_weight : array-like of shape (n_samples,), or str, default=None
            How much each row counts, beside the others: a constant factor changes nothing. Chance
            is that of the effective number of rows, (sum w)^2 / sum w^2. For files and blocks of
            rows that are frames, the name of a column. Not together with covariates.
        groups : array-like of shape (n_samples,), or str, default=None
            Which rows belong together, as those of one patient. Tests take rows as independent, so
            one row of each group is tested, drawn by ``random_state``. For files and blocks of
            rows that are frames, the name of a column.
        covariates : table of shape (n_samples, n_covariates), default=None
            Columns to adjust for that are not in X, beside those that the parameter names.
        """
        self._validate_params()
        with threads(self.n_jobs):
            observed = _read(self, X, y, sample_weight, groups, covariates)
            if len(observed.covariates):
                self._test(observed.features, observed.adjusted_tests())
            else:
                self._test(observed.features, observed.counted_tests())
        is_tested = ~np.isnan(self.pvalues_)
        self.qvalues_ = np.full(len(self.pvalues_), np.nan)
        self.qvalues_[is_tested] = stats.false_discovery_control(self.pvalues_[is_tested])
        self.support_ = self.qvalues_ <= self.fdr
        return self

    def _test(self, features: Indices, tests: PermutationTests[AnyTarget]) -> None:
        """Find the smaller p-value of each column, by what permuted targets gave.

        ``features``: the places of the columns that are tested.
        """
        rng = check_random_state(self.random_state)
        n = self.permutations
        if n is None:
            n = tests.affordable_permutations(self.pairs)
        self.n_permutations_ = n
        targets = [tests.target, *(tests.permuted(rng) for _ in range(n))]
        p, relevance, varies = tests.alone(targets)
        given = InPairs(np.ones_like(relevance), np.full(len(relevance), -1), relevance)
        if self.pairs:
            for i in range(1, n + 1):
                in_null = tests.in_pairs(targets[i], self.backend)
                p[i] = np.minimum(p[i], in_null.pvalues)
            given = tests.in_pairs(targets[0], self.backend)
        in_pair = given.pvalues < p[0]
        smaller = np.minimum(p[0], given.pvalues)
        is_in_pairs = tests.vary_in_pairs & self.pairs
        pvalues = np.ones(len(smaller))
        for n_tests, tested in ((2, is_in_pairs), (1, varies & ~is_in_pairs)):
            pvalues[tested] = significance.calibrate(smaller[tested], p[1:, tested], n_tests)
        # Of all columns, those that were tested have results.
        n_columns = self.n_features_in_
        self.in_pair_ = np.zeros(n_columns, bool)
        self.in_pair_[features] = in_pair
        self.partners_ = np.full(n_columns, -1)
        self.partners_[features] = np.where(given.partners < 0, -1, features[given.partners])
        self.scores_ = np.full(n_columns, np.nan)
        self.scores_[features] = np.where(in_pair, given.information, relevance)
        self.pvalues_ = np.full(n_columns, np.nan)
        self.pvalues_[features] = pvalues


@dataclass(frozen=True)
class _Observed:
    """What was read: the rows that are tested, and how."""

    table: Table
    """The columns, and then those of covariates that are not in X."""

    categorical: Indices
    """The places of columns that are codes of categories."""

    covariates: Indices
    """The places of columns to adjust for."""

    target: Target

    copies: Indices | None
    """How often each row counts, at least once; None: once."""

    @property
    def features(self) -> Indices:
        """The places of the columns to test."""
        return np.delete(np.arange(self.table.n_features), self.covariates)

    def counted_tests(self) -> CountedTests:
        """The tests of all columns."""
        return CountedTests.of(self.table, self.categorical, self.target, self.copies)

    def adjusted_tests(self) -> AdjustedTests:
        """The tests of all columns but the covariates, given these."""
        return AdjustedTests.of(self.table, self.categorical, self.covariates, self.target)


def pair_scan(X: Any, y: Any, top: int = 1000, **options: Any) -> PairScan:
    """Find the pairs of features that both tell most, among all n (n - 1) / 2, best first.

    Pairs are ranked by what both features add to what the better one tells about y::

        min(I(xi; y | xj), I(xj; y | xi)) = I(xi, xj; y) - max(I(xi; y), I(xj; y))

    That is large if each tells something beside the other, and if they tell something only
    together; it is small if one of them is noise, or a copy of the other. The result also has the
    synergy, I(xi; y | xj) - I(xi; y), which the two tell only together.

    Numbers are cut into three bins, or two where rows are few or columns many. The p-value of a
    pair is that of chance if one of its features tells nothing that the other does not tell,
    multiplied by the number of pairs.

    Parameters
    ----------
    X, y, **options
        As for :class:`SelectRelevant`, but ``fdr``, ``pairs``, ``permutations``, ``covariates``,
        ``random_state``.
    top : int, default=1000
        The number of pairs to return, or all if there are fewer.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(400, 100))
    >>> pair_scan(X, X[:, 12] * X[:, 57] > 0, top=1).pairs
    array([[12, 57]])
    """
    reader = SelectRelevant(**options)
    reader._validate_params()
    if reader.covariates is not None:
        raise ParameterError(
            "covariates have no effect on pair_scan, which counts columns as they are; pass them "
            "to SelectRelevant, which tests pairs given covariates"
        )
    count = whole(top, "top", 1)
    with threads(reader.n_jobs):
        observed = _read(reader, X, y)
        table = observed.table
        classes = PreparedTarget.of(observed.target).classes
        categorical = observed.categorical
        codings = significance.codes_for_pairs(
            table, categorical, table.n_samples, classes.n_classes
        )
        codes = next(codings)
        entropies = Entropies.count(codes, classes, reader.backend)
        scan = informative_pairs(entropies, codes, classes, count)
    return replace(scan, names=table.names)


def _read(
    options: SelectRelevant,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    groups: Any = None,
    covariates: Any = None,
) -> _Observed:
    """The table and its target, one row of each group; and how often each row counts."""
    if covariates is not None:
        refuse_blocks(X, y)
    X, y, sample_weight, groups = options._rows(X, y, sample_weight, groups)
    table = read_features(X, options.categorical_features)
    categorical = find_features(options.categorical_features, table)
    places = find_covariates(options.covariates, table)
    target = parse_target(y, table.n_samples, options.target)
    notes = [*table.notes, target.note]
    if covariates is not None:
        table, joined = join_covariates(table, covariates)
        places = np.concatenate([places, joined])
    if len(places) and sample_weight is not None:
        raise ParameterError(
            "SelectRelevant takes covariates or sample_weight, not both: residuals are permuted as "
            "those of equal rows; leave out one of them"
        )
    if len(places) == table.n_features:
        raise ParameterError("every column is a covariate; leave at least one to test")
    rows = np.arange(table.n_samples)
    copies = None
    if sample_weight is not None:
        copies = count_copies(sample_weight, table.n_samples)
        rows = np.flatnonzero(copies)
    if groups is not None:
        labels = as_array(groups)
        rng = check_random_state(options.random_state)
        drawn = draw_one_of_each(labels, table.n_samples, rows, rng)
        notes.append(f"one row of each group is tested, {len(drawn)} of {table.n_samples}")
        rows = drawn
    else:
        notes.append(note_on_repeats(table))
    if len(rows) < table.n_samples:
        table = table.take(rows)
        target = target.take(rows)
    if said := list(filter(None, notes)):
        warn("\n".join(said), SelectionWarning, stacklevel=3)
    if copies is not None:
        copies = copies[rows]
        copies = None if (copies == copies[0]).all() else copies
    return _Observed(table, categorical, places, target, copies)
