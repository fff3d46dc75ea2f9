"""Cuts by the class, CAIM and MDLP, and without it: equal width, equal frequency, deviations."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from bestk._compat import Interval, Options
from bestk._typing import Floats
from bestk.discretize._base import (
    BY_ENTROPY,
    BY_FREQUENCY,
    BY_MAJORITY,
    MAX_BINS,
    CutMethod,
    Discretizer,
)

# What n_bins and max_bins may be.
BINS = Interval(Integral, 2, MAX_BINS, closed="both")

# Half the middle state of ``Sigma`` has at most so many standard deviations. Of fewer values than
# its square, none is so far from the mean.
MAX_DEVIATIONS = 10_000


class _ByClass(Discretizer):
    """Cuts by the class, as many as help."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"max_bins": [BINS, None]}
    _supervised = True
    _method: ClassVar[int]

    def __init__(self, max_bins: int | None = None) -> None:
        self.max_bins = max_bins

    def _method_of_kernel(self, n_samples: int) -> CutMethod:
        return CutMethod(self._method, self.max_bins or n_samples)


class CAIM(_ByClass):
    r"""Discretise by class-attribute interdependence maximisation.

    A scheme of ``r`` intervals is worth

    .. math:: CAIM = \frac{1}{r} \sum_{i=1}^{r} \frac{\max_c q_{ci}^2}{M_i}

    with :math:`q_{ci}` the samples of class c in interval i and :math:`M_i` its size. Starting
    from one interval, the cut that leads to the largest CAIM is added, as long as CAIM grows or
    there are fewer intervals than classes. Cuts lie midway between neighbouring values. Of equally
    good cuts the lowest is taken; sums of :math:`\max_c q_{ci}^2 / M_i` that differ by less than
    ``1e-12`` of the number of samples are equal.

    Parameters
    ----------
    max_bins : int, optional
        The most intervals a column may get, even if there are more classes.

    {attributes}

    References
    ----------
    L. A. Kurgan and K. J. Cios, "CAIM discretization algorithm", IEEE Transactions on Knowledge
    and Data Engineering 16(2), 2004.

    Examples
    --------
    >>> from bestk.discretize import CAIM
    >>> caim = CAIM().fit([[0.1], [0.2], [0.8], [0.9]], [0, 0, 1, 1])
    >>> caim.cut_points_
    [array([0.5])]
    >>> caim.transform([[0.3], [0.7], [float("nan")]]).ravel()
    array([0, 1, 2], dtype=int16)
    """

    _method = BY_MAJORITY


class MDLP(_ByClass):
    r"""Discretise by recursive entropy splits, stopped by minimum description length.

    A set S of N samples is cut in two, S1 and S2, where the class entropy left is least, if

    .. math::

        Gain > \frac{\log_2(N - 1)}{N} + \frac{\Delta}{N}, \quad
        \Delta = \log_2(3^k - 2) - [k\,Ent(S) - k_1 Ent(S_1) - k_2 Ent(S_2)]

    with k, k1 and k2 the numbers of classes in S, S1 and S2; then S1 and S2 are cut likewise.
    Cuts lie midway between neighbouring values that are not both of one and the same class. Of
    equally good cuts the lowest is taken. A column with little information about the class gets
    no cut.

    Parameters
    ----------
    max_bins : int, optional
        The most intervals a column may get; the splits that save most entropy are made first.

    {attributes}

    References
    ----------
    U. M. Fayyad and K. B. Irani, "Multi-interval discretization of continuous-valued attributes
    for classification learning", IJCAI 1993.

    Examples
    --------
    >>> from bestk.discretize import MDLP
    >>> X = [[1, 5], [2, 3], [3, 4], [6, 3], [7, 5], [8, 4]]
    >>> MDLP().fit(X, [0, 0, 0, 1, 1, 1]).cut_points_
    [array([4.5]), array([], dtype=float64)]
    """

    _method = BY_ENTROPY


