"""The base of all discretisers: the scikit-learn interface, and cuts of columns by kernels."""

from collections.abc import Sequence
from functools import cache, partial
from inspect import cleandoc, signature
from itertools import pairwise
from math import log, log1p
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bestk._compat import validate_parameter_constraints
from bestk._typing import Array, Floats, Indices
from bestk.discretize._weighted import (
    WeightedColumn,
    cut_by_entropy,
    cut_by_frequency,
    cut_by_majority,
)
from bestk.errors import DataError
from bestk.native import TABLE_TYPES, kernels
from bestk.native.threads import VALUE_COST, map_columns, run_tiles, spans, threads
from bestk.tables.frames import named_frame
from bestk.tables.target import order_by_class
from bestk.tables.weights import RowWeights

# Methods by their number in cuts.c.
BY_ENTROPY, BY_MAJORITY, BY_FREQUENCY = range(3)

# Rows of a table that are coded together.
CODED_ROWS = 2**16

# Cuts of a column whose codes take a byte, as in cuts.c; one of the codes is for NaN.
MAX_SMALL_CUTS = 254

# Bins of a column: codes are int16, and one of them is for NaN.
MAX_BINS = 2**15 - 1

# How numpy, scipy and pyarrow begin their errors about values that are not numbers.
NO_NUMBERS = ("could not convert", "setting an array", "Cannot c", "cannot do", "int too large")
ATTRIBUTES = """Attributes
----------
cut_points_ : list of ndarray
    The cuts of each column, ascending.
n_features_in_ : int
    The number of columns seen in ``fit``.
feature_names_in_ : ndarray
    Their names, where they had names."""
CLASSES = """
classes_ : ndarray
    The classes seen in ``fit``."""


class Classes(NamedTuple):
    """The classes of the samples, sorted."""

    labels: NDArray[np.int32]
    """The class number of each sample, ascending."""

    n_classes: int

    order: Indices
    """The samples in that order."""

    @classmethod
    def of(cls, codes: Indices, n_classes: int) -> "Classes":
        """Sort the samples by class."""
        order = order_by_class(codes, n_classes)
        return cls(codes[order].astype(np.int32), n_classes, order)


class CutMethod(NamedTuple):
    """How the columns of a table are cut."""

    number: int
    """BY_ENTROPY, BY_MAJORITY or BY_FREQUENCY."""

    max_bins: int


class ColumnCuts(NamedTuple):
    """The cuts of all columns by one method."""

    values: Floats
    """The cuts of the first column, ascending, then those of the second, and so on."""

    counts: Indices
    """How many cuts each column has; -1 where it has infinite values."""

    codes: NDArray[np.uint8] | None
    """``[column, sample]``, samples in order of their classes; None where they are not known."""

    gaps: NDArray[np.bool_]
    """Whether values of the column are missing."""

    def split(self) -> list[Floats]:
        """The cuts of each column."""
        ends = np.concatenate([[0], np.cumsum(self.counts)]).tolist()
        return [self.values[start:stop] for start, stop in pairwise(ends)]


def check_parameters(estimator: Any) -> None:
    """Check the parameters that are not the defaults: all take as long as a small table."""
    kind: Any = type(estimator)
    values = vars(estimator)
    changed = {}
    for name, default in _default_parameters(kind).items():
        if values[name] is not default:
            changed[name] = values[name]
    if changed:
        validate_parameter_constraints(kind._parameter_constraints, changed, kind.__name__)


