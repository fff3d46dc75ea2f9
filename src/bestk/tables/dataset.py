"""A dataset: a table with its targets, and what each of its columns is for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bestk._typing import Indices
from bestk.errors import ParameterError
from bestk.tables.frames import as_array
from bestk.tables.table import Table, find_constant, find_features
from bestk.tables.target import Target, Targets, drop_weightless
from bestk.tables.weights import RowWeights


@dataclass(frozen=True, kw_only=True)
class NamedColumns:
    """The columns that a user names for a purpose, each as names, indices or a mask."""

    include: Any = None
    exclude: Any = None
    covariates: Any = None
    categorical_features: Any = "from_dtype"
    column_groups: Any = None


@dataclass(frozen=True)
class FeatureLimits:
    """How many features can be selected; of column groups, how many groups or columns."""

    required: int
    """Those that must be selected."""

    varying: int
    """Those that are not constant."""

    available: int
    """All, constant ones included."""


@dataclass(frozen=True)
class ColumnRoles:
    """What the columns of a table are for, all by their places in it."""

    allowed: Indices
    """Those that may be selected, rising."""

    included: Indices
    """Those that must be selected, in the order in which the user named them."""

    categorical: Indices
    """Columns of numbers that are codes of categories."""

    covariates: Indices
    """Those that are adjusted for and never selected, rising."""

    groups: Indices | None = None
    """For each column the number of its group, which is selected as a whole; None: no groups."""

    k_counts_columns: bool = False
    """Whether k counts the columns of groups, and not the groups."""

    @classmethod
    def of(cls, named: NamedColumns, table: Table, *, k_counts_columns: bool) -> "ColumnRoles":
        """Find the columns that a user names."""
        excluded = find_features(named.exclude, table)
        included_places = find_features(named.include, table).tolist()
        included = np.array(list(dict.fromkeys(included_places)), np.int64)
        covariates = find_covariates(named.covariates, table)
        _refuse_two_roles(covariates, included, "included", table)
        _refuse_two_roles(covariates, excluded, "excluded", table)
        groups = None
        if named.column_groups is not None:
            groups = read_groups(named.column_groups, table)
            _refuse_split_groups(groups, covariates, table)
            # A group is in or out as a whole.
            excluded = np.flatnonzero(np.isin(groups, groups[excluded]))
            included = np.flatnonzero(np.isin(groups, groups[included]))
        in_and_out = np.intersect1d(included, excluded)
        if len(in_and_out):
            raise ParameterError(
                f"column {table.names[in_and_out[0]]!r} is both included and excluded; choose one"
            )
        allowed = np.delete(np.arange(table.n_features), np.union1d(excluded, covariates))
        if not len(allowed):
            gone = "a covariate or excluded" if len(covariates) else "excluded"
            raise ParameterError(f"every column is {gone}; leave at least one to select from")
        categorical = find_features(named.categorical_features, table)
        return cls(allowed, included, categorical, covariates, groups, k_counts_columns)

    def with_covariates(self, joined: Indices) -> "ColumnRoles":
        """The roles where further covariates stand behind all columns; each is its own group."""
        groups = self.groups
        if groups is not None:
            of_joined = groups.max() + 1 + np.arange(len(joined))
            groups = np.concatenate([groups, of_joined])
        return replace(self, covariates=np.concatenate([self.covariates, joined]), groups=groups)

    def count(self, columns: Indices) -> int:
        """How many features some columns are, as k counts them."""
        if self.groups is None:
            return len(columns)
        groups = self.groups[columns]
        if self.k_counts_columns:
            return int(np.isin(self.groups, groups).sum())
        return len(np.unique(groups))

    def limits(self, varying: Indices) -> FeatureLimits:
        """How many features can be selected, if these of the allowed columns vary."""
        n_varying = self.count(varying)
        n_constant = len(self.allowed) - len(varying) if self.groups is None else 0
        return FeatureLimits(self.count(self.included), n_varying, n_varying + n_constant)


@dataclass(frozen=True)
class Dataset:
    """A table, its targets with the weights of the rows, and what its columns are for."""

    table: Table
    targets: Targets
    """One or more, of as many rows as the table; they share the weights of the rows."""

    columns: ColumnRoles

    @property
    def weights(self) -> RowWeights | None:
        """How much each row counts; None where all count alike."""
        return self.targets[0].weights

    @property
    def target(self) -> Target | None:
        """The target, if there is only one."""
        return self.targets[0] if len(self.targets) == 1 else None

    def take(self, rows: Indices) -> "Dataset":
        """The same columns of some rows, which may repeat."""
        targets = tuple(target.take(rows) for target in self.targets)
        return replace(self, table=self.table.take(rows), targets=targets)

    def without_weightless(self) -> "Dataset":
        """The dataset without rows of weight 0."""
        table, targets = drop_weightless(self.table, self.targets)
        return self if table is self.table else replace(self, table=table, targets=targets)

    def find_varying(self) -> Indices:
        """The allowed columns that are included or have several values; all, if none has."""
        constant = find_constant(self.table)
        constant = np.setdiff1d(constant, self.columns.included, assume_unique=True)
        varying = np.setdiff1d(self.columns.allowed, constant, assume_unique=True)
        return varying if len(varying) else self.columns.allowed

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on how the columns and the targets were read, where that may surprise."""
        on_targets = [target.note for target in self.targets if target.note is not None]
        return (*self.table.notes, *on_targets)


