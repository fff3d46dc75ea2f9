"""What the columns of a dataset tell about its targets: the result of an estimator."""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from bestk._cached import cached_property
from bestk._typing import Floats, Indices
from bestk.tables.dataset import Dataset, FeatureLimits


class Estimates(Protocol):
    """Information about the target, in nats, of features that are numbered from 0."""

    @property
    def n_features(self) -> int:
        """The number of features."""

    @property
    def of_targets(self) -> "tuple[Any, ...]":
        """The estimates for each target by itself."""

    def mi(self) -> Floats:
        """``I(xi; y)`` of every feature."""

    def cmi(self, rows: Indices, columns: Indices) -> Floats:
        """``I(xj; y | xi)`` at ``[i, j]``, for the features of ``rows`` and of ``columns``."""

    def cmi_among(self, items: Indices) -> Floats:
        """``I(xj; y | xi)`` at ``[i, j]`` of some features."""


@dataclass(frozen=True, kw_only=True)
class Information:
    """What the columns of a dataset tell about its targets, as an estimator found it."""

    dataset: Dataset
    """The rows from which it was estimated."""

    features: Indices
    """Places in the table, rising, of the columns that were measured: feature j of ``estimates``
    is column ``features[j]``."""

    estimates: Any
    """:class:`Estimates`, and what the methods need beyond them: pairs, or blocks of columns."""

    cost: float = 0.0
    """Operations that the estimate took; a bound by default may take as many."""

    discretizer: Any = None
    """Fitted on the numeric columns, if these were cut into bins."""

    levels: Indices | None = None
    """The number of levels of each feature, where features were counted."""

    numeric: Indices | None = None
    """The features, by their places among ``features``, that were read as numbers.

    None: none of them where features were counted, as all were taken as categories; else all.
    """

    relevance_of_screened: Floats | None = None
    """I(xi; y) of every column of the table, where only the best of them are ``features``."""

    notes: tuple[str, ...] = ()
    """Sentences on what was left out, and on what to pass to have it looked at."""

    @cached_property
    def constant(self) -> Indices:
        """Columns that may be selected but were not measured: they are selected last."""
        return np.setdiff1d(self.dataset.columns.allowed, self.features, assume_unique=True)

    @property
    def limits(self) -> FeatureLimits:
        """How many features can be selected."""
        return self.dataset.columns.limits(self.features)

    @property
    def included(self) -> list[int]:
        """The features that must be selected, by their places among ``features``."""
        return np.searchsorted(self.features, self.dataset.columns.included).tolist()

    def of_targets(self) -> "list[Information]":
        """The information about each target by itself."""
        return [
            replace(self, dataset=replace(self.dataset, targets=(target,)), estimates=estimates)
            for estimates, target in zip(
                self.estimates.of_targets, self.dataset.targets, strict=True
            )
        ]

    def relevance(self) -> Floats:
        """I(xi; y) of every column of the table: 0 for constant ones, NaN for excluded ones.

        With covariates it is that given these, which themselves have NaN.
        """
        relevance = np.full(self.dataset.table.n_features, np.nan)
        constant = self.constant
        screened = self.relevance_of_screened
        relevance[constant] = 0.0 if screened is None else screened[constant]
        relevance[self.features] = self.estimates.mi()
        return relevance

    def details_of(self, support: Indices) -> dict[str, Floats]:
        """Information of features about y, in nats, given by their places in the table.

        ``relevance`` is I(xi; y), ``new_information`` the smallest I(xi; y | xj) over the other
        features j, and ``pairs`` is I(xj; y | xi) at [i, j]; 0 for constant ones, which come last.
        """
        is_constant = self.dataset.table.mask(self.constant)
        varying = support[~is_constant[support]]
        details = pair_details(self.estimates, np.searchsorted(self.features, varying))
        n_constant = len(support) - len(varying)
        if not n_constant:
            return details
        return {name: np.pad(values, (0, n_constant)) for name, values in details.items()}


def pair_details(estimates: Estimates, items: Indices) -> dict[str, Floats]:
    """Information of some features about y, as :meth:`Information.details_of` has it."""
    relevance = estimates.mi()[items]
    pairs = estimates.cmi_among(items)
    np.fill_diagonal(pairs, relevance)
    given_others = pairs + np.diag(np.full(len(items), np.inf))
    new_information = given_others.min(axis=0) if len(items) > 1 else relevance
    return {"relevance": relevance, "new_information": new_information, "pairs": pairs}
