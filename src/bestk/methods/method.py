"""What a method of selection is: it picks features from the information of a table."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from bestk.bqp.solution import Solution
from bestk.bqp.solvers import Effort
from bestk.errors import ParameterError

Ints = Sequence[int]
Solutions = list[Solution]
EFFORT = Effort()


class Method(ABC):
    """Picks features from what an estimator found out about them.

    A subclass writes ``pick``; all else follows from it.
    """

    information: ClassVar[str] = "discrete"
    """The name in ``ESTIMATORS`` of the estimate that is read, unless a user names another."""

    @abstractmethod
    def pick(self, estimates: Any, ks: Ints, include: Ints, effort: Effort) -> Solutions:
        """Pick features for every k of a list, which is not empty; counts were checked.

        Parameters
        ----------
        estimates
            :class:`~bestk.information.information.Estimates`: ``n_features``, ``mi()`` and
            ``cmi(rows, columns)``; those of counts are :class:`~bestk.information.Entropies`.
        ks
            Numbers of features, rising.
        include
            Places of features that are picked for every k, all different.
        effort
            The random seed, the seconds, and whether an upper bound is wanted.

        Returns
        -------
        list of Solution
            For each k the places of k different features, best first, and their objective; what
            each adds to it is ``details["contribution"]``.
        """

    def select(
        self, estimates: Any, k: int, include: Ints = (), effort: Effort = EFFORT
    ) -> Solution:
        """Pick k features, among them those to include."""
        return self.select_path(estimates, [k], include, effort)[0]

    def select_path(
        self, estimates: Any, ks: Ints, include: Ints = (), effort: Effort = EFFORT
    ) -> Solutions:
        """Pick for every k of a list, sharing the work."""
        check_counts(ks, include, estimates.n_features)
        return self.pick(estimates, ks, include, effort) if len(ks) else []

    def select_each(
        self, tables: Sequence[Any], k: int, include: Ints, effort: Effort
    ) -> Solutions:
        """Pick k features of each of several tables of the same shape."""
        return [self.select(estimates, k, include, effort) for estimates in tables]


def check_counts(ks: Ints, include: Ints, n_features: int) -> None:
    """Refuse numbers of features that there are not, and features to include that repeat."""
    if len(set(include)) < len(include):
        raise ParameterError(
            f"features to include must differ from each other, not {list(include)}"
        )
    smallest = max(1, len(include))
    for k in ks:
        if not smallest <= k <= n_features:
            among = f", {len(include)} of them included" if len(include) else ""
            raise ParameterError(
                f"k must lie between {smallest} and {n_features}, the features{among}; not {k}"
            )