class EqualWidth(Discretizer):
    r"""Discretise into bins of equal width between the least and the greatest value.

    .. math:: c_i = \min + \frac{i}{b} (\max - \min), \quad i = 1, \dots, b - 1

    A constant column gets no cut.

    Parameters
    ----------
    n_bins : int, default=5
        The number of bins, b.

    {attributes}

    Examples
    --------
    >>> from bestk.discretize import EqualWidth
    >>> EqualWidth(n_bins=4).fit([[0], [1], [8]]).cut_points_
    [array([2., 4., 6.])]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"n_bins": [BINS]}

    def __init__(self, n_bins: int = 5) -> None:
        self.n_bins = n_bins

    def _cut(self, block: Floats, start: int) -> list[Floats]:
        lowest = np.fmin.reduce(block, axis=1)
        highest = np.fmax.reduce(block, axis=1)
        ranges = zip(lowest, highest, strict=True)
        return [_even_cuts(low, high, self.n_bins) for low, high in ranges]


class EqualFrequency(Discretizer):
    r"""Discretise into bins that hold about as many samples each.

    Cut i of b - 1 comes after the quantile of i / b by the inverse of the distribution function,
    the least observed value with at least that share of the samples at or below it:

    .. math:: q_i = \min\{v : F(v) \ge i / b\}

    and lies midway between it and the next greater value. Equal values share a bin, so where one
    value is frequent there are fewer bins.

    Parameters
    ----------
    n_bins : int, default=5
        The number of bins wanted, b.

    {attributes}

    Examples
    --------
    >>> from bestk.discretize import EqualFrequency
    >>> EqualFrequency(n_bins=3).fit([[1], [2], [4], [5], [70], [80]]).cut_points_
    [array([ 3. , 37.5])]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"n_bins": [BINS]}

    def __init__(self, n_bins: int = 5) -> None:
        self.n_bins = n_bins

    def _method_of_kernel(self, n_samples: int) -> CutMethod:
        return CutMethod(BY_FREQUENCY, self.n_bins)


class Sigma(Discretizer):
    r"""Discretise into three states: low, middle and high.

    The cuts of a column with mean :math:`\mu` and standard deviation :math:`\sigma` are

    .. math:: \mu - a \sigma, \quad \mu + a \sigma

    the states of the authors of mRMR, with a = 0.5. A constant column gets no cut.

    Parameters
    ----------
    a : float, default=0.5
        Half the width of the middle state, in standard deviations; at most 10,000.
    ddof : {0, 1}, default=0
        The variance is the sum of squared deviations over the number of values less ``ddof``.

    {attributes}

    References
    ----------
    C. Ding and H. Peng, "Minimum redundancy feature selection from microarray gene expression
    data", Journal of Bioinformatics and Computational Biology 3(2), 2005.

    Examples
    --------
    >>> from bestk.discretize import Sigma
    >>> Sigma(a=1).fit_transform([[1], [5], [5], [5], [9]]).ravel()
    array([0, 1, 1, 1, 2], dtype=int16)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "a": [Interval(Real, 0, MAX_DEVIATIONS, closed="both")],
        "ddof": [Options(int, {0, 1})],
    }

    def __init__(self, a: float = 0.5, ddof: int = 0) -> None:
        self.a = a
        self.ddof = ddof

    def _cut(self, block: Floats, start: int) -> list[Floats]:
        # Sums of sorted values do not depend on the order of the samples. NaN are sorted last.
        block.sort(axis=1)
        n_values = block.shape[1] - np.isnan(block).sum(axis=1)
        columns = zip(block, n_values, strict=True)
        return [self._cuts(column[:n]) for column, n in columns]

    def _cuts(self, values: Floats) -> Floats:
        """Cut one ascending column; scaling by a power of two keeps squares finite."""
        if len(values) == 0 or values[0] == values[-1]:
            return np.empty(0)
        _, power = np.frexp(max(-values[0], values[-1]))
        scaled = np.ldexp(values, -power)
        with np.errstate(over="ignore"):
            half_width = float(self.a) * scaled.std(ddof=self.ddof)
            scaled_cuts = scaled.mean() + np.array([-half_width, half_width])
            cuts = np.unique(np.ldexp(scaled_cuts, power))
        # No value lies beyond an infinite cut.
        return cuts[np.isfinite(cuts)]


def _even_cuts(low: float, high: float, n_bins: int) -> Floats:
    """Return the inner edges of equal bins; none for a constant column."""
    if not low < high:
        return np.empty(0)
    width = high / n_bins - low / n_bins
    largest_width = np.finfo(float).max / n_bins**2
    if width > largest_width:
        # The products below would overflow. Scaling by a power of two changes no digit.
        return _even_cuts(low * 2.0**-32, high * 2.0**-32, n_bins) * 2.0**32
    places = np.arange(1, n_bins)
    cuts = np.unique(low + (high - low) * places / n_bins)
    is_inside = (low <= cuts) & (cuts < high)
    return cuts[is_inside]
