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
    X: pd.DataFrame  # categories have dtype "category", dates datetime64
    y: NDArray[Any]
    kind: Kind
    source: str  # "paper", "wide", "mixed", "regression", "ordinary", "copies" or "made-up"
    half: Half
    groups: tuple[tuple[str, ...], ...] = ()  # any column of a group recovers it; all else is noise
    family: str = ""  # of made-up tables

    @property
    def made_up(self) -> bool:
        """Whether it was drawn from a model."""
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
