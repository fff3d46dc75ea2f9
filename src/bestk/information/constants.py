"""Every number that the default selection depends on, apart from how columns are typed."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BlockConstants:
    """The constants of block forward selection, each with its unit and its effect.

    What halving and doubling each of them does to errors and to the noise that is selected stands
    in ``benchmarks/quality/ablation.csv``.
    """

    ridge: float = 0.03
    """Variance of the noise that is added to every column, in units of the variance of a column:
    correlations below 1 count as a little smaller than they are."""

    ridge_rows: float = 50.0
    """More of the same noise for few rows: ``ridge_rows / rows`` is added to ``ridge``, so that
    chance correlations of few rows are not taken for redundancy."""

    parameter_cost: float = 2.0
    """What a parameter of a block costs, as a multiple of the information that chance gives it on
    average. 1 takes off the mean under chance, 2 is Akaike's criterion."""

    odds_factor: float = 16.0
    """What the odds that a feature tells nothing are multiplied by. They follow from its p-value
    and from how many features seem to tell something, by a bound in favor of the feature."""

    redundant_share: float = 0.003
    """The share of its gain alone that a feature keeps when the selected ones make it redundant, so
    that it still comes before noise."""

    largest_score: float = 2.5
    """Normal scores are cut here, in standard deviations: extreme ranks do not dominate squares."""

    min_level_rows: int = 5
    """Levels of a category of fewer rows have no indicator, and neither do fewer missing values."""

    max_levels: int = 30
    """At most this many levels of a category, the most frequent, have an indicator."""

    curve_bins: int = 15
    """Bins of equal frequency in which a numeric column is tested for a relation to the target
    that its score and its square do not show: an odd number. There is room for 15, so that more
    change nothing."""

    added_pvalue: float = 0.01
    """Bins join the block of a column if chance gives so much less often than this; a pair is a
    candidate if chance gives a synergy as large to any of all pairs less often than this."""

    max_pairs: int = 64
    """At most this many pairs, those with the largest synergy, are candidates."""

    max_measured: int = 8192
    """Of more columns, this many with the largest gain alone are considered together."""
