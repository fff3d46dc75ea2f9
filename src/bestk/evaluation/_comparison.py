"""Whether one method is better than another: paired t-tests over folds, counted over k."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bestk._checks import choice, real
from bestk.errors import ParameterError

Alternative = Literal["less", "greater", "two-sided"]
Decision = Literal["win", "tie", "loss"]
ROUNDING = 8 * np.finfo(float).eps  # differences of this size, relative to the errors, are none


@dataclass(frozen=True)
class TTest:
    """Student's t of paired differences, its p-value and degrees of freedom."""

    statistic: float
    pvalue: float
    df: int


def paired_t_test(
    a: Any, b: Any, alternative: Alternative = "less", *, overlap: float = 0.0
) -> TTest:
    """Test whether errors ``a`` are smaller than errors ``b`` of the same folds.

    With ``d = a - b`` over N folds, ``t = mean(d) / sqrt((1/N + overlap) var(d))`` has N - 1
    degrees of freedom.

    Parameters
    ----------
    a, b : array-like of shape (n_folds,)
        Errors, fold by fold.
    alternative : {"less", "greater", "two-sided"}, default="less"
        The alternative hypothesis: a below b, above it, or either.
    overlap : float, default=0.0
        Test rows for each training row, 1/9 with ten folds: corrects for training sets that
        share rows, without which p-values are too small (Nadeau and Bengio 2003).

    Returns
    -------
    TTest
        ``statistic``, ``pvalue`` and ``df``. If all differences are equal, the statistic is -inf
        or inf, and 0 if all differences are 0.

    References
    ----------
    C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003.

    Examples
    --------
    >>> test = paired_t_test([0.1, 0.2, 0.1, 0.1], [0.2, 0.2, 0.3, 0.2])
    >>> round(test.statistic, 3), round(test.pvalue, 3)
    (-2.449, 0.046)
    """
    from scipy.special import stdtr

    first, second = _errors(a), _errors(b)
    if first.shape != second.shape or first.ndim != 1 or len(first) < 2:
        came = f"shapes {first.shape} and {second.shape}"
        raise ParameterError(
            f"a paired test needs two errors of each of two folds or more; got {came}"
        )
    choice(alternative, "alternative", ("less", "greater", "two-sided"))
    statistic, df = _t_statistic(first, second, overlap), len(first) - 1
    below, above = float(stdtr(df, statistic)), float(stdtr(df, -statistic))
    values = {"less": below, "greater": above, "two-sided": 2 * min(below, above)}
    return TTest(statistic, values[alternative], df)


def _errors(values: Any) -> NDArray[np.float64]:
    try:
        errors = np.asarray(values)
        with np.errstate(over="ignore"):
            return np.asarray(
                errors if errors.dtype.kind in "biuf" else errors.astype(object), float
            )
    except (OverflowError, TypeError, ValueError) as error:
        came = type(values).__name__
        raise ParameterError(f"errors must be a list of numbers; got a {came}") from error


def _t_statistic(a: NDArray[np.float64], b: NDArray[np.float64], overlap: float) -> float:
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ParameterError("errors must be finite numbers; some are NaN or infinite")
    overlap = real(overlap, "overlap", "a ratio of rows, 0 or more")
    if not 0 <= overlap < np.inf:
        raise ParameterError(f"overlap must be a ratio of rows, 0 or more, not {overlap}")
    largest = max(np.abs(a).max(), np.abs(b).max())
    _, power = np.frexp(largest)  # errors below 1, so that squares neither overflow nor vanish
    differences = np.ldexp(a, -power) - np.ldexp(b, -power)
    nothing = ROUNDING * np.ldexp(largest, -power)
    mean = float(differences.mean())
    if np.ptp(differences) <= nothing:
        return 0.0 if abs(mean) <= nothing else float(np.copysign(np.inf, mean))
    return mean / float(np.sqrt((1 / len(a) + overlap) * differences.var(ddof=1)))


