"""The default backend: bit-planes or histograms, chosen pair by pair, in integers throughout."""

from functools import partial
from typing import Any

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.data.codes import Codes
from bestk.data.target import Target
from bestk.information._fixed_point import Correction, ExactEntropies, Tables
from bestk.information.backends._costs import LANES
from bestk.information.backends._packed import Packed, PairRequest, bind, cut_tasks, pack, run_tasks
from bestk.information.backends._reductions import Summary, check_pairs, summarize
from bestk.information.measures import Measure, Query
from bestk.native import Kernel, kernels
from bestk.native.threads import threads

MAX_PLANE_LEVELS = 64
PACK_COST = 1e-9  # seconds for a sample of a feature
MAX_KERNELS = 4  # kept ready, the latest


class NativeCounter:
    """Entropies of a discrete table and its classes, by compiled kernels on the CPU."""

    name, is_discrete = "native", True

    def __init__(self, codes: Codes, target: Target, correction: Correction | None = None) -> None:
        self.n_features = codes.n_features
        self.order = np.argsort(codes.levels, kind="stable")
        self.place = np.argsort(self.order)
        self._kernels: dict[tuple[Measure, float], Kernel] = {}
        with threads(seconds=PACK_COST * codes.values.size):
            self.packed = pack(codes, target, self.order, MAX_PLANE_LEVELS)
            self.exact = _count_singles(self.packed, Tables.of(target.counts, correction))

    def singles(self) -> tuple[Floats, Floats, float]:
        """H(x) and H(x, y) of each feature, and H(y)."""
        return self.exact.singles(self.place)

    def copies(self) -> Floats:
        """I(x; x') of each feature and a copy of it: H(x)."""
        return self.singles()[0]

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        kernel = self.kernel(query.measure, query.lowest)
        self._write(kernel, out, query.rows, query.columns)

    def summary(self, query: Query, count: int = 0, sums: bool = True) -> Summary:
        """Row sums and the ``count`` best pairs, from strips of which none is kept."""
        check_pairs(query.measure, count)
        formula = self.exact.integer_formula(query.measure, query.lowest)
        write = partial(self._write, bind(self.packed, formula))
        return summarize(write, self.order, self.exact.tables.scale, query.measure, count, sums)

    def kernel(self, measure: Measure, lowest: float) -> Kernel:
        """The kernel for a measure, kept for queries that come a row at a time."""
        key = measure, lowest
        if key not in self._kernels:
            if len(self._kernels) == MAX_KERNELS:
                del self._kernels[next(iter(self._kernels))]
            self._kernels[key] = bind(self.packed, self.exact.formula(*key))
        return self._kernels[key]

    def request(self, rows: Indices | None, columns: Indices | None) -> PairRequest:
        """The places of features, and where their pairs go."""
        mirror = rows is None and columns is None
        if columns is None:
            column_to, tiles = self.order, np.arange(-(-self.n_features // LANES))
        else:
            column_to = np.full(self.n_features, -1)
            column_to[self.place[columns]] = np.arange(len(columns))
            tiles = np.unique(self.place[columns] // LANES)
        if rows is None:
            return PairRequest(np.arange(self.n_features), self.order, tiles, column_to, mirror)
        row_to = np.argsort(self.place[rows], kind="stable")
        return PairRequest(self.place[rows][row_to], row_to, tiles, column_to, mirror)

    def _write(
        self, kernel: Kernel, out: Array, rows: Indices | None, columns: Indices | None
    ) -> None:
        if out.size:
            request = self.request(rows, columns)
            run_tasks(kernel, request, cut_tasks(self.packed, request), out)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle all but the kernels, which hold addresses."""
        return {**self.__dict__, "_kernels": {}}


def _count_singles(packed: Packed, tables: Tables) -> ExactEntropies:
    """Entropies of each feature, by its place."""
    x, xy = np.zeros((2, packed.n_features), np.int64)
    kernels.fill_singles(
        packed.margins, packed.n_planes, packed.margins_at, packed.sizes, packed.starts,
        packed.levels, packed.codes_or_none, packed.n_features, len(packed.sizes),
        tables.plain, tables.plain, tables.chance, x, xy,
    )  # fmt: skip
    return ExactEntropies(tables, x, xy)
