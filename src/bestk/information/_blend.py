"""Several estimates of the same information, averaged."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.information._measures import Measure
from bestk.information.backends import PairSource

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
WHOLE = 2**29  # bytes of a matrix up to which it is filled at once, by symmetry at half the price
STRIP = 2**24  # bytes of a larger one that are filled together


class BlendedSource:
    """The mean of several estimates; for each pair, of those that know both of its columns.

    What two columns share, in all and within classes, is the mean over the estimates that know
    both; what is said of one column alone is the mean over those that know it. So the chain rule
    ``I(xi, xj; y) = I(xi; y) + I(xj; y | xi)`` holds for every pair.

    Estimates err in different ways: counts of a few levels are noisy but see any relation,
    covariances are steady but see straight lines only. Their mean is better than each.

    Parameters
    ----------
    counted : sequence of PairSource
        Estimates for all columns.
    partial : PairSource or None
        One more, for some columns.
    known : array of int
        The columns that it is for, in its order.

    Examples
    --------
    >>> from bestk.data.codes import encode, read_target
    >>> from bestk.information.backends import get_backend
    >>> codes, target = encode([[0, 0], [0, 1], [1, 0], [1, 1]]), read_target([0, 1, 1, 0], 4)
    >>> one = get_backend("numpy")(codes, target, None)
    >>> x, xy, y = BlendedSource([one, one]).singles()
    >>> np.round(x + y - xy, 3)
    array([0., 0.])
    """

    is_discrete = False

    def __init__(
        self,
        counted: Sequence[PairSource],
        partial: PairSource | None = None,
        known: Indices | None = None,
    ) -> None:
        self._counted, self._partial = list(counted), partial
        self.n_features = len(self._counted[0].singles()[0])
        self._place = np.full(self.n_features, -1)
        if partial is not None and known is not None:
            self._place[known] = np.arange(len(known))
        self._known = np.flatnonzero(self._place >= 0)

    def singles(self) -> tuple[Floats, Floats, float]:
        """H(x) and H(x, y) of each feature, and H(y)."""
        parts = [source.singles() for source in self._counted]
        y = parts[0][2]
        x = np.sum([part[0] for part in parts], axis=0)
        given = np.sum([part[1] - part[2] for part in parts], axis=0)
        share = np.full(self.n_features, float(len(parts)))
        if self._partial is not None:
            own = self._partial.singles()
            x[self._known] += own[0]
            given[self._known] += own[1] - own[2]
            share[self._known] += 1
        return x / share, given / share + y, y

    def copies(self) -> Floats:
        """I(x; x') of each feature and a copy of it."""
        total = np.sum([source.copies() for source in self._counted], axis=0)
        share = np.full(self.n_features, float(len(self._counted)))
        if self._partial is not None:
            total[self._known] += self._partial.copies()
            share[self._known] += 1
        return np.asarray(total / share)

    def fill(
        self,
        measure: Measure,
        out: NDArray[Any],
        rows: Indices | None = None,
        columns: Indices | None = None,
        lowest: float = -np.inf,
    ) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        whole = rows is None and columns is None and 8 * out.size <= WHOLE
        for part, some in [(out, rows)] if whole else _strips(out, rows):
            self._fill(measure, part, some, columns)
            np.maximum(part, lowest, out=part)

    def _fill(
        self, measure: Measure, out: NDArray[Any], rows: Indices | None, columns: Indices | None
    ) -> None:
        total = out if out.dtype == np.float64 else np.empty(out.shape)
        other = np.empty(out.shape)
        self._counted[0].fill(measure, total, rows, columns)
        for source in self._counted[1:]:
            source.fill(measure, other, rows, columns)
            total += other
        share: Any = len(self._counted)
        if self._partial is not None and len(self._known) == self.n_features:
            self._partial.fill(measure, other, rows, columns)
            total += other
            share += 1
        elif self._partial is not None:
            share = self._add_known(measure, total, rows, columns)
            terms = self._single_terms(measure)
            total /= share
            total += (share == len(self._counted)) * np.add.outer(
                terms[0] if rows is None else terms[0][rows],
                terms[1] if columns is None else terms[1][columns],
            )
            share = 1
        np.divide(total, share, out=out, casting="same_kind")

    def _single_terms(self, measure: Measure) -> tuple[Floats, Floats]:
        """What a column adds to a measure by its mean over all estimates, less that of counts."""
        counted = [source.singles() for source in self._counted]
        x, xy, y = self.singles()
        x = x - np.mean([part[0] for part in counted], axis=0)
        given = xy - y - np.mean([part[1] - part[2] for part in counted], axis=0)
        row = (measure.xi + measure.xx) * x + (measure.xiy + measure.xxy) * given
        column = (measure.xj + measure.xx) * x + (measure.xjy + measure.xxy) * given
        return row, column

    def _add_known(
        self, measure: Measure, total: Floats, rows: Indices | None, columns: Indices | None
    ) -> Floats:
        """Add the estimate that knows some columns only; how many estimates each pair has."""
        places = [self._place if some is None else self._place[some] for some in (rows, columns)]
        here = [np.flatnonzero(place >= 0) for place in places]
        share = np.full(total.shape, float(len(self._counted)))
        own = np.empty((len(here[0]), len(here[1])))
        if own.size and self._partial is not None:
            left, right = (place[some] for place, some in zip(places, here, strict=True))
            self._partial.fill(measure, own, left, right)
            total[np.ix_(*here)] += own
            share[np.ix_(*here)] += 1
        return share


def _strips(
    out: NDArray[Any], rows: Indices | None
) -> Iterator[tuple[NDArray[Any], Indices | None]]:
    """Cut a matrix into strips of rows, each with its features."""
    chosen = np.arange(len(out)) if rows is None else rows
    height = max(1, STRIP // max(1, 8 * out.shape[1]))
    for start in range(0, len(out), height):
        yield out[start : start + height], chosen[start : start + height]
