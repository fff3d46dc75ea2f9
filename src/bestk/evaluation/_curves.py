"""Error against k, fold by fold; and whether the folds agree on the features."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from operator import index
from typing import Any

import numpy as np
from scipy.special import stdtr

from bestk._checks import whole
from bestk._typing import Floats
from bestk.errors import ParameterError

# The name of the method of rows with all features.
BASELINE = "all"

# Differences between folds that are smaller than this, relative to the largest, are rounding.
ROUNDING = 8 * np.finfo(float).eps


def t_statistics(differences: Floats, overlap: float = 0.0) -> Floats:
    """Student's t of each row d of N paired differences; infinite where all are alike.

    ``t = mean(d) / sqrt((1/N + overlap) var(d))``.

    Parameters
    ----------
    differences : ndarray of shape (n_tests, n_folds)
        The differences of two methods in each fold.
    overlap : float
        Test rows for each training row, which corrects for training sets that share rows.
    """
    n_folds = differences.shape[1]
    if n_folds < 2:
        raise ParameterError(f"a paired t-test needs two folds or more, not {n_folds}")
    mean = differences.mean(axis=1)
    deviation = differences.std(axis=1, ddof=1)
    largest = np.abs(differences).max(axis=1)
    are_alike = np.ptp(differences, axis=1) <= ROUNDING * largest
    deviation[are_alike] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / (np.sqrt(1 / n_folds + overlap) * deviation)
    return np.nan_to_num(t, nan=0.0, posinf=np.inf, neginf=-np.inf)


def stability(selections: Sequence[Sequence[int]], n_features: int) -> float:
    """Measure the similarity of M selections of features, corrected for chance.

    With ``p_f`` the fraction of the selections that contain feature f, ``d`` the number of
    features and ``k`` the mean number selected, the index is
    ``1 - mean_f(M / (M - 1) p_f (1 - p_f)) / (k/d (1 - k/d))``.

    Parameters
    ----------
    selections : sequence of sequences of int
        The indices of the selected features; selections may differ in size.
    n_features : int
        The number of features selected from.

    Returns
    -------
    float
        The index, from -1 / (M - 1) to 1: 1 if selections are identical, about 0 if they are
        random. Where every selection contains all features, or none, it is 1.

    References
    ----------
    S. Nogueira, K. Sechidis, G. Brown, "On the stability of feature selection algorithms",
    Journal of Machine Learning Research 18, 2018.

    Examples
    --------
    >>> stability([[0, 1], [0, 2]], n_features=4)
    0.0
    """
    d = min(whole(n_features, "n_features", 1), np.iinfo(np.int64).max)
    supports = _read_selections(selections, d)
    M = len(supports)
    if M < 2:
        raise ParameterError(f"stability needs two selections or more; got {M}")
    mean_size = sum(len(support) for support in supports) / M
    selected_share = mean_size / d
    if selected_share in (0, 1):
        return 1.0
    # Features that no selection contains have a fraction of 0, and add nothing to the sum.
    _, counts = np.unique(np.concatenate(supports), return_counts=True)
    p = counts / M
    total_variance = float((p * (1 - p)).sum())
    mean_variance = total_variance / d * M / (M - 1)
    return 1 - mean_variance / (selected_share * (1 - selected_share))


def _read_selections(selections: Sequence[Sequence[int]], n_features: int) -> list[list[int]]:
    """Check that selections are different indices of features."""
    try:
        supports = [[index(i) for i in selection] for selection in selections]
    except TypeError as error:
        raise ParameterError(f"selections must be lists of indices, not {selections!r}") from error
    for support in supports:
        has_twins = len(set(support)) < len(support)
        if has_twins or not all(0 <= i < n_features for i in support):
            raise ParameterError(
                f"a selection must have different indices in 0..{n_features - 1}, not {support}"
            )
    return supports


@dataclass(frozen=True)
class Row:
    """The result of one method, with one k, in one fold."""

    method: str
    k: int
    fold: int

    error: float
    """On the test rows: the error rate, the mean squared error, or minus the score."""

    n_test: int
    """The number of test rows."""

    seconds: float
    """The time of the selection, without that of the estimates."""

    support: Sequence[int]
    """The selected features, best first."""


@dataclass(frozen=True)
class Curves:
    """Errors of several methods on the same folds, for several k.

    :func:`error_curves` returns it. Its text is a table of mean errors, or of scores if errors are
    the negative values of one.
    """

    rows: tuple[Row, ...]
    """One for each method, k and fold; those with all features are of the method "all"."""

    names: Sequence[str]
    """The names of all features."""

    scoring: str | None = None
    """The score of which errors are the negative values; None: they are errors."""

    @property
    def rising(self) -> bool:
        """Whether values are shown as scores, of which larger ones are better."""
        return self.scoring is not None and not self.scoring.startswith("neg_")

    @property
    def measure(self) -> str:
        """The name of the values as they are shown."""
        return (self.scoring or "error").removeprefix("neg_")

    @property
    def methods(self) -> list[str]:
        """Names of the methods, in the order in which they were given."""
        return list(dict.fromkeys(row.method for row in self.rows if row.method != BASELINE))

    @property
    def ks(self) -> list[int]:
        """Numbers of features of all methods, rising."""
        return sorted({row.k for row in self.rows if row.method != BASELINE})

    def errors(self, method: str) -> Floats:
        """Errors of a method: a row for each of its k, a column for each fold; "all": one row."""
        rows = sorted(self._rows(method), key=lambda row: (row.k, row.fold))
        errors = np.array([row.error for row in rows])
        n_ks = len({row.k for row in rows})
        return errors.reshape(n_ks, -1)

    def mean_error(self) -> dict[str, Floats]:
        """Mean over folds of each method, an error for each k; one for "all", if it is there."""
        names = dict.fromkeys(row.method for row in self.rows)
        return {name: self.errors(name).mean(axis=1) for name in names}

    def p_values(self, ours: str, other: str, *, overlap: float = 0.0) -> Floats:
        """For each k, the p-value that one method has smaller errors than another by chance.

        It is that of a one-sided paired t-test over the folds: :func:`t_statistics` of the
        differences of the errors.

        Parameters
        ----------
        ours, other : str
            Names of methods, or "all" for the baseline.
        overlap : float, default=0.0
            Test rows for each training row, 1/9 with ten folds: corrects for training sets that
            share rows, without which p-values are too small (Nadeau and Bengio 2003).

        References
        ----------
        C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003.
        """
        differences = self.errors(ours) - self.errors(other)
        degrees = differences.shape[1] - 1
        return np.asarray(stdtr(degrees, t_statistics(differences, overlap)))

    def stability(self) -> dict[str, list[float]]:
        """Stability of the selections over the folds: for each method, a value for each k."""
        stability_of: dict[str, list[float]] = {}
        for name in self.methods:
            rows = self._rows(name)
            values: list[float] = []
            for k in sorted({row.k for row in rows}):
                supports = [row.support for row in rows if row.k == k]
                values.append(stability(supports, len(self.names)))
            stability_of[name] = values
        return stability_of

    def to_frame(self) -> Any:
        """All rows as a pandas data frame with a column for each field of :class:`Row`."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows])

    def _rows(self, method: str) -> list[Row]:
        """The rows of a method."""
        rows = [row for row in self.rows if row.method == method]
        if not rows:
            methods = ", ".join(dict.fromkeys(row.method for row in self.rows))
            raise ParameterError(
                f"there is no method {method!r} in these curves; they have {methods}"
            )
        return rows

    def __str__(self) -> str:
        mean_of = self._written_means()
        width = 2 + max(len(text) for text in (*self.methods, *mean_of.values()))
        n_folds = len({row.fold for row in self.rows})
        titles = "".join(f"{name:>{width}}" for name in self.methods)
        lines = [f"mean {self.measure} over {n_folds} folds", f"     k{titles}"]
        for k in self.ks:
            cells = "".join(f"{mean_of.get((name, k), ''):>{width}}" for name in self.methods)
            lines.append(f"{k:6}{cells}")
        for (name, _), mean in mean_of.items():
            if name == BASELINE:
                lines.append(f"{BASELINE:>6}{mean:>{width}}")
        return "\n".join(lines)

    def _written_means(self) -> dict[tuple[str, int], str]:
        """The mean over folds of each method and k, as it is shown."""
        sign = -1 if self.rising else 1
        values: dict[tuple[str, int], list[float]] = {}
        for row in self.rows:
            values.setdefault((row.method, row.k), []).append(sign * row.error)
        return {key: f"{np.mean(folds):.4f}" for key, folds in values.items()}
