"""Counting backends, and the registry of their names."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from bestk.errors import ParameterError, UnknownNameError
from bestk.information.backends._native import NativeCounter
from bestk.information.backends._source import PairSource, PickRule
from bestk.information.backends._weighted import WeightedCounter
from bestk.information.measures import Correction
from bestk.tables.codes import Codes
from bestk.tables.target import ClassTarget
from bestk.tables.weights import RowWeights

__all__ = [
    "BACKENDS",
    "Backend",
    "PairSource",
    "PickRule",
    "device_measures",
    "get_backend",
    "refuse_weights",
    "source_of",
]


# prepares a discrete table for counting
Backend = Callable[[Codes, ClassTarget, Correction | None], PairSource]
NO_TORCH = "backend='torch' needs PyTorch; install it with pip install 'bestk[gpu]'"
NO_DASK = "backend='dask' needs dask and distributed; install them with pip install 'bestk[dask]'"
BACKENDS: dict[str, Backend] = {"auto": NativeCounter, "native": NativeCounter}


def get_backend(name: str) -> Backend:
    """The backend of that name, which may end in a device of torch, such as ``"torch:cuda"``."""
    if isinstance(name, str) and name in BACKENDS:
        return BACKENDS[name]
    kind, _, device = str(name).partition(":")
    if kind == "torch":
        return partial(_import("_torch", NO_TORCH).TorchCounter, device=device or "auto")
    if name == "dask":
        counter: Backend = _import("dask_cluster", NO_DASK).DaskCounter
        return counter
    raise UnknownNameError("backend", name, (*BACKENDS, "torch", "dask"))


def refuse_weights(name: str, weights: RowWeights | None) -> None:
    """Refuse weights with a backend that counts whole rows: all but the default."""
    kind = str(name).partition(":")[0]
    counts_rows = kind in ("torch", "dask") or BACKENDS.get(str(name)) not in (
        None,
        NativeCounter,
    )
    if weights is not None and counts_rows:
        raise ParameterError(
            f"backend={name!r} counts whole rows, and sample_weight gives them different weights; "
            "pass backend='auto', which adds up weights on the CPU, or no sample_weight"
        )


def source_of(
    codes: Codes, target: ClassTarget, name: str, correction: Correction | None
) -> PairSource:
    """The entropies of a discrete table: by a backend, or by sums of weights on the CPU."""
    refuse_weights(name, target.weights)
    make: Backend = BACKENDS.get(str(name)) or get_backend(name)
    if target.weights is None:
        return make(codes, target, correction)
    return WeightedCounter(codes, target, correction)


def device_measures(name: str) -> Any:
    """What measures the blend of a table of numbers on a device of torch."""
    device = name.partition(":")[2]
    return partial(_import("_torch_blend", NO_TORCH).measure_on_device, device=device or "auto")


def _import(module: str, needed: str) -> Any:
    """The module of a backend whose packages are optional."""
    try:
        return import_module(f"bestk.information.backends.{module}")
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "dask", "distributed"):
            raise
        raise ModuleNotFoundError(needed, name=error.name) from error
