"""One table of the benchmark: its columns, its target and what is known about them."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Kind = Literal["classes", "numbers"]
Half = Literal["tune", "judge"]
FEW_ROWS = 100  # tables below this are reported separately


@dataclass(frozen=True)
class Problem:
    """A table to select columns from."""

    name: str

    X: pd.DataFrame
    """Numbers are floats, categories have dtype "category", dates datetime64."""

    y: NDArray[Any]
    """Codes of classes from 0 on, or numbers."""

    kind: Kind
    """What the target holds."""

    source: str
    """Where the table comes from: a key of ``sets.SOURCES``, or "made-up"."""

    half: Half
    """Whether choices are made on the table, or judged."""

    groups: tuple[tuple[str, ...], ...] = ()
    """Relevant columns, where they are known: any column of a group recovers it, and every
    column of no group is noise."""

    family: str = ""
    """The model that a made-up table was drawn from; empty for real ones."""

    @property
    def made_up(self) -> bool:
        """Whether the table was drawn from a model."""
        return bool(self.family)

    @property
    def few_rows(self) -> bool:
        """Whether the table has fewer than 100 rows."""
        return len(self.X) < FEW_ROWS

    @property
    def relevant(self) -> frozenset[str]:
        """Columns of any group."""
        return frozenset(column for group in self.groups for column in group)

    @property
    def noise(self) -> frozenset[str]:
        """Columns that carry no information about the target, given all others."""
        return frozenset(self.X.columns) - self.relevant if self.groups else frozenset()

    def noise_share(self, selected: list[str]) -> float:
        """Share of the selected columns that are noise."""
        return float(np.mean([column in self.noise for column in selected]))

    def recall(self, selected: list[str]) -> float:
        """Share of the groups with a selected column."""
        return float(np.mean([bool(set(group) & set(selected)) for group in self.groups]))
