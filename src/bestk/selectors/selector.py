"""SelectBestK: the scikit-learn selector."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.metrics import get_scorer

from bestk._compat import Interval, RealNotInt, StrOptions, print_elapsed_time
from bestk.bqp.solution import Solution
from bestk.diagnosis import diagnose
from bestk.errors import ParameterError
from bestk.native.threads import threads
from bestk.selectors.choose_k import AUTO, select_auto_k
from bestk.selectors.fixed_number import select_number
from bestk.selectors.joint_selector import SELECTABLE, PartialFit, forget
from bestk.selectors.options import Options
from bestk.selectors.steps import measure, read_dataset, warn_of, with_warnings
from bestk.selectors.table_selector import is_stream, refuse_blocks
from bestk.tables.covariates import is_covariate_table
from bestk.tables.frames import as_array, read_features


@dataclass(eq=False, repr=False)
class SelectBestK(PartialFit):
    """Select the k features that are best together.

    Quadratic methods also prove how far their choice can be from the optimum; the default, a
    forward selection, does not.

    Parameters
    ----------
    k : int, float or "auto", default=10
        Number of features, or a fraction of them in (0, 1], at least one. If k is more than the
        number of columns, all are selected, with a warning. "auto" takes the fewest features that
        predict about as well as any number up to 100 in cross-validation.
    method : str, Method, selector, array-like or callable, default="auto"
        A name from :data:`bestk.METHODS`, or ``Quadratic(objective, solver)`` or
        ``Greedy(criterion)``. Or a selector of scikit-learn such as ``RFE(estimator)``, a ranking
        of columns best first, or a function of X, y and k that returns the indices of k columns;
        these are given one array, with codes for text. "auto" is block forward selection: see
        :class:`~bestk.methods.forward.BlockForward`.
    information : {"auto", "discrete", "gaussian", "blend"}, default="auto"
        Count the levels of discrete columns; or take numbers as jointly normal within and over
        classes; or take the mean of both, counts corrected for chance. "auto" is what belongs to
        the method: counts, as in the paper, for quadratic and greedy methods. They alone take
        another estimate; ``method="auto"`` reads columns as blocks of numbers.
    discretizer : str, transformer or None, default="auto"
        How numeric columns are cut into bins: ``caim``, ``mdlp``, ``equal-width``,
        ``equal-frequency``, ``sigma``, or a discretiser of your own. None: the columns already
        contain integer codes, from 0 up. "auto" is CAIM; in a blend it is MDLP and equal frequency,
        both.
    correction : {None, "miller-madow", "chance"}, default=None
        Subtract the small-sample bias from the estimates; see :func:`bestk.cmi_matrix`.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns of categories and booleans are always categorical, and columns of strings unless
        they hold numbers or dates. Other columns that are codes rather than quantities can be
        named here, or given by index or mask.
    target : {"auto", "classes", "continuous"}, default="auto"
        What y is; "auto" takes numbers with a fractional part as continuous, and whole numbers
        of many values and few rows each; name it for counts of few values. Gaussian information
        takes a continuous target as it is; to be counted, it is cut into 5 classes of equal
        frequency.
    multioutput : {"sum", "min", "union"}, default="sum"
        For several targets: maximise the sum of their objectives, or the smallest of them, each
        divided by the entropy of its target; or take the union of k features selected for each.
    include, exclude : array-like of str or int, default=None
        Features that must be selected, and features that must not, by name or index.
    covariates : array-like of str or int, default=None
        Columns of X that are adjusted for, such as a batch, a site or an age, by name, index or
        mask: what is selected adds to them. They are not counted in k and never selected. What they
        explain is subtracted from the target and from all other columns by least squares, and the
        rows that this takes are not counted. Codes of at most 10 levels are taken as categories;
        name others in ``categorical_features``. With ``method="auto"`` only. A table of covariates
        that are not in X is passed to ``fit``. See :ref:`covariates`.
    column_groups : dict, array-like or str, default=None
        Columns that are selected together or not at all, such as those of one-hot encoded
        variables: a dict of names to columns, a label for each column, or a separator: columns
        whose names agree up to the last one are a group. Other columns stand alone.
    k_counts : {"groups", "columns"}, default="groups"
        Whether k is the number of groups, or the largest number of their columns.
    bound : {"fast", "tight", None}, default="fast"
        Effort for the upper bound of a quadratic method; see :func:`bestk.solve`.
    time_limit : float, default=None
        Seconds for the solver; with the default method, for a scan of all pairs of columns, which
        takes up to about ten seconds if this is None.
    threshold : float, default=None
        Minimum new information, in nats: k, then the largest number allowed (1.0 for all), is
        lowered to the last number before one at which some selected feature has less; at least
        one is selected, with a warning if it has less.
    scoring : str or callable, default=None
        For ``k="auto"``, a scorer of scikit-learn, such as "roc_auc"; None: the log loss for
        classes, the mean squared error for numbers.
    cv : int, splitter or iterable, default=None
        For ``k="auto"``, the folds, as in scikit-learn. None: 10 up to 5000 rows and 5 above,
        stratified for classes and shuffled.
    random_state : int, RandomState instance or None, default=None
        Random seed of the folds, of a sample of the rows, and of the methods that use one.
    backend, n_jobs : str, default="auto", and int, default=None
        Counting backend, see :func:`bestk.cmi_matrix`; threads, None and -1 for all cores.
    verbose : bool or int, default=False
        Whether to print the seconds of each stage, and a line for each fold of ``k="auto"``.

    Attributes
    ----------
    solution_ : Solution
        The features best first, with objective, bound and gap; ``solution_.to_frame()`` has the
        relevance, contribution and new information of each.
    k_ : int
        The number of selected features.
    k_scores_, k_errors_ : dict of int to float
        For ``k="auto"``, the mean cross-validated score of each number tried; without ``scoring``
        also minus it: the log loss in nats, or the mean squared error over the variance of y.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    ranking_ : ndarray of shape (n_features,)
        1 for the best feature, k for the last selected, k + 1 for all others.
    scores_ : ndarray of shape (n_features,)
        Relevance of each feature alone, I(xi; y) in nats, given the covariates if there are any;
        NaN for excluded ones and for covariates. With ``method="auto"`` it is that of columns which
        are normal within classes, and at most H(y): a column that separates two classes well may
        have all of it. See Notes for why the first feature need not have the largest.
    discretizer_ : transformer or None
        The discretiser as fitted on the numeric columns.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number of features seen, and their names, if all are strings.
    n_samples_seen_ : int
        Number of rows that came in blocks.
    n_groups_ : int
        Number of groups of rows, where ``fit`` was given groups.
    n_covariates_ : int
        Number of covariates that ``fit`` was given beside X.
    is_weighted_ : bool
        Whether ``fit`` was given weights that differ between rows.

    See Also
    --------
    SelectBestKCV : Chooses k for an estimator of yours.

    Notes
    -----
    The default ranks features by what is certain: from the information of a feature it takes twice
    what chance gives for each parameter, where ``scores_`` takes it once; it adds some noise to
    each column, so that nearly perfect ones differ less; and it multiplies by the probability that
    the feature tells anything. So the first one need not have the largest of the ``scores_``.

    Missing values are a level of their own where columns are counted, and stand at the mean
    where they are Gaussian; the default has an indicator of them as well. Columns of one value are
    selected only where no others are left.
    Columns at chance level, leaks, copies and the like are reported in one
    :class:`SelectionWarning`, which is kept in ``solution_.warnings``.
    The default estimates from a random sample of 200,000 rows, more where most are of one class;
    of 2**28 values, all methods use a sample, with a warning. Rows that come in blocks are held
    in memory, and are then a table like any other (:doc:`/scale`).

    References
    ----------
    H. Venkateswara, P. Lade, B. Lin, J. Ye, S. Panchanathan, "Efficient approximate solutions
    to mutual information based global feature selection", ICDM 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = SelectBestK(k=3, method="exact").fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['mean concave points', 'worst texture', 'worst area']
    >>> selector.solution_.gap
    0.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions({AUTO}),
        ],
        "threshold": [Interval(Real, 0, None, closed="left"), None],
        "scoring": [str, callable, None],
        "cv": ["cv_object"],
        **SELECTABLE,
    }

    k: float | str = 10
    method: Any = "auto"
    _: KW_ONLY
    threshold: float | None = None
    scoring: Any = None
    cv: Any = None

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        covariates: Any = None,
    ) -> Self:
        """Select the features.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Numbers, booleans, strings, categories or dates, in an array, a pandas, polars or
            pyarrow table, a sparse matrix or a list of rows; missing values are welcome. Or one
            read in blocks of rows: the name of a file or of a folder of Parquet files, an
            iterable of blocks, or a function that returns one.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The classes, or numbers to predict; a column for each target. For files and blocks
            that are frames the name of its column; None for pairs ``(X_block, y_block)``.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            How much each row counts, from 0 up: importance weights, of which only the ratios
            matter. Information is that of the weighted table, and what chance gives is that of
            ``(sum w)^2 / sum w^2`` rows, the effective number. For files and blocks that are
            frames, the name of the column of weights.
        groups : array-like of shape (n_samples,) or str, default=None
            For ``k="auto"``, groups of rows that no fold separates; for files and blocks that are
            frames, the name of their column. An error with k as a number, which makes no folds.
        covariates : table of shape (n_samples, n_covariates), default=None
            Columns to adjust for that are not in X, beside those that the parameter names: a frame,
            an array or one column of values, in memory.
        """
        self._fit(X, y, sample_weight, groups, covariates)
        warn_of(self.solution_)
        return self

    def _options(self) -> Options:
        self._validate_params()
        if isinstance(self.scoring, str):
            get_scorer(self.scoring)  # an error for an unknown one, even if k is a number
        return Options.of(
            self, k=self.k, threshold=self.threshold, scoring=self.scoring, cv=self.cv
        )

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        covariates: Any = None,
    ) -> None:
        """Select the features, without a warning."""
        options = self._options()
        if covariates is not None:
            refuse_blocks(X, y)
        if groups is not None and options.k != AUTO:
            raise ParameterError(
                f"groups have no effect with k={self.k!r}: they keep rows together in the folds of "
                "k='auto', and there are none; pass k='auto', or leave groups out of fit and pass "
                "them to error_curves, stability_selection or make_report"
            )
        forget(self)
        with threads(options.n_jobs):
            with self._stage("reading"):
                # Of rows in blocks, a sample is enough for estimates that do not need all of them,
                # where no weights and no folds name rows by their places.
                may_sample = sample_weight is None and options.k != AUTO
                rows = self._rows(
                    X,
                    y,
                    sample_weight,
                    groups,
                    for_default=may_sample and not options.estimator.needs_all_rows,
                    exclude=self.exclude,
                )
            self._select_rows(options, *rows, covariates)

    def _select_rows(
        self,
        options: Options,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        covariates: Any = None,
    ) -> None:
        with self._stage("measuring"):
            dataset = read_dataset(X, y, options, sample_weight, covariates)
            self.n_covariates_ = dataset.table.n_features - self.n_features_in_
            self.is_weighted_ = dataset.weights is not None
            information = measure(dataset, options)
        with self._stage("selecting"):
            if isinstance(options.k, str):
                solution = select_auto_k(dataset, information, options, groups)
                self._keep_scores(solution, groups)
            else:
                assert options.k is not None
                solution = select_number(information, options, options.k)
                solution = _with_note_on_folds(solution, options)
            findings = diagnose(information, solution)
            solution = with_warnings(information, solution, findings)
        self._keep(information, solution)

    def _keep_scores(self, solution: Solution, groups: Any) -> None:
        """Store the scores by which k was chosen, and the number of groups of rows."""
        self.k_scores_ = solution.details["k_scores"]
        if "k_errors" in solution.details:
            self.k_errors_ = solution.details["k_errors"]
        if groups is not None:
            self.n_groups_ = len(np.unique(as_array(groups)))

    def _stage(self, name: str) -> AbstractContextManager[None]:
        """Print how long a stage of the fit takes, if ``verbose`` asks for it."""
        if not self.verbose:
            return nullcontext()
        return print_elapsed_time(type(self).__name__, name)

    @property
    def k_(self) -> int:
        """The number of selected features."""
        return self.solution_.k


