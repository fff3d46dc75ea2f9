"""Checks of parameters."""

from contextlib import suppress
from functools import cache
from inspect import signature
from numbers import Real
from operator import index
from typing import Any

import numpy as np

from bestk.errors import ParameterError


def whole(value: Any, name: str, least: int | None = None) -> int:
    """Check an integer, which may be a float without a fraction."""
    number = None
    if isinstance(value, float | np.floating):
        number = int(value) if float(value).is_integer() else None
    elif not isinstance(value, bool | np.bool_):
        with suppress(TypeError):
            number = index(value)
    if number is None or (least is not None and number < least):
        wanted = "a whole number" if least is None else f"a whole number from {least} up"
        raise ParameterError(f"{name} must be {wanted}, not {value!r}")
    return number


def real(value: Any, name: str, wanted: str) -> float:
    """Check a number; ``wanted`` describes the accepted ones in the error."""
    try:
        if isinstance(value, Real | np.bool_) or (isinstance(value, np.ndarray) and not value.ndim):
            return float(value)
    except (OverflowError, TypeError, ValueError):
        pass
    raise ParameterError(f"{name} must be {wanted}, not {value!r}")


def choice(value: Any, name: str, known: tuple[str | None, ...]) -> None:
    """Check that a name is one of those known."""
    if not (isinstance(value, str) or value is None) or value not in known:
        *others, last = map(repr, known)
        raise ParameterError(f"unknown {name} {value!r}; choose {', '.join(others)} or {last}")


def check_parameters(estimator: Any) -> None:
    """Check the parameters that are not the defaults: all take as long as a small table."""
    from sklearn.utils._param_validation import validate_parameter_constraints

    kind: Any = type(estimator)
    defaults, own = _default_parameters(kind), vars(estimator)
    changed = {name: own[name] for name in defaults if own[name] is not defaults[name]}
    if changed:
        validate_parameter_constraints(kind._parameter_constraints, changed, kind.__name__)


@cache
def _default_parameters(kind: Any) -> dict[str, Any]:
    parameters = signature(kind).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters}
