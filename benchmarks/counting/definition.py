"""The computed quantities, from their definitions, to check the results."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.counting.cases import Case


@dataclass(frozen=True)
class Quantity:
    """A measure of a pair of columns and the classes, in nats."""

    formula: str
    define: Callable[[Any, Any, Any], float]

    def of_pairs(self, case: Case, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Its value for each pair."""
        return np.array([self.define(case.X[:, i], case.X[:, j], case.y) for i, j in pairs])


def entropy(*columns: Any) -> float:
    """H of the joint distribution of some columns."""
    cells = np.stack([column.astype(np.int64) for column in columns])
    p = np.unique(cells, axis=1, return_counts=True)[1] / cells.shape[1]
    return float(-(p * np.log(p)).sum())


def _mi(x: Any, z: Any, y: Any) -> float:
    return entropy(x) + entropy(z) - entropy(x, z)


def _joint_mi(x: Any, z: Any, y: Any) -> float:
    return entropy(x, z) + entropy(y) - entropy(x, z, y)


def _cmi(x: Any, z: Any, y: Any) -> float:
    return entropy(x, z) + entropy(x, y) - entropy(x, z, y) - entropy(x)


MI = Quantity("I(xi; xj)", _mi)
JOINT_MI = Quantity("I(xi, xj; y)", _joint_mi)
CMI = Quantity("I(xj; y | xi)", _cmi)
