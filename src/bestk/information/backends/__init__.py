"""Ways to count: one module each, one registry."""

import warnings
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bestk.data.codes import Codes, Target
from bestk.information._correction import Correction
from bestk.information._measures import Measure
from bestk.information.backends._native import NativeCounter
from bestk.information.backends._numpy import NumpyCounter

__all__ = ["BACKENDS", "PairSource", "get_backend"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class PairSource(Protocol):
    """What a backend makes of a table: single entropies now, pairs when asked."""

    n_features: int
    is_discrete: bool  # entropies of counts, not of densities

    def singles(self) -> tuple[Floats, Floats, float]:
        """H(x) and H(x, y) of each feature, and H(y)."""

    def copies(self) -> Floats:
        """I(x; x') of each feature and a copy of it."""

    def fill(
        self,
        measure: Measure,
        out: NDArray[Any],
        rows: Indices | None = None,
        columns: Indices | None = None,
        lowest: float = -np.inf,
    ) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""


class Backend(Protocol):
    """Counts a discrete table."""

    def __call__(self, codes: Codes, target: Target, correction: Correction | None) -> PairSource:
        """Make the table ready."""


RENAMED = "backend 'numba' is called 'native' now; the old name goes with version 0.3"
BACKENDS: dict[str, Backend] = {b.name: b for b in (NativeCounter, NumpyCounter)}


def get_backend(name: str) -> Backend:
    """The backend of that name; ``"auto"`` is the fastest that every machine has.

    ``"torch"`` counts on a GPU; ``"torch:cuda"`` insists on one, ``"torch:cpu"`` leaves it alone.
    ``"dask"`` counts on the cluster of the current ``distributed.Client``.
    """
    if not isinstance(name, str):
        raise ValueError(f"unknown backend {name!r}; give it by its name, e.g. 'auto'")
    if name == "numba":
        warnings.warn(RENAMED, DeprecationWarning, stacklevel=2)
        name = "native"
    if name == "auto":
        return NativeCounter
    kind, _, device = name.partition(":")
    if kind == "torch":
        return _import_torch(device or "auto")
    if name == "dask":
        return _import_dask()
    if name not in BACKENDS:
        known = ", ".join(map(repr, ("auto", *sorted(BACKENDS), "torch", "dask")))
        raise ValueError(f"unknown backend {name!r}; choose one of {known}")
    return BACKENDS[name]


def _import_torch(device: str) -> Backend:
    """The backend for GPUs, imported when it is asked for."""
    try:
        from bestk.information.backends._torch import TorchCounter
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ModuleNotFoundError(
            "backend='torch' needs PyTorch; install it with pip install 'bestk[gpu]'", name="torch"
        ) from error
    return partial(TorchCounter, device=device)


def _import_dask() -> Backend:
    """The backend for clusters, imported when it is asked for."""
    try:
        from bestk.information.backends._dask import DaskCounter
    except ModuleNotFoundError as error:
        if error.name not in ("dask", "distributed"):
            raise
        raise ModuleNotFoundError(
            "backend='dask' needs dask and distributed; install them with "
            "pip install 'bestk[dask]'",
            name=error.name,
        ) from error
    return DaskCounter
