"""The matrix of all pairs left on the cluster: an array of dask, counted by the strip of rows."""

from typing import Any

import dask.array
import numpy as np
from dask import delayed
from numpy.typing import DTypeLike, NDArray

from bestk.information import _measures as measures
from bestk.information._entropies import Entropies
from bestk.information._matrices import measure_table
from bestk.information._measures import Measure
from bestk.information.backends._dask import DaskCounter
from bestk.information.backends._dask_tiles import TileCounter, Wanted, one_at_a_time

STRIP_BYTES = 2**26


def cmi_matrix_dask(
    X: Any, y: Any, *, symmetric: bool = False, dtype: DTypeLike = np.float64, **options: Any
) -> Any:
    """What each column adds to each other one, as an array of dask; see :func:`bestk.cmi_matrix`.

    The workers of the current ``distributed.Client`` count a strip of rows when it is asked
    for, and keep it where you say ``persist()``: the whole matrix never is on one machine. Each
    pair is counted twice, once for each of its rows.

    Parameters
    ----------
    X, y, symmetric, dtype, **options
        As for :func:`bestk.cmi_matrix`; the backend is ``"dask"``.

    Returns
    -------
    dask.array.Array of shape (n_features, n_features)
        Chunks are whole rows, of about 64 MiB.

    Examples
    --------
    >>> from distributed import Client
    >>> X = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> with Client(n_workers=1, processes=False, dashboard_address=":0"):
    ...     Q = cmi_matrix_dask(X, ["a", "b", "c", "d"])
    ...     Q.max(axis=0).compute().round(3)
    array([0.693, 0.693, 0.693])
    """
    entropies = measure_table(X, y, **{**options, "backend": "dask"})
    measure = measures.SYMMETRIC_CMI if symmetric else measures.CMI
    return measure_on_cluster(entropies, measure, dtype, diagonal=entropies.mi())


def measure_on_cluster(
    entropies: Entropies,
    measure: Measure,
    dtype: DTypeLike = np.float64,
    signed: bool = False,
    diagonal: NDArray[np.float64] | None = None,
) -> Any:
    """Any measure of all pairs as an array of dask; ``diagonal`` takes the place of its own."""
    if not isinstance(entropies.source, DaskCounter):
        came = type(entropies.source).__name__
        raise ValueError(f"entropies were counted by {came}; count them with backend='dask'")
    lowest = -np.inf if signed or entropies.signed else 0.0
    wanted, n = Wanted(measure, lowest, np.dtype(dtype)), entropies.n_features
    table, strip = entropies.source.scatter(), delayed(_count_strip, pure=False)
    height = max(1, STRIP_BYTES // (wanted.dtype.itemsize * n))
    strips = []
    for first in range(0, n, height):
        rows = np.arange(first, min(first + height, n))
        own = None if diagonal is None else diagonal[rows]
        made = strip(table, rows, wanted, own)
        strips.append(dask.array.from_delayed(made, (len(rows), n), wanted.dtype))
    return dask.array.concatenate(strips)


def _count_strip(
    counter: TileCounter, rows: Any, wanted: Wanted, diagonal: NDArray[np.float64] | None
) -> NDArray[Any]:
    out = np.empty((len(rows), counter.n_features), wanted.dtype)
    with one_at_a_time():
        counter.fill(wanted.measure, out, rows, None, wanted.lowest)
    if diagonal is not None:
        out[np.arange(len(rows)), rows] = diagonal
    return out
