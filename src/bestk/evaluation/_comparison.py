"""Whether one method is better than another: paired t-tests over folds, counted over k."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import stdtr

from bestk._checks import real
from bestk._typing import Floats
from bestk.errors import ParameterError

Decision = Literal["win", "tie", "loss"]
ROUNDING = 8 * np.finfo(float).eps  # differences of this size, relative to the errors, are none


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

    With ``d`` the differences of the errors in N folds, ``t = mean(d) / sqrt((1/N + overlap)
    var(d))`` has N - 1 degrees of freedom. For each k it is a win if the one-sided test finds our
    errors smaller, a loss if the opposite test finds them larger, and otherwise a tie.

    Parameters
    ----------
    ours, other : array-like of shape (n_ks, n_folds)
        Errors of the two methods on the same folds.
    alpha : float, default=0.05
        Level of each one-sided test.
    overlap : float, default=0.0
        Test rows for each training row, 1/9 with ten folds: corrects for training sets that
        share rows, without which p-values are too small (Nadeau and Bengio 2003).

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
    C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003.

    H. Venkateswara, P. Lade, B. Lin, J. Ye, S. Panchanathan, "Efficient approximate solutions
    to mutual information based global feature selection", ICDM 2015.

    Examples
    --------
    >>> ours = [[0.1, 0.2, 0.1, 0.1], [0.1, 0.1, 0.1, 0.2], [0.1, 0.0, 0.1, 0.1]]
    >>> other = [[0.2, 0.2, 0.3, 0.2], [0.1, 0.2, 0.2, 0.3], [0.1, 0.1, 0.0, 0.1]]
    >>> print(win_tie_loss(ours, other))
    -5.83 ± 5.2 % win (2/1/0)
    """
    first, second = _errors(ours), _errors(other)
    alpha = real(alpha, "alpha", "a probability")
    overlap = real(overlap, "overlap", "a ratio of rows, 0 or more")
    if not 0 <= overlap < np.inf:
        raise ParameterError(f"overlap must be a ratio of rows, 0 or more, not {overlap}")
    if first.shape != second.shape or first.ndim != 2 or first.shape[1] < 2 or not len(first):
        came = f"shapes {first.shape} and {second.shape}"
        raise ParameterError(
            f"both methods need an error for every k and fold, of two folds or more; got {came}"
        )
    t, df = _t_statistics(first, second, overlap), first.shape[1] - 1
    better, worse = stdtr(df, t) < alpha, stdtr(df, -t) < alpha
    decisions: Any = np.select([better, worse], ["win", "loss"], "tie").tolist()
    return Comparison(tuple(decisions), tuple((first - second).mean(axis=1).tolist()))


def _errors(values: Any) -> Floats:
    try:
        errors = np.asarray(values)
        with np.errstate(over="ignore"):
            numbers = errors if errors.dtype.kind in "biuf" else errors.astype(object)
            return np.atleast_2d(np.asarray(numbers, float))
    except (OverflowError, TypeError, ValueError) as error:
        came = type(values).__name__
        raise ParameterError(f"errors must be a list of numbers; got a {came}") from error


def _t_statistics(first: Floats, second: Floats, overlap: float) -> Floats:
    """Student's t of paired differences for each k; infinite where all folds differ alike."""
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ParameterError("errors must be finite numbers; some are NaN or infinite")
    largest = np.maximum(np.abs(first), np.abs(second)).max(axis=1, keepdims=True)
    _, power = np.frexp(largest)  # errors below 1, so that squares neither overflow nor vanish
    d = np.ldexp(first, -power) - np.ldexp(second, -power)
    mean, scale = d.mean(axis=1), np.sqrt((1 / d.shape[1] + overlap) * d.var(axis=1, ddof=1))
    mean[np.abs(mean) <= ROUNDING] = 0.0
    scale[np.ptp(d, axis=1) <= ROUNDING] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(mean / scale, nan=0.0, posinf=np.inf, neginf=-np.inf)