@dataclass(frozen=True)
class Comparison:
    """Our method against another: a decision and a mean difference of errors for each k."""

    decisions: tuple[Decision, ...]
    differences: tuple[float, ...]  # our error minus the other: negative where ours is better

    @property
    def wins(self) -> int:
        """For how many k our error is significantly smaller."""
        return self.decisions.count("win")

    @property
    def ties(self) -> int:
        """For how many k neither is significantly smaller."""
        return self.decisions.count("tie")

    @property
    def losses(self) -> int:
        """For how many k our error is significantly larger."""
        return self.decisions.count("loss")

    @property
    def verdict(self) -> Decision:
        """The decision of most k; a tie, unless wins or losses alone are the most frequent."""
        if self.wins > max(self.ties, self.losses):
            return "win"
        return "loss" if self.losses > max(self.ties, self.wins) else "tie"

    @property
    def leaning(self) -> Decision:
        """The more frequent of wins and losses, however many ties there are."""
        if self.wins == self.losses:
            return "tie"
        return "win" if self.wins > self.losses else "loss"

    @property
    def mean_difference(self) -> float:
        """Mean over k of the differences."""
        return float(np.mean(self.differences))

    @property
    def deviation(self) -> float:
        """Standard deviation over k of the differences; NaN for a single k."""
        return float(np.std(self.differences, ddof=1)) if len(self.differences) > 1 else np.nan

    def __str__(self) -> str:
        mean, deviation = 100 * self.mean_difference, 100 * self.deviation
        counts = f"{self.wins}/{self.ties}/{self.losses}"
        return f"{mean:+.2f} ± {deviation:.1f} % {self.verdict} ({counts})"


def win_tie_loss(ours: Any, other: Any, alpha: float = 0.05, *, overlap: float = 0.0) -> Comparison:
    """Count for how many k one method is significantly better than another.

    For each k it is a win if a one-sided paired t-test over the folds finds our errors smaller, a
    loss if the opposite test finds them larger, and otherwise a tie.

    Parameters
    ----------
    ours, other : array-like of shape (n_ks, n_folds)
        Errors of the two methods on the same folds.
    alpha : float, default=0.05
        Level of each one-sided test.
    overlap : float, default=0.0
        See :func:`paired_t_test`.

    Returns
    -------
    Comparison
        Decisions, their counts, ``verdict``, and ``mean_difference`` with its ``deviation``;
        its text is a cell of Tables 3 and 4 of Venkateswara et al. (2015).

    Notes
    -----
    With leave-one-out the errors are 0 or 1, and only the rows on which the methods disagree
    count, as in McNemar's test; where these are few, the p-value is too small.

    ``verdict`` is the most frequent decision, which is the rule that the paper states. Its tables
    agree with ``leaning``, the more frequent of wins and losses.

    References
    ----------
    H. Venkateswara, P. Lade, B. Lin, J. Ye, S. Panchanathan, "Efficient approximate solutions
    to mutual information based global feature selection", ICDM 2015.

    Examples
    --------
    >>> ours = [[0.1, 0.2, 0.1, 0.1], [0.1, 0.1, 0.1, 0.2], [0.1, 0.0, 0.1, 0.1]]
    >>> other = [[0.2, 0.2, 0.3, 0.2], [0.1, 0.2, 0.2, 0.3], [0.1, 0.1, 0.0, 0.1]]
    >>> print(win_tie_loss(ours, other))
    -5.83 ± 5.2 % win (2/1/0)
    """
    first, second = np.atleast_2d(_errors(ours)), np.atleast_2d(_errors(other))
    alpha = real(alpha, "alpha", "a probability")
    if first.shape != second.shape or first.ndim != 2 or not first.size:
        came = f"shapes {first.shape} and {second.shape}"
        raise ParameterError(f"both methods need an error for every k and fold; got {came}")
    decisions = tuple(_decide(a, b, alpha, overlap) for a, b in zip(first, second, strict=True))
    return Comparison(decisions, tuple((first - second).mean(axis=1).tolist()))


def _decide(a: Any, b: Any, alpha: float, overlap: float) -> Decision:
    if paired_t_test(a, b, "less", overlap=overlap).pvalue < alpha:
        return "win"
    return "loss" if paired_t_test(a, b, "greater", overlap=overlap).pvalue < alpha else "tie"
