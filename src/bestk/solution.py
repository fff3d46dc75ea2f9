"""What a solver found, and how good it provably is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-9  # a gap below it is one of floating point
TOLD = ("relevance", "contribution", "adds")  # of each picked feature, in the details


@dataclass(frozen=True, eq=False)
class Solution:
    """The k items picked, best first, their value, and a bound that no choice exceeds."""

    support: NDArray[np.int64]
    objective: float
    upper_bound: float = float("inf")
    solver: str = ""
    seconds: float = 0.0
    names: Sequence[str] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)  # what the solver has to say
    warnings: tuple[str, ...] = ()  # what to know before trusting a selection of features

    @property
    def k(self) -> int:
        """Number of items picked."""
        return len(self.support)

    @property
    def gap(self) -> float:
        """Proved distance to the optimum, relative to the objective; 0.0 means optimal."""
        distance = max(0.0, self.upper_bound - self.objective)
        return distance / abs(self.objective) if self.objective else float(distance and np.inf)

    def to_frame(self) -> Any:
        """The picked items, best first, as a pandas data frame.

        A selection of features has also, in nats, the ``relevance`` of each, its
        ``contribution`` to the others and itself, and what it ``adds`` beyond each of them.
        """
        import pandas as pd

        told = {name: self.details[name] for name in TOLD if name in self.details}
        return pd.DataFrame({"item": self.support, "name": self._labels(), **told})

    def report(self, path: Any = None, *, target: str = "y") -> Any:
        """Tell of a selection in one HTML page, written to ``path`` if that is given.

        The page has what the solution itself holds; errors, other methods and how the table was
        read are in :meth:`SelectBestK.report`, which is given the table.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from bestk import select
        >>> select(*load_iris(return_X_y=True), k=2).report()
        <Report of 2 features, ... characters>
        """
        from bestk.report import make_report

        made = make_report(self, target=target)
        if path is not None:
            made.save(path)
        return made

    def _labels(self) -> list[str]:
        return [str(i) if self.names is None else str(self.names[i]) for i in self.support]

    def __str__(self) -> str:
        gap = "no bound" if np.isinf(self.upper_bound) else f"{100 * self.gap:.3g}%"
        if 0 < self.gap < ROUNDING:
            gap = "0% but for rounding"
        lines = [
            f"{self.k} items by {self.solver} in {self.seconds:.3g} s",
            f"objective    {self.objective:.6g}",
            f"upper bound  {self.upper_bound:.6g}",
            f"gap          {gap}" + (" (optimal)" if self.gap == 0 else ""),
            "picked       " + ", ".join(self._labels()),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """A small table for notebooks; names are escaped."""
        from bestk.report._notebook import solution_html

        return solution_html(self, TOLD)
