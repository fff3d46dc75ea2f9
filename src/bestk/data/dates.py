"""Dates, times and durations as numbers of days, so that they are ordered and can be cut."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np

from bestk._typing import Array, Floats

DATES, DURATIONS, TIMES = (date, np.datetime64), (timedelta, np.timedelta64), (time,)
DAY = 86_400_000_000  # microseconds


def days(values: Array) -> Floats:
    """Dates as days since 1970-01-01, durations in days; NaN where they are NaT.

    Examples
    --------
    >>> days(np.array(["1970-01-02T12", "NaT"], "datetime64[h]"))
    array([1.5, nan])
    """
    fine = values.astype("m8[us]" if values.dtype.kind == "m" else "M8[us]")
    return np.where(np.isnat(values), np.nan, fine.astype(np.int64) / DAY)


def days_of_objects(known: list[Any]) -> Floats:
    """The same for Python's dates, times of day and durations, none of them missing.

    Examples
    --------
    >>> days_of_objects([date(1970, 1, 2), datetime(1970, 1, 1, 6)])
    array([1.  , 0.25])
    """
    kind = "m8[us]" if isinstance(known[0], (*DURATIONS, *TIMES)) else "M8[us]"
    return days(np.array([_plain(value) for value in known], kind))


def date_parts(frame: Any) -> Any:
    """Add the year, month, weekday and hour of every column of dates, where seasons matter.

    Parameters
    ----------
    frame : pandas, polars or pyarrow table

    Returns
    -------
    table of the same kind
        With columns such as "day month" beside "day"; weekdays are 1 to 7, from Monday on.

    Examples
    --------
    >>> import pandas as pd
    >>> date_parts(pd.DataFrame({"day": pd.to_datetime(["2024-03-01"])})).columns.tolist()
    ['day', 'day year', 'day month', 'day weekday', 'day hour']
    """
    import narwhals as nw

    table, new = nw.from_native(frame, eager_only=True), []
    for name, dtype in table.collect_schema().items():
        if dtype in (nw.Date, nw.Datetime):
            part = nw.col(name).dt
            new += [part.year().alias(f"{name} year"), part.month().alias(f"{name} month"),
                    part.weekday().alias(f"{name} weekday")]  # fmt: skip
            new += [part.hour().alias(f"{name} hour")] if dtype == nw.Datetime else []
    return table.with_columns(new).to_native()


def _plain(value: Any) -> Any:
    """A value that numpy reads: moments in universal time, times of day as durations."""
    if isinstance(value, time):
        return timedelta(0, value.hour * 3600 + value.minute * 60 + value.second, value.microsecond)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value
