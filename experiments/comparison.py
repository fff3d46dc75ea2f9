"""Wins, ties and losses of one method against another, as in Tables 3 and 4 of the paper."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import stdtr

from bestk.evaluation import t_statistics

Decision = Literal["win", "tie", "loss"]


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


def win_tie_loss(ours: Any, other: Any, alpha: float = 0.05) -> Comparison:
    """Count for how many k one method is significantly better than another.

    For each k it is a win if a one-sided paired t-test over the folds finds our errors smaller, a
    loss if the opposite test finds them larger, and otherwise a tie.

    Parameters
    ----------
    ours, other : array-like of shape (n_ks, n_folds)
        Errors of the two methods on the same folds.
    alpha : float, default=0.05
        Level of each one-sided test.

    Returns
    -------
    Comparison
        Decisions, their counts, ``verdict``, and ``mean_difference`` with its ``deviation``.

    Notes
    -----
    With leave-one-out the errors are 0 or 1, and only the rows on which the methods disagree
    count, as in McNemar's test; where these are few, the p-value is too small.

    ``verdict`` is the most frequent decision, which is the rule that the paper states. Its tables
    agree with ``leaning``, the more frequent of wins and losses.

    Examples
    --------
    >>> ours = [[0.1, 0.2, 0.1, 0.1], [0.1, 0.1, 0.1, 0.2], [0.1, 0.0, 0.1, 0.1]]
    >>> other = [[0.2, 0.2, 0.3, 0.2], [0.1, 0.2, 0.2, 0.3], [0.1, 0.1, 0.0, 0.1]]
    >>> print(win_tie_loss(ours, other))
    -5.83 ± 5.2 % win (2/1/0)
    """
    differences = np.atleast_2d(np.asarray(ours, float) - np.asarray(other, float))
    t, df = t_statistics(differences), differences.shape[1] - 1
    better, worse = stdtr(df, t) < alpha, stdtr(df, -t) < alpha
    decisions: Any = np.select([better, worse], ["win", "loss"], "tie").tolist()
    return Comparison(tuple(decisions), tuple(differences.mean(axis=1).tolist()))
