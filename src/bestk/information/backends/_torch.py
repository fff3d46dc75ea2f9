"""The GPU backend: counts by matrix products, sums in integers, the default's bits."""

import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bestk.data.codes import Codes, Target
from bestk.information._correction import Correction
from bestk.information._measures import Measure
from bestk.information.backends._native import NativeCounter
from bestk.information.backends._pairs import Formula
from bestk.information.backends._reductions import Summary, check_pairs, check_symmetric
from bestk.information.backends._torch_matrix import DeviceMatrix
from bestk.information.backends._torch_pairs import Plan, plan, write_pairs
from bestk.information.backends._torch_reductions import summarise
from bestk.information.backends._torch_sheet import DeviceSheet, HeldSheet, Sheet
from bestk.information.backends._torch_table import free_bytes, upload

Indices = NDArray[np.int64]
PLANS = 4  # kept ready, the latest
HELD_SHARE = 0.5  # of a GPU's free memory, for a matrix that stays there


class TorchCounter(NativeCounter):
    """Entropies counted by PyTorch, from the fixed-point tables of the native backend.

    Parameters
    ----------
    device : str
        ``"cuda"``, ``"cuda:1"``, ``"cpu"``, or ``"auto"``: a GPU if there is one.
    """

    name = "torch"

    def __init__(
        self,
        codes: Codes,
        target: Target,
        correction: Correction | None = None,
        device: str = "auto",
    ) -> None:
        self.n_features = codes.n_features
        self._place = np.arange(codes.n_features)  # features keep their order here
        self._table = upload(codes, target, _choose(device))
        self._plans: dict[tuple[Measure, float, bool], Plan] = {}
        self._set_tables(target.counts, correction)
        self._count_singles()

    def _count_singles(self) -> None:
        """A feature alone is a pair with the constant that stands below the features."""
        n, nothing = self.n_features, np.zeros_like(self._plain)
        no_terms = np.zeros(n + 1, np.int64)
        x, xy = np.empty((2, n, 1), np.int64)
        for out, pair_table, class_table in (
            (x, self._plain, nothing),
            (xy, self._chance, self._with_class),
        ):
            pair_step, class_step = np.diff(pair_table), np.diff(class_table)
            formula = Formula(
                pair_table, class_table, pair_step, class_step, no_terms, no_terms, 1.0, -np.inf
            )
            self._fill(plan(self._table, formula), out, None, np.array([n]))
        self._x, self._xy = self._total - x[:, 0], self._total - self._offset - xy[:, 0]

    def fill(
        self,
        measure: Measure,
        out: NDArray[Any],
        rows: Indices | None = None,
        columns: Indices | None = None,
        lowest: float = -np.inf,
    ) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        self._fill(self._plan(measure, lowest), out, rows, columns)

    def matrix(self, measure: Measure, lowest: float = -np.inf, dtype: str = "float64") -> Any:
        """What ``fill`` writes for all pairs, as a tensor that stays on the device."""
        n, device = self.n_features, self._table.device
        out = torch.empty((n, n), dtype=getattr(torch, dtype), device=device)
        self._mirror(self._plan(measure, lowest), HeldSheet(out))
        return out

    @property
    def sums_quickly(self) -> bool:
        """Whether row sums over all pairs take seconds for hundreds of thousands of features."""
        return bool(self._table.device.type == "cuda")

    def held(self, measure: Measure, lowest: float = -np.inf) -> DeviceMatrix | None:
        """A symmetric measure of all pairs, held by a GPU; None where it does not fit."""
        n, device = self.n_features, self._table.device
        if not self.sums_quickly or 8 * n * n > HELD_SHARE * free_bytes(device):
            return None
        return DeviceMatrix(self.matrix(measure, lowest), np.zeros(n))

    def summary(
        self, measure: Measure, count: int = 0, lowest: float = -np.inf, sums: bool = True
    ) -> Summary:
        """Row sums and the ``count`` best pairs, from tiles of which none leaves the device."""
        check_pairs(measure, count)
        formula = self._whole_numbers(measure, lowest)
        ready = self._plan(measure, lowest, formula)
        return summarise(ready, self._scale, count, check_symmetric(measure), sums)

    def _plan(self, measure: Measure, lowest: float, formula: Formula | None = None) -> Plan:
        """What a measure needs, kept for those that come a row at a time."""
        key = measure, lowest, formula is None
        if key not in self._plans:
            latest = list(self._plans.items())[1 - PLANS :]
            made = plan(self._table, formula or self._formula(measure, lowest))
            self._plans = dict([*latest, (key, made)])
        return self._plans[key]

    def _fill(
        self, plan: Plan, out: NDArray[Any], rows: Indices | None, columns: Indices | None
    ) -> None:
        device = self._table.device
        sheet = DeviceSheet(out, device) if device.type == "cuda" else Sheet(out)
        if rows is None and columns is None and sheet.hold_all():
            self._mirror(plan, sheet)
            return
        across = plan.sides(columns, rows)
        for side in plan.sides(rows, columns, sheet.most_rows):
            target, row = sheet.rows(side)
            for column in across:
                write_pairs(plan, row, column, target, False)
            sheet.done(side)
        sheet.close()

    def _mirror(self, plan: Plan, sheet: Sheet) -> None:
        """Count each pair once and write it on both sides of the diagonal."""
        for side, above in plan.upper():
            target, row = sheet.rows(side)
            for column in above:
                write_pairs(plan, row, column, target, column is not side)
            sheet.done(side)
        sheet.close()


def _choose(device: str) -> Any:
    """The device of that name, if it is here."""
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
