"""The GPU backend: counts by matrix products, sums in integers, the same bits as the default."""

import warnings
from typing import Any

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator
from torch import Tensor

from bestk._typing import Array, Floats, Indices
from bestk.data.codes import Codes
from bestk.data.target import Target
from bestk.information._fixed_point import Correction, ExactEntropies, Formula, Tables
from bestk.information.backends._reductions import Summary, check_pairs
from bestk.information.backends._scan import Scan
from bestk.information.backends._torch_pairs import Plan, plan
from bestk.information.backends._torch_results import fill_output, scan_device, summarize_tiles
from bestk.information.backends._torch_table import DeviceTable, free_bytes, upload
from bestk.information.measures import Measure, Query

MAX_PLANS = 4  # kept ready, the latest
MAX_HELD_SHARE = 0.5  # of a GPU's free memory, for a matrix that stays there


class TorchCounter:
    """Entropies counted by PyTorch, from the fixed-point tables of the native backend.

    Parameters
    ----------
    device : str
        ``"cuda"``, ``"cuda:1"``, ``"cpu"``, or ``"auto"``: a GPU if there is one.
    """

    name, is_discrete = "torch", True

    def __init__(
        self,
        codes: Codes,
        target: Target,
        correction: Correction | None = None,
        device: str = "auto",
    ) -> None:
        self.n_features = codes.n_features
        self._table = upload(codes, target, _choose(device))
        self._plans: dict[tuple[Measure, float, bool], Plan] = {}
        self._exact = _count_on_device(self._table, Tables.of(target.counts, correction))

    def singles(self) -> tuple[Floats, Floats, float]:
        """H(x) and H(x, y) of each feature, and H(y)."""
        return self._exact.singles()

    def copies(self) -> Floats:
        """I(x; x') of each feature and a copy of it: H(x)."""
        return self.singles()[0]

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        fill_output(self._plan(query), torch.from_numpy(out), query.rows, query.columns)

    def matrix(self, query: Query, dtype: Any = torch.float64) -> Tensor:
        """The measure of all pairs, as a tensor that stays on the device."""
        n = self.n_features
        out = torch.empty((n, n), dtype=dtype, device=self._table.device)
        fill_output(self._plan(query), out, None, None)
        return out

    @property
    def sums_quickly(self) -> bool:
        """Whether row sums over all pairs take seconds for hundreds of thousands of features."""
        return bool(self._table.device.type == "cuda")

    def held(self, query: Query) -> "DeviceMatrix | None":
        """A symmetric measure of all pairs, held by a GPU; None where it does not fit."""
        n, room = self.n_features, MAX_HELD_SHARE * free_bytes(self._table.device)
        if not self.sums_quickly or 8 * n * n > room:
            return None
        return DeviceMatrix(self.matrix(query), np.zeros(n))

    def summary(self, query: Query, count: int = 0, sums: bool = True) -> Summary:
        """Row sums and the ``count`` best pairs, from tiles of which none leaves the device."""
        check_pairs(query.measure, count)
        ready = self._plan(query, in_nats=False)
        scale = self._exact.tables.scale
        return summarize_tiles(ready, scale, count, query.measure.is_symmetric, sums)

    def scan(self, query: Query, groups: Indices, count: int) -> Scan:
        """The best partner of each feature in each group, and the ``count`` best pairs."""
        check_pairs(query.measure, count=1)
        return scan_device(self._plan(query), groups, count)

    def _plan(self, query: Query, in_nats: bool = True) -> Plan:
        """The formula of a measure on the device, kept for queries that come a row at a time."""
        key = query.measure, query.lowest, in_nats
        if key not in self._plans:
            latest = list(self._plans.items())[1 - MAX_PLANS :]
            formula = self._exact.formula if in_nats else self._exact.integer_formula
            made = plan(self._table, formula(query.measure, query.lowest))
            self._plans = dict([*latest, (key, made)])
        return self._plans[key]


def _count_on_device(table: DeviceTable, tables: Tables) -> ExactEntropies:
    """Count each feature as a pair with the constant that follows the features."""
    n, nothing = table.n_features, np.zeros_like(tables.plain)
    no_terms = np.zeros(n + 1, np.int64)
    x, xy = np.empty((2, n, 1), np.int64)
    for out, pair_table, class_table in (
        (x, tables.plain, nothing),
        (xy, tables.chance, tables.plain),
    ):
        formula = Formula(pair_table, class_table, no_terms, no_terms, 1.0, -np.inf)
        fill_output(plan(table, formula), torch.from_numpy(out), None, np.array([n]))
    return ExactEntropies(tables, x[:, 0], xy[:, 0])


class DeviceMatrix:
    """A :class:`bestk.problem.problem.LazyMatrix` whose entries are held by a GPU.

    Parameters
    ----------
    values : tensor of shape (n, n)
        Symmetric; its diagonal is overwritten.
    diagonal : array of shape (n,)
        The diagonal.
    """

    sums_quickly = True

    def __init__(self, values: Tensor, diagonal: Floats) -> None:
        self.shape = tuple(values.shape)
        self.values, self._diagonal = values, np.array(diagonal, np.float64)
        values.diagonal().copy_(torch.from_numpy(self._diagonal))

    def with_diagonal(self, diagonal: Floats) -> "DeviceMatrix":
        """The matrix with another diagonal; both share their entries, so this one is invalid."""
        return DeviceMatrix(self.values, diagonal)

    def diagonal(self) -> Floats:
        """The diagonal."""
        return self._diagonal

    def columns(self, items: Indices) -> Floats:
        """The columns of those items, side by side."""
        chosen = torch.from_numpy(np.asarray(items, np.int64)).to(self.values.device)
        rows = self.values.index_select(0, chosen)  # rows are columns, and lie together
        return np.asarray(rows.cpu().numpy(), np.float64).T

    def row_sums(self) -> Floats:
        """The sum of each row."""
        return np.asarray(self.values.sum(1, dtype=torch.float64).cpu().numpy())

    def operator(self) -> LinearOperator:
        """Products with vectors, computed on the device, for the eigensolvers of scipy."""
        return LinearOperator(self.shape, matvec=self._multiply, dtype=np.float64)

    def _multiply(self, vector: Any) -> Floats:
        own = torch.from_numpy(np.asarray(vector, np.float64)).to(self.values)
        return np.asarray((self.values @ own.ravel()).cpu().numpy(), np.float64)


def _choose(device: str) -> Any:
    """The device of that name, if it exists."""
    kind = device.partition(":")[0]
    if kind not in ("auto", "cuda", "cpu"):
        raise ValueError(f"unknown device {device!r}; choose 'torch', 'torch:cuda' or 'torch:cpu'")
    found = torch.cuda.is_available()
    if kind == "cuda" and not found:
        raise RuntimeError(
            "PyTorch finds no CUDA device; use backend='native', or install a build of PyTorch "
            "for your GPU"
        )
    if kind == "auto" and not found:
        warnings.warn(
            "PyTorch finds no CUDA device and counts on the CPU: backend='native' is far faster",
            UserWarning,
            stacklevel=2,
        )
    chosen = torch.device(("cuda" if found else "cpu") if kind == "auto" else device)
    return torch.empty(0, device=chosen).device  # "cuda" has its number now
