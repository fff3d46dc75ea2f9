"""The selected columns of a dataset, and what is known of them."""

from dataclasses import dataclass

import numpy as np

from bestk._cached import cached_property
from bestk._typing import Floats, Indices
from bestk.bqp.solution import Solution
from bestk.diagnosis.column_values import ColumnValues, column_values
from bestk.information.information import Information
from bestk.tables.table import Table
from bestk.tables.target import Target

# Of a larger selection, only the first columns are looked at.
MAX_COLUMNS = 1_000


@dataclass(frozen=True)
class SelectedColumns:
    """The selected columns that vary, in the order of the table, for one target."""

    information: Information

    places: Indices
    """Their places in the table, rising."""

    columns: list[ColumnValues]

    relevance: Floats
    """I(xi; y) of each."""

    pairs: Floats
    """I(xj; y | xi) at [i, j]."""

    @classmethod
    def of(cls, information: Information, solution: Solution) -> "SelectedColumns":
        """Those of a solution, whose details have the information of each."""
        table = information.dataset.table
        is_constant = table.mask(information.constant)
        ranks = np.flatnonzero(~is_constant[solution.support])[:MAX_COLUMNS]
        ranks = ranks[np.argsort(solution.support[ranks])]
        places = solution.support[ranks]
        columns = [column_values(table, place) for place in places]
        relevance = solution.details["relevance"][ranks]
        pairs = solution.details["pairs"][np.ix_(ranks, ranks)]
        return cls(information, places, columns, relevance, pairs)

    @property
    def names(self) -> list[str]:
        """Their names."""
        return [str(self.information.dataset.table.names[place]) for place in self.places]

    @property
    def items(self) -> Indices:
        """Their places among the features that were measured."""
        return np.searchsorted(self.information.features, self.places)

    @cached_property
    def target(self) -> Target | None:
        """The target; None if it cannot be cut into classes."""
        target = self.information.dataset.target
        try:
            has_classes = target is not None and target.classes is not None
        except ValueError:
            return None
        return target if has_classes else None

    def keep(self, numbers: Indices | list[int]) -> tuple[Table, Indices]:
        """The table of some of them, and which of its columns were not read as numbers."""
        return self.table_of(self.places[numbers])

    def table_of(self, places: Indices) -> tuple[Table, Indices]:
        """The table of some columns, selected or not, and which were not read as numbers."""
        numeric = self.information.features
        if self.information.numeric is not None:
            numeric = numeric[self.information.numeric]
        elif self.information.levels is not None:
            numeric = np.empty(0, np.int64)
        table = self.information.dataset.table
        is_numeric = table.mask(numeric)
        return table.keep(places), np.flatnonzero(~is_numeric[places])

    def columns_to_compare(self, count: int, without: Indices) -> Indices:
        """The places of the columns of largest relevance, selected or not, in rising order.

        As many are spread over the others, more densely where relevance is large: where very many
        columns predict as well as the best, there are ordinary ones among these.
        """
        places = np.setdiff1d(self.information.features, without)
        order = np.argsort(-self.information.relevance()[places], kind="stable")
        if len(order) <= count:
            return places
        spread = np.geomspace(count, len(order) - 1, count).astype(np.int64)
        ranks = np.unique([*range(count), *spread.tolist()])
        return np.sort(places[order[ranks]])
