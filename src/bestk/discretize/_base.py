"""The base of all discretisers: the scikit-learn interface, and cuts of columns by kernels."""

from collections.abc import Sequence
from functools import cache, partial
from inspect import cleandoc, signature
from itertools import pairwise, starmap
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
from bestk.native import TABLE_TYPES, kernels
from bestk.native.threads import VALUE_COST, map_columns, run_tiles, spans, threads
from bestk.tables.frames import named_frame
from bestk.tables.target import order_by_class
from bestk.tables.weights import RowWeights

BY_ENTROPY, BY_MAJORITY, BY_FREQUENCY = range(3)  # methods by their number in cuts.c
CODED_ROWS = 2**16  # of a table that are coded together
MAX_SMALL_CUTS = 254  # of a column whose codes take a byte, as in cuts.c
MAX_BINS = 2**15 - 1  # codes are int16; one of them is for NaN
# how numpy, scipy and pyarrow begin their errors about values that are not numbers
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
    """The class numbers of the samples in ascending order, and the samples in that order."""

    labels: NDArray[np.int32]
    n_classes: int
    order: Indices

    @classmethod
    def of(cls, codes: Indices, n_classes: int) -> "Classes":
        """Sort the samples by class."""
        order = order_by_class(codes, n_classes)
        return cls(codes[order].astype(np.int32), n_classes, order)


class ColumnCuts(NamedTuple):
    """The cuts of all columns in one way."""

    values: Floats  # end to end
    counts: Indices  # of each column; -1 where it has infinite values
    codes: NDArray[np.uint8] | None  # (column, sample), samples in order of their classes
    gaps: NDArray[np.bool_]  # whether values are missing

    def split(self) -> list[Floats]:
        """The cuts of each column."""
        ends = np.concatenate([[0], np.cumsum(self.counts)]).tolist()
        return [self.values[a:b] for a, b in pairwise(ends)]


def check_parameters(estimator: Any) -> None:
    """Check the parameters that are not the defaults: all take as long as a small table."""
    kind: Any = type(estimator)
    defaults, own = _default_parameters(kind), vars(estimator)
    changed = {name: own[name] for name in defaults if own[name] is not defaults[name]}
    if changed:
        validate_parameter_constraints(kind._parameter_constraints, changed, kind.__name__)


