"""The GPU backend: counts by matrix products, sums in integers, numba's results to the last bit."""

import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bestk.codes import Codes, Target
from bestk.information._correction import Correction
from bestk.information._measures import Measure
from bestk.information.backends._numba import NumbaCounter
from bestk.information.backends._pairs import Formula
from bestk.information.backends._torch_pairs import Plan, plan, write_pairs
from bestk.information.backends._torch_sheet import DeviceSheet, Sheet
from bestk.information.backends._torch_table import upload

Indices = NDArray[np.int64]
PLANS = 4  # kept ready, the latest


class TorchCounter(NumbaCounter):
    """Entropies counted by PyTorch, from the fixed-point tables that numba's backend uses.

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
        self._plans: dict[tuple[Measure, float], Plan] = {}
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

    def _plan(self, measure: Measure, lowest: float) -> Plan:
        """What a measure needs, kept for those that come a row at a time."""
        key = measure, lowest
        if key not in self._plans:
            latest = list(self._plans.items())[1 - PLANS :]
            made = plan(self._table, self._formula(measure, lowest))
            self._plans = dict([*latest, (key, made)])
        return self._plans[key]

    def _fill(
        self, plan: Plan, out: NDArray[Any], rows: Indices | None, columns: Indices | None
    ) -> None:
        device = self._table.device
        sheet = DeviceSheet(out, device) if device.type == "cuda" else Sheet(out)
        mirror = rows is None and columns is None and sheet.hold_all()
        across = plan.sides(columns, rows)
        above = across if mirror else plan.sides(rows, columns, sheet.most_rows)
        for number, side in enumerate(above):
            target, row = sheet.rows(side)
            for column in across[number if mirror else 0 :]:
                write_pairs(plan, row, column, target, mirror and column is not side)
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
            "PyTorch finds no CUDA device; use backend='numba', or install a build of PyTorch "
            "for your GPU"
        )
    if kind == "auto" and not found:
        warnings.warn(
            "PyTorch finds no CUDA device and counts on the CPU: backend='numba' is far faster",
            UserWarning,
            stacklevel=2,
        )
    chosen = torch.device(("cuda" if found else "cpu") if kind == "auto" else device)
    return torch.empty(0, device=chosen).device  # "cuda" has its number now
