"""Cross-validation: folds, columns as numbers, their scores, and rules that choose k by them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from numbers import Integral
from time import perf_counter
from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bestk._checks import whole
from bestk._compat import take_items, take_rows_of_params
from bestk._typing import Floats, Indices
from bestk.errors import ParameterError
from bestk.tables.frames import as_array
from bestk.tables.outliers import move_outliers
from bestk.tables.table import Table, as_matrix
from bestk.tables.weights import RowWeights

Fold = tuple[Indices, Indices]  # training rows, test rows
FOLDS = 5
MAX_INDICATORS = 20  # of a column; one of more levels is the mean target at each
MAX_SCORE = 2.5  # of numbers that are squared, in standard deviations
TINY = 1e-9  # standard deviation of squares that are a straight line but for rounding


def make_folds(
    cv: Any, rows: tuple[Any, Any, Any], *, default: Any = FOLDS, classes: bool, **shuffled: Any
) -> list[Fold]:
    """Training and test rows of a splitter, or of so many folds; ``rows`` are X, y and groups."""
    from sklearn import model_selection as ms

    _, y, groups = rows
    if groups is not None and isinstance(cv, Integral | None):
        default = min(FOLDS, n_groups := len(np.unique(as_array(groups))))
        if n_groups < 2:
            raise ParameterError("groups has one group only; folds by group need at least two")
    cv = default if cv is None else cv
    if isinstance(cv, Integral):
        plain, grouped = (ms.KFold, ms.StratifiedKFold), (ms.GroupKFold, ms.StratifiedGroupKFold)
        cv = (plain if groups is None else grouped)[classes](int(cv), **shuffled)
    with np.errstate(invalid="ignore"):  # where targets are larger than any integer
        folds = [(np.asarray(a), np.asarray(b)) for a, b in ms.check_cv(cv).split(*rows)]
    if not folds:
        raise ParameterError("cv yields no folds; pass a number of folds, or pairs of rows")
    targets = np.asarray(y)
    for number, (train, _) in enumerate(folds, 1):
        seen = targets[train]
        if len(seen) and (seen == seen[0]).all() and not (targets == seen[0]).all():
            raise ParameterError(
                f"all training rows of fold {number} of {len(folds)} have the class {seen[0]!s}; "
                "use fewer folds, or drop classes of one or two rows"
            )
    return folds


def without_weightless(folds: list[Fold], weights: RowWeights | None) -> list[Fold]:
    """The folds without rows of weight 0; a fold that has no other test rows is left out."""
    if weights is None:
        return folds
    counting = []
    for train, test in folds:
        tested = test[weights.counts[test]]
        if len(tested):
            counting.append((train[weights.counts[train]], tested))
    return counting


def weight_parameter(estimator: Any) -> str:
    """The parameter of ``fit`` that takes the weights of rows; of a pipeline, its last step's."""
    steps = getattr(estimator, "steps", None)
    if steps:
        name, last = steps[-1]
        return f"{name}__{weight_parameter(last)}"
    parameters = signature(estimator.fit).parameters.values()
    if any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters):
        return "sample_weight"
    raise ParameterError(
        f"{type(estimator).__name__}.fit takes no sample_weight; use an estimator that does, or "
        "pass no sample_weight"
    )


def read_ks(ks: Any, least: int, most: int) -> list[int]:
    """Numbers of features in rising order, each once."""
    try:
        wanted = sorted({whole(k, "k") for k in ks})
    except (TypeError, ParameterError) as error:
        raise ParameterError(f"ks must be a list of whole numbers, not {ks!r}") from error
    least = max(1, least)
    if not wanted or not least <= wanted[0] <= wanted[-1] <= most:
        came = f"{wanted[0]}..{wanted[-1]}" if wanted else "empty"
        raise ParameterError(
            f"ks must lie between {least} and {most}, the number of features; got {came}"
        )
    return wanted


@dataclass(frozen=True)
class Trial:
    """An estimator, the table and target that it is fitted on, and how it is scored."""

    estimator: Any
    scorer: Any
    X: Any
    y: Any
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    score_params: Mapping[str, Any] = field(default_factory=dict)
    weights: RowWeights | None = None
    """Of all rows: the model is fitted and scored with them. None: the rows count alike."""

    def score(self, columns: Sequence[int] | Indices, fold: Fold) -> float:
        """The score on the test rows of a model fitted to some columns of the training rows."""
        kept = take_items(self.X, columns, axis=1)
        (train, test), y = fold, self.y
        fit_params = take_rows_of_params(self.X, self.fit_params, train)
        score_params = take_rows_of_params(self.X, self.score_params, test)
        if self.weights is not None:
            weights = self.weights.of_mean_one
            fit_params = {**fit_params, weight_parameter(self.estimator): weights[train]}
            score_params = {**score_params, "sample_weight": weights[test]}
        with np.errstate(invalid="ignore", over="ignore"):  # where a column has no value in a fold
            model = clone(self.estimator)
            model.fit(take_items(kept, train), take_items(y, train), **fit_params)
            rows = take_items(kept, test), take_items(y, test)
            try:
                return float(self.scorer(model, *rows, **score_params))
            except TypeError as error:
                if self.weights is None or "sample_weight" not in str(error):
                    raise
                raise ParameterError(
                    f"the scorer takes no sample_weight: {error}; use another scoring, or pass no "
                    "sample_weight"
                ) from error
            except ValueError as error:
                raise ParameterError(
                    f"predictions cannot be scored: {error}; use another scoring, such as "
                    "'roc_auc' for two classes, 'f1_macro' for more, or 'r2' for numbers"
                ) from error


