"""What a solver found, and how good it provably is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.errors import counted, printable

# A gap below this is one of floating point.
ROUNDING = 1e-9
# Numbers for each feature of a selection, which ``details`` may hold under these names.
SCORES = ("relevance", "contribution", "new_information")
# Rows of a table in a notebook, at most.
MAX_HTML_ROWS = 50
# What is said where there is no bound, by what was asked for.
NO_BOUND = {
    "fast": "no useful bound within the time; ask for bound='tight'",
    "tight": "no bound found",
    "greedy": "no bound (greedy method)",
}


@dataclass(frozen=True, eq=False)
class Solution:
    """The k selected items, best first, their objective, and a bound that no choice exceeds."""

    support: NDArray[np.int64]
    """The selected items, best first."""

    objective: float
    """The value x'Qx of the selection."""

    upper_bound: float = float("inf")
    """A number that no selection of k items exceeds; infinite if none was proved."""

    solver: str = ""
    """The name of the solver."""

    seconds: float = 0.0
    """What the selection took, without the bound."""

    names: Sequence[str] | None = None
    """The name of every item, if they have names."""

    details: Mapping[str, Any] = field(default_factory=dict)
    """What the solver has to tell, such as the scores of features."""

    warnings: tuple[str, ...] = ()
    """What to know before trusting a selection of features, a sentence each."""

    @property
    def k(self) -> int:
        """Number of selected items."""
        return len(self.support)

    @property
    def gap(self) -> float:
        """Proved distance to the optimum, relative to the objective; 0.0 means optimal."""
        distance = max(0.0, self.upper_bound - self.objective)
        if self.objective:
            return distance / abs(self.objective)
        return float("inf") if distance else 0.0

    @property
    def quality(self) -> str:
        """The optimality gap in words.

        Examples
        --------
        >>> Solution(np.array([2, 0]), objective=0.78, upper_bound=0.817).quality
        'optimality gap: 4.8% (objective 0.780, upper bound 0.817)'
        """
        if not np.isfinite(self.upper_bound):
            return NO_BOUND.get(self.details.get("bound", ""), "no bound requested")
        if self.gap <= ROUNDING:
            return "proved optimal"
        values = f"objective {self.objective:#.3g}, upper bound {self.upper_bound:#.3g}"
        return f"optimality gap: {percent_of(self.gap)} ({values})"

    @property
    def certainty(self) -> str:
        """How many of the items are proved to be in every optimal selection; "" if unknown.

        Examples
        --------
        >>> Solution(np.array([2, 0]), 0.78, 0.817, details={"fixed_in": 1}).certainty
        'at least 1 of 2 features is in every optimal selection'
        """
        count = self.details.get("fixed_in", 0)
        if not count:
            return ""
        at_least = "" if count == self.k else "at least "
        verb = "is" if count == 1 else "are"
        return f"{at_least}{count} of {self.k} features {verb} in every optimal selection"

    def to_frame(self) -> Any:
        """The selected items, best first, as a pandas data frame.

        A selection of features also has the ``relevance`` I(x; y) of each; its ``contribution``
        to the objective, which is their sum; and its ``new_information``, the smallest
        I(x; y | x') over the other selected features x'.
        """
        import pandas as pd

        columns = {"item": self.support, "name": self._labels()}
        for name in self._score_names():
            columns[name] = self.details[name]
        return pd.DataFrame(columns)

    def _score_names(self) -> list[str]:
        """The scores of features that there are."""
        return [name for name in SCORES if name in self.details]

    def _labels(self) -> list[str]:
        """The names of the selected items, or their numbers."""
        if self.names is None:
            return [str(item) for item in self.support]
        return [str(self.names[item]) for item in self.support]

    def __str__(self) -> str:
        noun = "item" if self.names is None else "feature"
        lines = [f"{counted(self.k, noun)} selected by {self.solver} in {self.seconds:.3g} s"]
        lines.append(f"objective    {self.objective:.6g}")
        if np.isfinite(self.upper_bound):
            lines.append(f"upper bound  {self.upper_bound:.6g}")
        quality = f"{self.quality}; {self.certainty}" if self.certainty else self.quality
        lines.append(f"quality      {quality}")
        lines.append("selected     " + ", ".join(self._labels()))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """A table for notebooks, with escaped names."""
        scores = self._score_names()
        noun = "feature" if scores else "item"
        rows = []
        for place, label in enumerate(self._labels()[:MAX_HTML_ROWS]):
            numbers = [f"{float(self.details[name][place]):.4f}" for name in scores]
            name = f"<bdi>{escape(printable(label))}</bdi>"
            rows.append(_table_row([str(place + 1), name, *numbers]))
        heads = "".join(f"<th>{head}</th>" for head in ("rank", noun, *scores))
        n_hidden = self.k - len(rows)
        footer = f"<p>{n_hidden:,} more: to_frame() has all.</p>" if n_hidden else ""
        plural = "" if self.k == 1 else "s"
        title = f"{self.k:,} {noun}{plural} by {escape(self.solver or 'no solver')}"
        return (
            f"<div><p><strong>{title}</strong> in {self.seconds:.3g} s: {self.quality}.</p>"
            f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
            f"{footer}</div>"
        )


def _table_row(cells: Sequence[str]) -> str:
    """A row of an HTML table."""
    return f"<tr><td>{'</td><td>'.join(cells)}</td></tr>"


def percent_of(gap: float) -> str:
    """A gap in percent, with two digits or so, and never less than it is."""
    if not np.isfinite(gap):
        return "infinite"
    if gap >= 0.1:
        digits = 0
    elif gap >= 0.01:
        digits = 1
    else:
        digits = 2
    unit = 10**digits
    # What exceeds the last digit by rounding alone is not rounded up.
    percent = np.ceil(100 * gap * unit - 1e-9) / unit
    return f"{percent or 0.01:.{digits}f}%"
