"""Checks of parameters."""

from collections.abc import Collection
from contextlib import suppress
from numbers import Real
from operator import index
from typing import Any

import numpy as np

from bestk.errors import ParameterError, UnknownNameError


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
    """Check a number, not NaN; ``wanted`` describes the accepted ones in the error."""
    try:
        single = isinstance(value, np.ndarray) and not value.ndim
        if (single or isinstance(value, Real | np.bool_)) and (number := float(value)) == number:
            return number
    except (OverflowError, TypeError, ValueError):
        pass
    raise ParameterError(f"{name} must be {wanted}, not {value!r}")


def choice(value: Any, name: str, known: Collection[str | None]) -> None:
    """Check that a name is one of those known."""
    if not (isinstance(value, str) or value is None) or value not in known:
        raise UnknownNameError(name, value, known)