@cache
def _default_parameters(kind: Any) -> dict[str, Any]:
    return {name: each.default for name, each in signature(kind).parameters.items()}


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Numbers to integer codes, by cut points found for each column on its own.

    A value's code is the number of cut points below it, so that the intervals are
    ``(-inf, c_0], (c_0, c_1], ..., (c_last, inf)``. A missing value (NaN) does not
    influence the cuts of its column, and takes the code after the last, ``len(cut_points_) + 1``.

    A subclass has a method ``_way`` or ``_cut``, and ``{attributes}`` in its docstring.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    _supervised: ClassVar[bool] = False  # whether it uses the class
    _validate_params = check_parameters
    cut_points_: list[Floats]
    classes_: Array

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = ATTRIBUTES + CLASSES * cls._supervised
        cls.__doc__ = cleandoc(cls.__doc__ or "").replace("{attributes}", own)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the cut points of every column.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Numbers, NaN where missing.
        y : array-like of shape (n_samples,)
            The class of each sample, two classes or more, for CAIM and MDLP; others ignore it.
        """
        self._find_cuts(X, y, 0)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.int16]:
        """Fit to X, then transform it; the same as ``fit(X, y).transform(X)`` in one pass."""
        kind = type(self)
        if kind.fit is not Discretizer.fit or kind.transform is not Discretizer.transform:
            return np.asarray(super().fit_transform(X, y))
        X, order, found = self._find_cuts(X, y, 1)
        if found is None or found.counts.max() > MAX_SMALL_CUTS:
            return encode_columns(X, self.cut_points_)
        codes = np.empty(X.shape, np.int16, order="F")

        def reorder(span: tuple[int, int]) -> None:
            part = found.codes[slice(*span)]
            kernels.reorder(part, *part.shape, order, codes.T[slice(*span)])

        with threads(seconds=VALUE_COST * codes.size):
            run_tiles(reorder, spans(len(codes.T), max(1, CODED_ROWS // len(codes))))
        return codes

    def _find_cuts(self, X: Any, y: Any, n_coded: int) -> tuple[Any, Indices, Any]:
        """The table, the samples in order of their classes, and the cuts if a kernel finds them."""
        self._validate_params()
        if self._supervised:
            X, y = self._numbers(X, y)
            with np.errstate(invalid="ignore"):  # where classes are larger than any integer
                check_classification_targets(y)
            classes = self._read_classes(y)
        else:
            X = self._numbers(X)
            classes = Classes.of(np.zeros(X.shape[0], np.int64), 1)
        way, found = self._way(X.shape[0]), None
        if way is None:
            cut_points = [cuts for part in map_columns(X, self._cut) for cuts in part]
        else:
            (found,) = cut_by_kernel(X, classes, [way], n_coded)
            cut_points = found.split()
        self._keep_cuts(cut_points)
        return X, classes.order, found

    def _way(self, n_samples: int) -> tuple[int, int] | None:
        """The method of the kernel and its most bins; None if there is a method ``_cut``."""

    def _cut(self, block: Floats, start: int) -> list[Floats]:
        """The cuts of each row of a block, which may be overwritten."""
        raise NotImplementedError

    def _keep_cuts(self, cut_points: list[Floats]) -> None:
        most = max(map(len, cut_points), default=0)
        if most + 1 > MAX_BINS:
            j = [len(cuts) for cuts in cut_points].index(most)
            raise ValueError(
                f"column {j} has {most + 1} bins, and at most {MAX_BINS} are possible; "
                "pass a smaller max_bins, or drop the column"
            )
        self.n_features_in_, self.cut_points_ = len(cut_points), cut_points

    def _read_classes(self, y: Any) -> Classes:
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
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
        try:  # values that overflow become infinite, and infinite values are refused
            with np.errstate(over="ignore", invalid="ignore"):
                return validate_data(
                    self, named_frame(X), y, reset=reset, accept_sparse="csc",
                    dtype=list(TABLE_TYPES), ensure_all_finite="allow-nan",
                )  # fmt: skip
        except (IndexError, OverflowError, TypeError, ValueError) as error:
            if not str(error).startswith(NO_NUMBERS):
                raise
            kind = TypeError if isinstance(error, TypeError) else ValueError
            came = "X is nested" if str(error).startswith("setting") else error
            raise kind(f"{came}; {type(self).__name__} needs a table of numbers") from error

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        tags.target_tags.required = self._supervised
        return tags


def encode_columns(X: Any, cut_points: list[Floats]) -> NDArray[np.int16]:
    """Count for each value the cuts below it; NaN takes the code after the last."""
    codes = np.empty(X.shape, np.int16, order="F")
    starts = np.cumsum([0, *map(len, cut_points)])
    cuts = np.concatenate(cut_points, dtype=np.float64)
    height = X.shape[0] if hasattr(X, "toarray") else CODED_ROWS  # rows of CSC are slow to take

    def encode(out: NDArray[np.int16], block: Floats, start: int) -> None:
        stop = start + len(block)
        kernels.encode(block, *block.shape, cuts, starts[start : stop + 1], out[start:stop])

    for rows in starmap(slice, spans(X.shape[0], height)):
        map_columns(X[rows], partial(encode, codes[rows].T))
    return codes


def cut_by_kernel(
    X: Any, classes: Classes, ways: Sequence[tuple[int, int]], n_coded: int = 0
) -> list[ColumnCuts]:
    """Cut all columns in some ways, given as method and most bins: each is sorted once.

    The first ``n_coded`` ways have codes; those of columns with too many levels are not written.
    """
    (n_samples, n_features), n_ways = X.shape, len(ways)
    codes = np.empty(n_coded * n_features * n_samples, np.uint8)
    by_entropy = any(method == BY_ENTROPY for method, _ in ways)
    logs = log_tables(n_samples, classes.n_classes) if by_entropy else (None,) * 3
    how = *classes[:2], np.array(ways, np.int64), n_ways, *logs

    def cut(block: Floats, start: int) -> tuple[Any, ...]:
        cuts, counts = np.empty((n_ways, block.size)), np.empty((n_ways, len(block)), np.int64)
        known, own = np.empty(len(block), np.int64), codes[start * n_samples :]
        kernels.cut(block, *block.shape, *how, cuts, counts, known, n_coded, own, n_features)
        sizes = np.maximum(counts, 0).sum(axis=1)
        return [own[:size].copy() for own, size in zip(cuts, sizes, strict=True)], counts, known

    values, counts, known = zip(*map_columns(X, cut, classes.order), strict=True)
    every, gaps = np.concatenate(counts, axis=1), np.concatenate(known) < n_samples
    coded = [*codes.reshape(n_coded, n_features, n_samples), *[None] * (n_ways - n_coded)]
    flat = [np.concatenate(own) for own in zip(*values, strict=True)]
    return [ColumnCuts(flat[i], every[i], coded[i], gaps) for i in range(n_ways)]


def cut_by_weights(
    X: Any, classes: Classes, weights: RowWeights, ways: Sequence[tuple[int, int]], n_coded: int
) -> list[ColumnCuts]:
    """Cut all columns in some ways, as :func:`cut_by_kernel`, by the weights of their rows.

    ``weights``: of the samples in the order of their classes.
    """
    n_samples, n_features = X.shape
    in_rows, labels = weights.in_rows, classes.labels.astype(np.int64)
    counts = np.empty((len(ways), n_features), np.int64)
    gaps = np.zeros(n_features, bool)
    codes = np.zeros((n_coded, n_features, n_samples), np.uint8)

    def cut(block: Floats, start: int) -> list[list[Floats]]:
        found: list[list[Floats]] = [[] for _ in ways]
        for place, values in enumerate(block, start):
            gaps[place] = np.isnan(values).any()
            if np.isinf(values).any():
                counts[:, place] = -1
                continue
            column = WeightedColumn.of(values, labels, classes.n_classes, in_rows)
            for way, (method, max_bins) in enumerate(ways):
                cuts = _cut_column(column, classes.n_classes, method, max_bins)
                counts[way, place] = len(cuts)
                found[way].append(cuts)
                if way < n_coded and len(cuts) <= MAX_SMALL_CUTS:
                    codes[way, place] = np.searchsorted(cuts, values)
                    codes[way, place, np.isnan(values)] = len(cuts) + 1
        return found

    parts = list(map_columns(X, cut, classes.order))
    flat = [
        np.concatenate([np.empty(0), *(cuts for part in parts for cuts in part[way])])
        for way in range(len(ways))
    ]
    coded = [*codes, *[None] * (len(ways) - n_coded)]
    return [ColumnCuts(flat[i], counts[i], coded[i], gaps) for i in range(len(ways))]


def _cut_column(column: WeightedColumn, n_classes: int, method: int, max_bins: int) -> Floats:
    """The cuts of one column by its method."""
    if not len(column.values):
        return np.empty(0)
    if method == BY_MAJORITY:
        return cut_by_majority(column, n_classes, max_bins)
    if method == BY_ENTROPY:
        return cut_by_entropy(column, n_classes, max_bins)
    return cut_by_frequency(column, max_bins)


def log_tables(n_samples: int, n_classes: int) -> tuple[Floats, ...]:
    """``n log n`` and ``log n`` of counts, and ``log(3^k - 2)`` of numbers of classes.

    All by the logarithm of the C library: that of numpy differs from machine to machine.
    """
    counts = np.arange(n_samples + 1.0)
    classes = [k * log(3.0) + log1p(-2.0 * 3.0**-k) for k in range(1, n_classes + 1)]
    return xlogy(counts, counts), xlogy(1.0, counts), np.array([-np.inf, *classes])


def fit_together(
    discretizers: Sequence[Any], values: Any, classes: Indices, n_coded: int,
    found: list[ColumnCuts] | None = None, weights: RowWeights | None = None,
) -> list[ColumnCuts] | None:  # fmt: skip
    """Fit several in one pass, the first ones with codes, samples in order of their classes.

    None, and nothing is fitted, if values are infinite, or not of a supported kind and type.
    ``found``: the cuts, where they are known. ``weights``: of the samples in their own order; the
    cuts of sparse values have no codes.
    """
    own = all(isinstance(d, Discretizer) and type(d).fit is Discretizer.fit for d in discretizers)
    is_array = isinstance(values, np.ndarray)
    if not own or values.dtype not in TABLE_TYPES or not (is_array or weights is not None):
        return None
    for discretizer in discretizers:
        discretizer._validate_params()
    ways = [discretizer._way(values.shape[0]) for discretizer in discretizers]
    if None in ways:
        return None
    read = [d._read_classes(classes) for d in discretizers if d._supervised]
    read = read or [Classes.of(classes, int(classes.max()) + 1)]
    if weights is not None:
        by_class = RowWeights(weights.values[read[0].order])
        found = cut_by_weights(values, read[0], by_class, ways, n_coded if is_array else 0)
    found = found or cut_by_kernel(values, read[0], ways, n_coded)
    if any((cuts.counts < 0).any() for cuts in found):
        return None
    for discretizer, cuts in zip(discretizers, found, strict=True):
        discretizer._keep_cuts(cuts.split())
    return found