def printed_progress(name: str, verbose: Any) -> Callable[[int, int], Any]:
    """A function that prints how many of the folds are done, where ``verbose`` asks for it."""
    start = perf_counter()

    def show(done: int, total: int) -> None:
        if verbose:
            print(f"[{name}] {done} of {total} done, {perf_counter() - start:.1f} s", flush=True)

    return show


def choose(ks: Sequence[int], scores: NDArray[np.float64], rule: str) -> int:
    """The k of the best mean score over folds (rows of ``scores``), by the rule."""
    if not np.isfinite(scores).all():
        fold = int(np.flatnonzero(~np.isfinite(scores).all(axis=1))[0]) + 1
        raise ParameterError(
            f"the score in fold {fold} of {len(scores)} is not finite; pass another scoring, "
            "or fewer folds, so that each has rows of every class"
        )
    best = int(np.argmax(scores.mean(axis=0)))
    if rule == "best" or len(scores) < 2:
        return ks[best]
    worse = scores[:, [best]] - scores
    return ks[int(np.argmax(worse.mean(axis=0) <= _standard_error(worse)))]


def beats(scores: NDArray[np.float64], guess: NDArray[np.float64]) -> bool:
    """Whether the best mean score exceeds that of a dummy model by more than a standard error."""
    better = scores[:, [int(np.argmax(scores.mean(axis=0)))]] - guess[:, None]
    return bool(better.mean() > (_standard_error(better)[0] if len(scores) > 1 else 0.0))


def _standard_error(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(differences.std(axis=0, ddof=1) / np.sqrt(len(differences)))


@dataclass(frozen=True)
class ModelColumns:
    """Features as numbers, NaN where missing; indicators of categories and of missing numbers.

    A category of many levels is the mean target at the level of each row, for each target.
    """

    values: Floats
    features: Indices  # of each column
    numeric: NDArray[np.bool_]  # columns of numbers, not of indicators
    optional: NDArray[np.bool_]  # indicators of missing numbers, and squares
    levels: Floats  # codes of categories of many levels
    targets: Sequence[NDArray[Any]]  # numbers, or indicators of classes

    @classmethod
    def of(
        cls, table: Table, features: Indices, nominal: Indices, targets: Sequence[NDArray[Any]] = ()
    ) -> "ModelColumns":
        """Some features of a table, in rising order; numbers among ``nominal`` are categories."""
        matrix, words = as_matrix(table.keep(features))
        matrix = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, np.float64)
        coded = np.isin(features, nominal)
        coded[words] = True
        columns = zip(matrix.T, coded, strict=True)
        parts = [indicators(column) if code else _with_missing(column) for column, code in columns]
        widths = [part.shape[1] for part in parts]
        first = np.cumsum([0, *widths[:-1]])
        many = np.array(widths) == 0
        targets = targets if many.any() else ()
        owners = np.append(np.repeat(features, widths), np.tile(features[many], len(targets)))
        numeric = np.isin(np.arange(len(owners)), first[~coded])
        missing = ~numeric & np.isin(owners, features[~coded])
        optional = np.append(missing, np.full(numeric.sum(), True))
        owners = np.append(owners, owners[numeric])
        return cls(np.hstack(parts), owners, numeric, optional, matrix[:, many], targets)

    def standardized(self, train: Indices) -> Floats:
        """All rows, scaled by the training rows; then squares, less what lines explain."""
        from sklearn.preprocessing import StandardScaler

        largest = np.nanmax(np.abs(self.values), axis=0, initial=1e-300)
        means = [mean_targets(self.levels, y, train) for y in self.targets]
        Z = np.hstack([self.values / largest, *means])  # squares of large numbers would overflow
        with np.errstate(invalid="ignore", divide="ignore"), catch_warnings(action="ignore"):
            # columns without a known value
            if self.numeric.any():
                Z[:, self.numeric] = move_outliers(Z[:, self.numeric], train)
            Z = np.nan_to_num(StandardScaler().fit(Z[train]).transform(Z))
            straight = Z[:, self.numeric]
            squares = np.clip(straight, -MAX_SCORE, MAX_SCORE) ** 2
            squares -= straight * np.mean(straight[train] * squares[train], axis=0)
            squares -= squares[train].mean(axis=0)
            spread = squares[train].std(axis=0)
            return np.hstack([Z, np.where(spread > TINY, squares / spread, 0.0)])


def _with_missing(column: Floats) -> Floats:
    """A column of numbers and, if some are missing, an indicator of those."""
    missing = np.isnan(column)
    return np.column_stack([column, missing] if missing.any() else [column])


def indicators(column: NDArray[Any]) -> Floats:
    """An indicator for each level, the most frequent first; none for more than the limit."""
    _, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
    shown = len(counts) if len(counts) <= MAX_INDICATORS else 0
    frequent = np.argsort(-counts, kind="stable")[:shown]
    return np.equal.outer(codes, frequent).astype(np.float64)


def mean_targets(levels: Floats, y: NDArray[Any], train: Indices) -> Floats:
    """The mean target at each level in the training rows; theirs are those of other rows."""
    from sklearn.preprocessing import TargetEncoder

    encoder, y = TargetEncoder(target_type="continuous"), y.astype(np.float64)
    rows = np.random.default_rng(0).permutation(np.unique(train))  # no copy of a row predicts it
    rows = rows[np.argsort(y[rows], kind="stable")]  # the same mean target in each fold
    means = np.asarray(encoder.fit(levels[rows], y[rows]).transform(levels))
    for fold in range(n_folds := min(FOLDS, len(rows))):
        others = np.arange(len(rows)) % n_folds != fold
        encoder.fit(levels[rows[others]], y[rows[others]])
        means[rows[~others]] = encoder.transform(levels[rows[~others]])
    return means
