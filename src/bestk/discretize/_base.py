"""The base class of discretisers: input checks, cuts and codes of some columns at a time."""

from collections.abc import Callable, Iterator
from inspect import cleandoc
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bestk._typing import Array, Floats, Indices
from bestk.data.frames import named_frame, unmask
from bestk.native import TABLE_TYPES, as_table, kernels
from bestk.native.threads import n_threads, run_tiles, threads

MAX_CODES = 2**15  # of int16; one of them is for NaN
MAX_BINS = MAX_CODES - 1
TILE_VALUES = 2**16  # of a tile of columns: they stay in the cache
MAX_VALUES = 2**22  # in the tiles of all threads: 32 MiB
LINE = 8  # columns that share a cache line
ENCODED_VALUES, ENCODED_COLUMNS = 2**18, 1024  # encoded together
MAX_ROWS = 2**31 - 1
VALUE_COST = 1e-8  # seconds, about, for each value of a table
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
Labels = NDArray[np.int32]


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Numbers to integer codes, by cut points found for each column on its own.

    A value's code is the number of cut points below it, so that the intervals are
    ``(-inf, c_0], (c_0, c_1], ..., (c_last, inf)``. A missing value (NaN) does not
    influence the cuts of its column, and takes the code after the last, ``len(cut_points_) + 1``.

    A subclass has a method ``_cutter``, and ``{attributes}`` in its docstring.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    _supervised: ClassVar[bool] = False  # whether it uses the class
    cut_points_: list[Floats]
    classes_: Array

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        attributes = ATTRIBUTES + CLASSES * cls._supervised
        cls.__doc__ = cleandoc(cls.__doc__ or "").replace("{attributes}", attributes)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the cut points of every column.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Numbers, NaN where missing.
        y : array-like of shape (n_samples,)
            The class of each sample, two classes or more, for CAIM and MDLP; others ignore it.

        Returns
        -------
        self
        """
        self._validate_params()
        if not self._supervised:
            return self._fit_checked(self._numbers(X))
        X, y = self._numbers(X, y)
        with np.errstate(invalid="ignore"):  # where classes are larger than any integer
            check_classification_targets(y)
        return self._fit_checked(X, y)

    def _fit_checked(self, X: Any, y: Any = None) -> Self:
        """The same for finite numbers of a supported type, which need no more checks."""
        self.n_features_in_, order = X.shape[1], None
        labels, n_classes = np.zeros(X.shape[0], np.int32), 1
        if self._supervised:
            labels, order = self._classes(y)
            n_classes = len(self.classes_)
        cut_points = cut_columns(X, self._cutter(labels, n_classes), order)
        for j, cuts in enumerate(cut_points):
            if len(cuts) + 2 > MAX_CODES:
                raise ValueError(
                    f"column {j} would need {len(cuts) + 1} intervals, and at most {MAX_BINS} "
                    f"fit the codes; pass a smaller max_bins, or drop the column"
                )
        self.cut_points_ = cut_points
        return self

    def _cutter(self, y: Labels, n_classes: int) -> Callable[[Floats], list[Floats]]:
        """Return a function that cuts each row of a block, which it may overwrite."""
        raise NotImplementedError

    def _classes(self, y: Any) -> tuple[Labels, Indices]:
        """Return the class numbers in ascending order, and the samples in that order."""
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has one class only ({self.classes_[0]!r}); {type(self).__name__} needs two "
                f"or more: give it samples of another class, or use EqualFrequency"
            )
        order = np.argsort(labels, kind="stable")
        return labels[order].astype(np.int32), order

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
        X = named_frame(X)
        try:
            # values that overflow become infinite, and infinite values are refused
            with np.errstate(over="ignore", invalid="ignore"):
                return validate_data(
                    self,
                    unmask(X),
                    unmask(y),
                    reset=reset,
                    accept_sparse="csc",
                    dtype=list(TABLE_TYPES),
                    ensure_all_finite="allow-nan",
                )
        except (IndexError, OverflowError, TypeError, ValueError) as error:
            if not str(error).startswith(NO_NUMBERS):
                raise
            kind = TypeError if isinstance(error, TypeError) else ValueError
            came = "X is nested" if str(error).startswith("setting") else error
            need = f"{type(self).__name__} needs a table of numbers, one row per sample"
            raise kind(f"{came}; {need}") from error

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        tags.target_tags.required = self._supervised
        return tags


def cut_columns(
    X: Any, cut: Callable[[Floats], list[Floats]], order: Indices | None = None
) -> list[Floats]:
    """Cut all columns: ``cut`` gets some of them as the rows of an array, to be overwritten.

    ``order`` permutes the samples.
    """
    n_samples, n_features = X.shape
    if n_samples > MAX_ROWS:
        raise ValueError(f"X has {n_samples} rows, and at most {MAX_ROWS} can be sorted")
    order = np.arange(n_samples) if order is None else order
    width = max(LINE, TILE_VALUES // n_samples // LINE * LINE)
    width = max(1, min(width, MAX_VALUES // (n_samples * n_threads())))
    starts = range(0, n_features, width)
    found: dict[int, list[Floats]] = {}

    def work(start: int) -> None:
        table = as_table(dense(X[:, start : start + width]))
        block = np.empty(table.shape[::-1])
        kernels.read_columns(table, order, n_samples, block, len(block))
        found[start] = cut(block)

    with threads(seconds=VALUE_COST * n_samples * n_features):
        run_tiles(work, starts)
    return [cuts for start in starts for cuts in found[start]]


def encode_columns(X: Any, cut_points: list[Floats]) -> NDArray[np.int16]:
    """Count for each value the cuts below it; NaN takes the code after the last."""
    codes = np.empty(X.shape, np.int16)
    starts = np.cumsum([0, *map(len, cut_points)])
    cuts = np.concatenate(cut_points, dtype=np.float64)

    def work(tile: tuple[slice, slice]) -> None:
        table, (_, columns) = as_table(dense(X[tile])), tile
        ends = starts[columns.start : columns.stop + 1]
        kernels.encode(table, *table.shape, cuts, ends, codes[tile])

    with threads(seconds=VALUE_COST * X.shape[0] * X.shape[1]):
        run_tiles(work, list(_tiles(X)))
    return codes


def dense(X: Any) -> Array:
    """A part of a table as an array."""
    return X.toarray() if sparse.issparse(X) else X


def _tiles(X: Any) -> Iterator[tuple[slice, slice]]:
    """Parts of a table; of a sparse one whole columns, which are cheaper to take out."""
    n_rows, n_columns = X.shape
    height, width = ENCODED_VALUES // min(n_columns, ENCODED_COLUMNS), ENCODED_COLUMNS
    if sparse.issparse(X):
        height, width = n_rows, max(1, min(width, MAX_VALUES // (n_rows * n_threads())))
    for first in range(0, n_columns, width):
        for top in range(0, n_rows, height):
            yield slice(top, top + height), slice(first, min(first + width, n_columns))


class CodedColumns:
    """The codes of a table by a fitted discretiser, computed when columns are read."""

    dtype, ndim = np.dtype(np.int16), 2

    def __init__(self, discretizer: Discretizer, values: Any) -> None:
        self.shape, self._values = values.shape, values
        self._cut_points = discretizer.cut_points_

    def __getitem__(self, key: tuple[slice, slice]) -> NDArray[np.int16]:
        """Columns that lie side by side."""
        rows, columns = key
        return encode_columns(self._values[:, columns], self._cut_points[columns])[rows]


def fit_to(discretizer: Any, values: Any, classes: Indices) -> Any:
    """Fit to the numbers of a table, without a second check of them where that gives the same."""
    plain = isinstance(values, np.ndarray) and values.dtype in TABLE_TYPES
    own = isinstance(discretizer, Discretizer) and type(discretizer).fit is Discretizer.fit
    if plain and own and not np.isinf(values).any():
        discretizer._validate_params()
        return discretizer._fit_checked(values, classes)
    return discretizer.fit(values, classes)


def codes_of(discretizer: Any, values: Any) -> Any:
    """The codes of a table, computed when they are read where that gives the same."""
    plain = isinstance(discretizer, Discretizer) and values.dtype in TABLE_TYPES
    if plain and type(discretizer).transform is Discretizer.transform:
        return CodedColumns(discretizer, values)
    return discretizer.transform(values)