def _with_note_on_folds(solution: Solution, options: Options) -> Solution:
    """The solution with a warning of parameters that nothing was done with."""
    parameters_of_folds = {"scoring": options.scoring, "cv": options.cv}
    unused = [name for name, value in parameters_of_folds.items() if value is not None]
    if not unused:
        return solution
    it = "it" if len(unused) == 1 else "them"
    note = (
        f"{' and '.join(unused)} did not change the selection, as k={options.k!r} needs no "
        f"cross-validation; pass k='auto', or leave {it} out"
    )
    return replace(solution, warnings=(*solution.warnings, note))


def select(
    X: Any,
    y: Any = None,
    k: float | str = 10,
    method: Any = "auto",
    *,
    sample_weight: Any = None,
    groups: Any = None,
    covariates: Any = None,
    **options: Any,
) -> Solution:
    """Select the k features that are best together.

    Parameters
    ----------
    X, y, k, method, sample_weight, groups, **options
        As for :class:`SelectBestK` and its ``fit``.
    covariates : array-like of str or int, or table of shape (n_samples, n_covariates)
        Columns of X to adjust for, or a table of others.

    Returns
    -------
    Solution
        The features best first, with objective, bound and gap; for ``k="auto"`` the score of
        each number tried is in ``details["k_scores"]``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> solution = select(X, y, k=2, method="exact")
    >>> [X.columns[i] for i in solution.support]
    ['petal width (cm)', 'petal length (cm)']
    """
    columns = covariates
    joined = None
    if is_covariate_table(covariates):
        columns = None
        joined = covariates
    selector = SelectBestK(k, method, covariates=columns, **options)
    if not is_stream(X, y):  # also frames with names that repeat
        X = read_features(X, selector.categorical_features)
    selector._fit(X, y, sample_weight, groups, joined)
    warn_of(selector.solution_)
    return selector.solution_