@cache
def _default_parameters(kind: Any) -> dict[str, Any]:
    """The defaults of the parameters of a class."""
    parameters = signature(kind).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Numbers to integer codes, by cut points found for each column on its own.

    A value's code is the number of cut points below it, so that the intervals are
    ``(-inf, c_0], (c_0, c_1], ..., (c_last, inf)``. A missing value (NaN) does not
    influence the cuts of its column, and takes the code after the last, ``len(cut_points_) + 1``.

    A subclass has a method ``_method_of_kernel`` or ``_cut``, and its docstring has
    ``{attributes}``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    _supervised: ClassVar[bool] = False  # whether it uses the class
    _validate_params = check_parameters
    cut_points_: list[Floats]
    classes_: Array

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        attributes = ATTRIBUTES + CLASSES if cls._supervised else ATTRIBUTES
        cls.__doc__ = cleandoc(cls.__doc__ or "").replace("{attributes}", attributes)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the cut points of every column.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Numbers, NaN where missing.
        y : array-like of shape (n_samples,)
            The class of each sample, two classes or more, for CAIM and MDLP; others ignore it.
        """
        self._find_cuts(X, y, with_codes=False)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.int16]:
        """Fit to X, then transform it; the same as ``fit(X, y).transform(X)`` in one pass."""
        kind = type(self)
        if kind.fit is not Discretizer.fit or kind.transform is not Discretizer.transform:
            return np.asarray(super().fit_transform(X, y))
        X, classes, cuts = self._find_cuts(X, y, with_codes=True)
        if cuts is None or cuts.codes is None or cuts.counts.max() > MAX_SMALL_CUTS:
            return encode_columns(X, self.cut_points_)
        return _in_row_order(cuts.codes, classes.order)

    def _find_cuts(
        self, X: Any, y: Any, *, with_codes: bool
    ) -> tuple[Any, Classes, ColumnCuts | None]:
        """The table, the classes of its samples, and the cuts where a kernel finds them."""
        self._validate_params()
        if self._supervised:
            X, y = self._numbers(X, y)
            with np.errstate(invalid="ignore"):  # where classes are larger than any integer
                check_classification_targets(y)
            classes = self._read_classes(y)
        else:
            X = self._numbers(X)
            classes = Classes.of(np.zeros(X.shape[0], np.int64), 1)
        method = self._method_of_kernel(X.shape[0])
        if method is None:
            blocks = map_columns(X, self._cut)
            self._keep_cuts([cuts for block in blocks for cuts in block])
            return X, classes, None
        (cuts,) = cut_by_kernel(X, classes, [method], n_coded=int(with_codes))
        self._keep_cuts(cuts.split())
        return X, classes, cuts

    def _method_of_kernel(self, n_samples: int) -> CutMethod | None:
        """The method of the kernel; None if there is a method ``_cut``."""

    def _cut(self, block: Floats, start: int) -> list[Floats]:
        """The cuts of each column of a block, ``[column, sample]``, which may be overwritten."""
        raise NotImplementedError

    def _keep_cuts(self, cut_points: list[Floats]) -> None:
        """Set the attributes of a fitted discretizer."""
        counts = [len(cuts) for cuts in cut_points]
        most_cuts = max(counts, default=0)
        if most_cuts + 1 > MAX_BINS:
            raise DataError(
                f"column {counts.index(most_cuts)} has {most_cuts + 1} bins, and at most "
                f"{MAX_BINS} are possible; pass a smaller max_bins, or drop the column"
            )
        self.n_features_in_ = len(cut_points)
        self.cut_points_ = cut_points

    def _read_classes(self, y: Any) -> Classes:
        """The classes of the samples, of which there are two or more."""
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(
                f"y has one class only ({self.classes_[0]!r}); {type(self).__name__} needs two "
                f"or more: give it samples of another class, or use EqualFrequency"
            )
        return Classes.of(labels, len(self.classes_))

    def transform(self, X: Any) -> NDArray[np.int16]:
        """Give each value the number of its interval.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Numbers, NaN where missing.

        Returns
        -------
        ndarray of shape (n_samples, n_features), int16
            Codes from 0 to ``len(cut_points_[j])``, and one more for NaN.
        """
        check_is_fitted(self)
        return encode_columns(self._numbers(X, reset=False), self.cut_points_)

    def _numbers(self, X: Any, y: Any = "no_validation", reset: bool = True) -> Any:
        """Check X (and y, if given) without a conversion of supported types."""
        try:
            # Values that overflow become infinite, and infinite values are refused.
            with np.errstate(over="ignore", invalid="ignore"):
                return validate_data(
                    self,
                    named_frame(X),
                    y,
                    reset=reset,
                    accept_sparse="csc",
                    dtype=list(TABLE_TYPES),
                    ensure_all_finite="allow-nan",
                )
        except (IndexError, OverflowError, TypeError, ValueError) as error:
            if not str(error).startswith(NO_NUMBERS):
                raise
            kind = TypeError if isinstance(error, TypeError) else DataError
            came = "X is nested" if str(error).startswith("setting") else error
            raise kind(f"{came}; {type(self).__name__} needs a table of numbers") from error

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        tags.target_tags.required = self._supervised
        return tags


def _in_row_order(codes: NDArray[np.uint8], order: Indices) -> NDArray[np.int16]:
    """Codes ``[row, column]`` from those of samples in order of their classes.

    ``codes``: ``[column, sample]``; ``order``: the row that each sample is.
    """
    n_columns, n_rows = codes.shape
    by_row = np.empty((n_rows, n_columns), np.int16, order="F")

    def reorder(span: tuple[int, int]) -> None:
        first, last = span
        kernels.reorder(codes[first:last], last - first, n_rows, order, by_row.T[first:last])

    with threads(seconds=VALUE_COST * codes.size):
        run_tiles(reorder, spans(n_columns, max(1, CODED_ROWS // n_rows)))
    return by_row


def encode_columns(X: Any, cut_points: list[Floats]) -> NDArray[np.int16]:
    """Count for each value the cuts below it; NaN takes the code after the last."""
    n_rows = X.shape[0]
    codes = np.empty(X.shape, np.int16, order="F")
    starts = np.cumsum([0, *map(len, cut_points)])
    cuts = np.concatenate(cut_points, dtype=np.float64)

    def encode(out: NDArray[np.int16], block: Floats, start: int) -> None:
        """Encode the columns of a block into their rows of ``out``, ``[column, row]``."""
        n_columns, n_samples = block.shape
        stop = start + n_columns
        kernels.encode(block, n_columns, n_samples, cuts, starts[start : stop + 1], out[start:stop])

    height = n_rows if hasattr(X, "toarray") else CODED_ROWS  # rows of CSC are slow to take
    for first, last in spans(n_rows, height):
        map_columns(X[first:last], partial(encode, codes[first:last].T))
    return codes


def cut_by_kernel(
    X: Any, classes: Classes, methods: Sequence[CutMethod], n_coded: int = 0
) -> list[ColumnCuts]:
    """Cut all columns by each method: each column is sorted once.

    The first ``n_coded`` methods have codes; those of columns with too many levels are not written.
    """
    n_samples, n_features = X.shape
    n_methods = len(methods)
    method_table = np.array(methods, np.int64).reshape(n_methods, 2)
    codes = np.empty(n_coded * n_features * n_samples, np.uint8)
    n_log_n: Floats | None = None
    log_n: Floats | None = None
    log_codings: Floats | None = None
    if any(method.number == BY_ENTROPY for method in methods):
        n_log_n, log_n, log_codings = log_tables(n_samples, classes.n_classes)

    def cut(block: Floats, start: int) -> _BlockCuts:
        """Cut the columns of a block."""
        n_columns = len(block)
        cuts = np.empty((n_methods, block.size))
        counts = np.empty((n_methods, n_columns), np.int64)
        n_values = np.empty(n_columns, np.int64)
        kernels.cut(
            block,
            n_columns,
            n_samples,
            classes.labels,
            classes.n_classes,
            method_table,
            n_methods,
            n_log_n,
            log_n,
            log_codings,
            cuts,
            counts,
            n_values,
            n_coded,
            codes[start * n_samples :],
            n_features,
        )
        n_cuts = np.maximum(counts, 0).sum(axis=1)
        values = [cuts[i, : n_cuts[i]].copy() for i in range(n_methods)]
        return _BlockCuts(values, counts, n_values)

    blocks = map_columns(X, cut, classes.order)
    counts = np.concatenate([block.counts for block in blocks], axis=1)
    has_gaps = np.concatenate([block.n_values for block in blocks]) < n_samples
    codes_of_methods = codes.reshape(n_coded, n_features, n_samples)
    return [
        ColumnCuts(
            values=np.concatenate([block.values[i] for block in blocks]),
            counts=counts[i],
            codes=codes_of_methods[i] if i < n_coded else None,
            gaps=has_gaps,
        )
        for i in range(n_methods)
    ]


class _BlockCuts(NamedTuple):
    """The cuts of some columns by each method."""

    values: list[Floats]
    """For each method, the cuts of the first column, then those of the second, and so on."""

    counts: Indices
    """``[method, column]``: how many cuts; -1 where the column has infinite values."""

    n_values: Indices
    """How many values of each column are not missing."""


def cut_by_weights(
    X: Any, classes: Classes, weights: RowWeights, methods: Sequence[CutMethod], n_coded: int
) -> list[ColumnCuts]:
    """Cut all columns by each method, as :func:`cut_by_kernel`, by the weights of their rows.

    ``weights``: of the samples in the order of their classes.
    """
    n_samples, n_features = X.shape
    n_methods = len(methods)
    in_rows = weights.in_rows
    labels = classes.labels.astype(np.int64)
    counts = np.empty((n_methods, n_features), np.int64)
    has_gaps = np.zeros(n_features, bool)
    codes = np.zeros((n_coded, n_features, n_samples), np.uint8)

    def cut(block: Floats, start: int) -> list[list[Floats]]:
        """The cuts of the columns of a block, for each method."""
        cuts_of_methods: list[list[Floats]] = [[] for _ in methods]
        for j, values in enumerate(block, start):
            is_missing = np.isnan(values)
            has_gaps[j] = is_missing.any()
            if np.isinf(values).any():
                counts[:, j] = -1
                continue
            column = WeightedColumn.of(values, labels, classes.n_classes, in_rows)
            for i, method in enumerate(methods):
                cuts = _cut_column(column, classes.n_classes, method)
                counts[i, j] = len(cuts)
                cuts_of_methods[i].append(cuts)
                if i < n_coded and len(cuts) <= MAX_SMALL_CUTS:
                    codes[i, j] = np.searchsorted(cuts, values)
                    codes[i, j, is_missing] = len(cuts) + 1
        return cuts_of_methods

    blocks = list(map_columns(X, cut, classes.order))
    return [
        ColumnCuts(
            values=np.concatenate([np.empty(0), *(cuts for block in blocks for cuts in block[i])]),
            counts=counts[i],
            codes=codes[i] if i < n_coded else None,
            gaps=has_gaps,
        )
        for i in range(n_methods)
    ]


def _cut_column(column: WeightedColumn, n_classes: int, method: CutMethod) -> Floats:
    """The cuts of one column."""
    if not len(column.values):
        return np.empty(0)
    if method.number == BY_MAJORITY:
        return cut_by_majority(column, n_classes, method.max_bins)
    if method.number == BY_ENTROPY:
        return cut_by_entropy(column, n_classes, method.max_bins)
    return cut_by_frequency(column, method.max_bins)


def log_tables(n_samples: int, n_classes: int) -> tuple[Floats, Floats, Floats]:
    """``n log n`` and ``log n`` of counts, and ``log(3^k - 2)`` of numbers of classes.

    All by the logarithm of the C library: that of numpy differs from machine to machine.
    """
    counts = np.arange(n_samples + 1.0)
    log_codings = [k * log(3.0) + log1p(-2.0 * 3.0**-k) for k in range(1, n_classes + 1)]
    return xlogy(counts, counts), xlogy(1.0, counts), np.array([-np.inf, *log_codings])


def fit_together(
    discretizers: Sequence[Any],
    values: Any,
    classes: Indices,
    n_coded: int,
    known_cuts: list[ColumnCuts] | None = None,
    weights: RowWeights | None = None,
) -> list[ColumnCuts] | None:
    """Fit several in one pass, the first ones with codes, samples in order of their classes.

    None, and nothing is fitted, if values are infinite, or not of a supported kind and type.
    ``known_cuts``: the cuts, where they are known. ``weights``: of the samples in their own order;
    the cuts of sparse values have no codes.
    """
    is_array = isinstance(values, np.ndarray)
    are_ours = all(
        isinstance(discretizer, Discretizer) and type(discretizer).fit is Discretizer.fit
        for discretizer in discretizers
    )
    if not are_ours or values.dtype not in TABLE_TYPES or not (is_array or weights is not None):
        return None
    for discretizer in discretizers:
        discretizer._validate_params()
    methods = [discretizer._method_of_kernel(values.shape[0]) for discretizer in discretizers]
    if None in methods:
        return None
    sorted_classes = None
    for discretizer in discretizers:
        if discretizer._supervised:
            sorted_classes = discretizer._read_classes(classes)
    if sorted_classes is None:
        sorted_classes = Classes.of(classes, int(classes.max()) + 1)
    cuts_of_methods = known_cuts
    if weights is not None:
        by_class = RowWeights(weights.values[sorted_classes.order])
        n_coded_by_weights = n_coded if is_array else 0
        cuts_of_methods = cut_by_weights(
            values, sorted_classes, by_class, methods, n_coded_by_weights
        )
    if cuts_of_methods is None:
        cuts_of_methods = cut_by_kernel(values, sorted_classes, methods, n_coded)
    if any((cuts.counts < 0).any() for cuts in cuts_of_methods):
        return None
    for discretizer, cuts in zip(discretizers, cuts_of_methods, strict=True):
        discretizer._keep_cuts(cuts.split())
    return cuts_of_methods
