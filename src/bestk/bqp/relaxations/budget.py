"""What work may still cost: counted operations, or seconds where the user has set a limit."""

from math import inf, isfinite
from time import perf_counter

# An operation is a number that is read and added, about a nanosecond on one core. The constants
# that count operations were measured on one machine; on another, the same work takes another time,
# and its result is the same.
OPERATIONS_PER_SECOND = 1e9


class Budget:
    """Operations that may still be counted, or seconds until a deadline.

    A time limit of the user's is kept by the clock. Without one, work is counted and no clock is
    read, so that the result depends on the input alone and not on the speed of the machine. Both
    are expressed in seconds; counted ones are those of the machine on which costs were measured.
    """

    def __init__(self, deadline: float = inf, operations: float = inf) -> None:
        self.deadline = deadline
        """When time is up, on the clock of ``perf_counter``; infinite if operations are counted."""
        self._limit = operations
        self.counted = 0.0
        """Operations so far."""

    @classmethod
    def within(cls, time_limit: float | None, operations: float) -> "Budget":
        """So many seconds from now, or so many operations if there is no time limit."""
        if time_limit is None:
            return cls(operations=operations)
        return cls(deadline=perf_counter() + time_limit)

    @property
    def is_timed(self) -> bool:
        """Whether the clock ends the work."""
        return isfinite(self.deadline)

    @property
    def spent(self) -> float:
        """Seconds so far: a reading of the clock, or the operations that were counted."""
        if self.is_timed:
            return perf_counter()
        return self.counted / OPERATIONS_PER_SECOND

    @property
    def left(self) -> float:
        """Seconds that are left; negative when it is late."""
        if self.is_timed:
            return self.deadline - perf_counter()
        return (self._limit - self.counted) / OPERATIONS_PER_SECOND

    def spend(self, operations: float) -> None:
        """Count work that was done."""
        self.counted += operations

    def share(self, fraction: float, max_operations: float = inf) -> "Budget":
        """A budget of a fraction of what is left; of counted operations, at most so many."""
        if self.is_timed:
            return Budget(deadline=perf_counter() + fraction * self.left)
        operations = fraction * (self._limit - self.counted)
        return Budget(operations=min(operations, max_operations))
