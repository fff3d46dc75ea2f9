"""Where the arrays of a large relaxation are: in numpy, or in PyTorch on a GPU."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol, TypeAlias

import numpy as np

from bestk._typing import Floats

# An array of numpy or a tensor of PyTorch; only operators and methods that both have are used.
AnyArray: TypeAlias = Any


@dataclass(frozen=True)
class ArrayLibrary:
    """numpy or PyTorch, with the type of numbers and the device of new arrays."""

    functions: ModuleType
    """numpy or torch: functions of the same names and arguments."""

    dtype: object
    """The type of the numbers, one of that library's."""

    device: str | None = None
    """The device of PyTorch; None for numpy."""

    @property
    def is_numpy(self) -> bool:
        """Whether arrays are those of numpy."""
        return self.device is None

    def array(self, values: AnyArray) -> AnyArray:
        """An array of this library, a copy only where the values are of another kind."""
        if self.device is None:
            return np.asarray(values, self.dtype)  # type: ignore[call-overload]
        return self.functions.as_tensor(values, dtype=self.dtype, device=self.device)


class LinearOperator(Protocol):
    """A symmetric matrix that is known by its products with arrays of a library."""

    library: ArrayLibrary

    def __len__(self) -> int:
        """Number of rows."""

    def __matmul__(self, X: AnyArray) -> AnyArray:
        """The product with an array of one or more columns."""


class HasProducts(Protocol):
    """A symmetric matrix that is known by its products with vectors of numpy."""

    def __matmul__(self, x: Floats) -> Floats:
        """The product with a vector."""


def as_numpy(values: AnyArray) -> Floats:
    """An array of numpy in double precision, from either library."""
    on_cpu = values if isinstance(values, np.ndarray) else values.cpu()
    return np.asarray(on_cpu, np.float64)