def find_covariates(covariates: Any, table: Table) -> Indices:
    """The places, in rising order, of the columns of a table that are to be adjusted for."""
    refuse_covariates_of_their_own(covariates)
    return np.unique(find_features(covariates, table))


def refuse_covariates_of_their_own(covariates: Any) -> None:
    """Refuse a table of covariates where names, indices or a mask of columns are expected."""
    if getattr(covariates, "ndim", 1) > 1 or isinstance(covariates, Mapping):
        raise ParameterError(
            f"the parameter covariates names columns of X, by name, index or mask, and is a "
            f"{type(covariates).__name__}; pass a table of covariates to fit(X, y, covariates=), "
            "or add its columns to X, and pass their names"
        )


def read_groups(column_groups: Any, table: Table) -> Indices:
    """The number of the group of each column, from 0 in the order of the first columns.

    ``column_groups``: a separator in names, a dict of labels to columns, or a label a column; see
    :class:`bestk.SelectBestK`.
    """
    if isinstance(column_groups, str):
        labels = _labels_by_prefix(column_groups, table)
    elif isinstance(column_groups, Mapping):
        labels = _labels_by_column(column_groups, table)
    else:
        labels = as_array(column_groups).tolist()
        if len(labels) != table.n_features:
            came = f"{len(labels)} labels and {table.n_features} columns"
            raise ParameterError(f"column_groups needs a label for each column; got {came}")
    number_of_label: dict[Any, int] = {}
    for label in labels:
        number_of_label.setdefault(label, len(number_of_label))
    return np.array([number_of_label[label] for label in labels], np.int64)


def _alone(place: int) -> Any:
    """The label of a column that is in no group, which no user's label equals."""
    return (place,)


def _labels_by_prefix(separator: str, table: Table) -> list[Any]:
    """A label for each column: its name up to the last separator, if it has one."""
    labels = []
    for place, name in enumerate(table.names):
        prefix, was_found, _ = name.rpartition(separator) if separator else (name, "", "")
        labels.append(prefix if was_found else _alone(place))
    return labels


def _labels_by_column(columns_of_label: Mapping[Any, Any], table: Table) -> list[Any]:
    """A label for each column, by the columns of each label."""
    labels = [_alone(place) for place in range(table.n_features)]
    for label, columns in columns_of_label.items():
        for place in find_features(columns, table).tolist():
            if labels[place] not in (_alone(place), label):
                both = f"{labels[place]!r} and {label!r}"
                raise ParameterError(f"column {table.names[place]!r} is in the groups {both}")
            labels[place] = label
    return labels


def _refuse_two_roles(covariates: Indices, others: Indices, role: str, table: Table) -> None:
    """Refuse columns that are covariates and also have another role."""
    in_both = np.intersect1d(covariates, others)
    if len(in_both):
        raise ParameterError(
            f"column {table.names[in_both[0]]!r} is both a covariate and {role}; a covariate "
            "is adjusted for and never selected, so choose one"
        )


def _refuse_split_groups(groups: Indices, covariates: Indices, table: Table) -> None:
    """Refuse groups of columns of which only some are covariates."""
    with_covariates = np.flatnonzero(np.isin(groups, groups[covariates]))
    others = np.setdiff1d(with_covariates, covariates)
    if len(others):
        raise ParameterError(
            f"column {table.names[others[0]]!r} is in a group with a covariate, and a group is "
            "selected or adjusted for as a whole; name all of its columns in covariates, or none"
        )
