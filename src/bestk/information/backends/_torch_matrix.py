"""A symmetric matrix that stays on a device: columns and sums come home, the rest does not."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator
from torch import Tensor

Floats = NDArray[np.float64]


class DeviceMatrix:
    """A :class:`bestk.problem.problem.LazyMatrix` whose entries are held by a GPU.

    Parameters
    ----------
    values : tensor of shape (n, n)
        Symmetric; its diagonal is written over.
    diagonal : array of shape (n,)
        The diagonal.
    """

    sums_quickly = True

    def __init__(self, values: Tensor, diagonal: Floats) -> None:
        self.shape = tuple(values.shape)
        self.values, self._diagonal = values, np.array(diagonal, np.float64)
        values.diagonal().copy_(torch.from_numpy(self._diagonal))

    def with_diagonal(self, diagonal: Floats) -> "DeviceMatrix":
        """The matrix with another diagonal; this one is good no more, both share their entries."""
        return DeviceMatrix(self.values, diagonal)

    def diagonal(self) -> Floats:
        """The diagonal."""
        return self._diagonal

    def columns(self, items: NDArray[np.int64]) -> Floats:
        """The columns of those items, side by side."""
        chosen = torch.from_numpy(np.asarray(items, np.int64)).to(self.values.device)
        rows = self.values.index_select(0, chosen)  # rows are columns, and lie together
        return np.asarray(rows.cpu().numpy(), np.float64).T

    def row_sums(self) -> Floats:
        """The sum of each row."""
        return np.asarray(self.values.sum(1, dtype=torch.float64).cpu().numpy())

    def operator(self) -> LinearOperator:
        """Products with vectors, made on the device: what scipy's eigensolvers ask for."""
        return LinearOperator(self.shape, matvec=self._multiply, dtype=np.float64)

    def _multiply(self, vector: Any) -> Floats:
        own = torch.from_numpy(np.asarray(vector, np.float64)).to(self.values)
        return np.asarray((self.values @ own.ravel()).cpu().numpy(), np.float64)
