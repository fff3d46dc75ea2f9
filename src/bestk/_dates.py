"""Dates, times and durations as numbers of days, so that they are ordered and can be cut."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DATES", "DURATIONS", "TIMES", "days", "days_of_objects"]

DATES, DURATIONS, TIMES = (date, np.datetime64), (timedelta, np.timedelta64), (time,)
DAY = 86_400_000_000  # microseconds


def days(values: NDArray[Any]) -> NDArray[np.float64]:
    """Dates as days since 1970-01-01, durations in days; NaN where they are NaT.

    Examples
    --------
    >>> days(np.array(["1970-01-02T12", "NaT"], "datetime64[h]"))
    array([1.5, nan])
    """
    fine = values.astype("m8[us]" if values.dtype.kind == "m" else "M8[us]")
    return np.where(np.isnat(values), np.nan, fine.astype(np.int64) / DAY)


def days_of_objects(known: list[Any]) -> NDArray[np.float64]:
    """The same for Python's dates, times of day and durations, none of them missing.

    Examples
    --------
    >>> days_of_objects([date(1970, 1, 2), datetime(1970, 1, 1, 6)])
    array([1.  , 0.25])
    """
    kind = "m8[us]" if isinstance(known[0], (*DURATIONS, *TIMES)) else "M8[us]"
    return days(np.array([_plain(value) for value in known], kind))


def _plain(value: Any) -> Any:
    """A value that numpy reads: moments in universal time, times of day as durations."""
    if isinstance(value, time):
        return timedelta(0, value.hour * 3600 + value.minute * 60 + value.second, value.microsecond)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value
