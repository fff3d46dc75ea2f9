"""What a solver found, and how good it provably is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.errors import printable

ROUNDING = 1e-9  # a gap below it is one of floating point
SCORES = ("relevance", "contribution", "new_information")  # of each feature, in the details
MAX_HTML_ROWS = 50  # of a table in a notebook
NO_BOUND = {
    "fast": "no useful bound within the time; ask for bound='tight'",
    "tight": "no bound found",
    "greedy": "no bound (greedy method)",
}  # by what was asked for


@dataclass(frozen=True, eq=False)
class Solution:
    """The k selected items, best first, their objective, and a bound that no choice exceeds."""

    support: NDArray[np.int64]
    objective: float
    upper_bound: float = float("inf")
    solver: str = ""
    seconds: float = 0.0
    names: Sequence[str] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)  # such as the scores of features
    warnings: tuple[str, ...] = ()  # what to know before trusting a selection of features

    @property
    def k(self) -> int:
        """Number of selected items."""
        return len(self.support)

    @property
    def gap(self) -> float:
        """Proved distance to the optimum, relative to the objective; 0.0 means optimal."""
        distance = max(0.0, self.upper_bound - self.objective)
        return distance / abs(self.objective) if self.objective else float(distance and np.inf)

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
        least = "" if count == self.k else "at least "
        verb = "is" if count == 1 else "are"
        what = f"{least}{count} of {self.k} features {verb} in every optimal selection"
        return what if count else ""

    def to_frame(self) -> Any:
        """The selected items, best first, as a pandas data frame.

        A selection of features also has the ``relevance`` I(x; y) of each; its ``contribution``
        to the objective, which is their sum; and its ``new_information``, the smallest
        I(x; y | x') over the other selected features x'.
        """
        import pandas as pd

        scores = {name: self.details[name] for name in SCORES if name in self.details}
        return pd.DataFrame({"item": self.support, "name": self._labels(), **scores})

    def _labels(self) -> list[str]:
        return [str(i) if self.names is None else str(self.names[i]) for i in self.support]

    def __str__(self) -> str:
        what = ("item" if self.names is None else "feature") + "s" * (self.k != 1)
        lines = [
            f"{self.k} {what} selected by {self.solver} in {self.seconds:.3g} s",
            f"objective    {self.objective:.6g}",
            f"upper bound  {self.upper_bound:.6g}" if np.isfinite(self.upper_bound) else "",
            f"quality      {self.quality}" + f"; {self.certainty}" * bool(self.certainty),
            "selected     " + ", ".join(self._labels()),
        ]
        return "\n".join(filter(None, lines))

    def _repr_html_(self) -> str:
        """A table for notebooks, with escaped names."""
        columns = [name for name in SCORES if name in self.details]
        what = "feature" if columns else "item"
        lines = []
        for i, label in enumerate(self._labels()[:MAX_HTML_ROWS]):
            numbers = [f"{float(self.details[name][i]):.4f}" for name in columns]
            cells = [str(i + 1), f"<bdi>{escape(printable(label))}</bdi>", *numbers]
            lines.append(f"<tr><td>{'</td><td>'.join(cells)}</td></tr>")
        heads = "".join(f"<th>{name}</th>" for name in ("rank", what, *columns))
        rest = self.k - len(lines)
        more = f"<p>{rest:,} more: to_frame() has all.</p>" if rest else ""
        count = f"{self.k:,} {what}{'s' * (self.k != 1)} by {escape(self.solver or 'no solver')}"
        return (
            f"<div><p><strong>{count}</strong> in {self.seconds:.3g} s: {self.quality}.</p>"
            f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
            f"{more}</div>"
        )


def percent_of(gap: float) -> str:
    """A gap in percent, with two digits or so, and never less than it is."""
    if not np.isfinite(gap):
        return "infinite"
    digits = 0 if gap >= 0.1 else 1 if gap >= 0.01 else 2
    return f"{np.ceil(100 * gap * 10**digits - 1e-9) / 10**digits or 0.01:.{digits}f}%"
