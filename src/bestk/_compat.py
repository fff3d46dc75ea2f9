"""Every private name of another package that the library uses, in one place.

Private names may change or go with any release. They are imported here and nowhere else, under a
public name, so that a new release of a package is answered in one file. ``make test-min`` and
``make test-newest`` run the tests with the oldest and the newest versions.

================  =========================  ================================================
package           tested with                without the private names
================  =========================  ================================================
scikit-learn      1.6.0 to 1.9.1             checks of parameters, indexing and the split of
                                             parameters of ``fit`` cannot be replaced: the
                                             import fails; the others have a plain substitute
PyTorch           2.11.0 (CUDA 13.0)         GPUs count by matrix products of PyTorch
================  =========================  ================================================
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from sklearn import get_config
from sklearn.utils import _safe_indexing as take_items
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    Options,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import _check_method_params as take_rows_of_params

try:
    from sklearn.utils._user_interface import _print_elapsed_time
except ImportError:
    _print_elapsed_time = None

try:
    from sklearn.utils._set_output import _get_output_config
except ImportError:
    _get_output_config = None

try:
    from sklearn.utils._metadata_requests import _raise_for_params
except ImportError:
    _raise_for_params = None

__all__ = [
    "HasMethods",
    "Interval",
    "Options",
    "RealNotInt",
    "StrOptions",
    "compile_cuda_kernel",
    "load_cuda_driver",
    "output_container",
    "print_elapsed_time",
    "refuse_unrouted_params",
    "take_items",
    "take_rows_of_params",
    "validate_parameter_constraints",
]


def print_elapsed_time(source: str, message: str) -> AbstractContextManager[None]:
    """Print what took how long when the block ends, as scikit-learn does."""
    if _print_elapsed_time is None:
        return nullcontext()
    timer: AbstractContextManager[None] = _print_elapsed_time(source, message)
    return timer


def output_container(estimator: Any) -> str:
    """What ``transform`` of an estimator returns: ``"default"``, ``"pandas"`` or ``"polars"``."""
    if _get_output_config is None:
        return str(get_config()["transform_output"])
    return str(_get_output_config("transform", estimator=estimator)["dense"])


def refuse_unrouted_params(params: Mapping[str, Any], owner: object, method: str) -> None:
    """Refuse parameters of a method that only metadata routing could hand on, if it is off."""
    if _raise_for_params is not None:
        _raise_for_params(params, owner, method)
        return
    if params and not get_config().get("enable_metadata_routing", False):
        raise ValueError(
            f"[{', '.join(params)}] are passed to {type(owner).__name__}.{method}, which needs "
            "metadata routing; call sklearn.set_config(enable_metadata_routing=True)"
        )


def compile_cuda_kernel(source: str, name: str, chip: str | None, options: Sequence[str]) -> Any:
    """Compile one kernel of CUDA C++ by NVRTC, for the current device or for a chip (``"90a"``).

    PyTorch's public ``compile_kernel`` does not take the name of a chip. Raises AttributeError or
    RuntimeError where PyTorch or the driver cannot compile.
    """
    import torch

    return torch.cuda._compile_kernel(source, name, chip, nvcc_options=list(options))


@cache
def load_cuda_driver() -> Any:
    """The library of the CUDA driver that PyTorch has loaded, through ctypes."""
    import torch

    return torch.cuda._utils._get_gpu_runtime_library()
