"""What a method of selection is: it picks features from the information of a table."""

from collections.abc import Sequence
from typing import Any

from bestk.bqp.solution import Solution
from bestk.bqp.solvers import Effort

Ints = Sequence[int]
Solutions = list[Solution]
EFFORT = Effort()


class Method:
    """Picks features from the entropies of a table."""

    information = "discrete"  # unless another is asked for

    def select(
        self, entropies: Any, k: int, include: Ints = (), effort: Effort = EFFORT
    ) -> Solution:
        """Pick k features, among them those to include."""
        return self.select_path(entropies, [k], include, effort)[0]

    def select_path(
        self, entropies: Any, ks: Ints, include: Ints = (), effort: Effort = EFFORT
    ) -> Solutions:
        """Pick for every k of a list, sharing the work."""
        check_counts(ks, include, entropies)
        return self._pick(entropies, ks, include, effort) if len(ks) else []

    def select_each(self, parts: Sequence[Any], k: int, include: Ints, effort: Effort) -> Solutions:
        """Pick k features of each of several tables of the same shape."""
        return [self.select(part, k, include, effort) for part in parts]

    def _pick(self, entropies: Any, ks: Ints, include: Ints, effort: Effort) -> Solutions:
        raise NotImplementedError


def check_counts(ks: Ints, include: Ints, entropies: Any) -> None:
    """Refuse numbers of features that there are not, and features to include that repeat."""
    n, least = entropies.n_features, max(1, len(include))
    if len(set(include)) < len(include):
        raise ValueError(f"features to include must differ from each other, not {list(include)}")
    for k in ks:
        if not least <= k <= n:
            among = f", {len(include)} of them included" if len(include) else ""
            raise ValueError(f"k must lie between {least} and {n}, the features{among}; not {k}")
