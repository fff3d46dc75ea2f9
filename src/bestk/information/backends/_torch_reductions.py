"""Row sums and best pairs of tiles on a device: what :mod:`._reductions` does on the host."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bestk.information.backends._reductions import SPLIT, Summary, join
from bestk.information.backends._torch_pairs import Plan, Side, write_pairs

MANY = 2**20  # candidates for best pairs that are worth a search for a higher threshold


def summarize_tiles(plan: Plan, scale: float, count: int, symmetric: bool, sums: bool) -> Summary:
    """Count every tile once, or both ways if pairs are not symmetric; keep no tile."""
    n, device = plan.table.n_features, plan.table.device
    row_sums, best = _RowSums(n, device), _TopPairs(count, n, device)
    for rows, above in plan.upper():
        for number, columns in enumerate(above):
            own = len(rows.at) if number == 0 else 0
            values = _values(plan, rows, columns)
            if count:
                best.take(values, rows, columns, own)
            if sums:
                values[:, :own].diagonal().zero_()
                row_sums.take(values, rows.at, columns.at[own:] if symmetric else None, own)
            if sums and not symmetric and own < len(columns.at):
                rest = columns.part(own, len(columns.at)) if own else columns
                row_sums.take(_values(plan, rest, rows), rest.at, None, 0)
    high, low = row_sums.parts.cpu().numpy()
    return Summary(join(high, low, scale), best.pairs(), best.values.cpu().numpy() * scale)


def _values(plan: Plan, rows: Side, columns: Side) -> Tensor:
    """The entries of a tile, whole numbers."""
    shape, device = (len(rows.at), len(columns.at)), plan.table.device
    values = torch.empty(shape, dtype=torch.float64, device=device)
    here, across = (torch.arange(length, device=device) for length in shape)
    write_pairs(plan, rows._replace(at=here), columns._replace(at=across, first=0), values, False)
    return values


class _RowSums:
    """Sums of both parts of each entry; these are whole numbers and no sum is ever rounded."""

    def __init__(self, n: int, device: Any) -> None:
        self.parts = torch.zeros((2, n), dtype=torch.float64, device=device)

    def take(self, values: Tensor, rows: Tensor, columns: Tensor | None, own: int) -> None:
        """Add a tile to its rows, and to those of its columns but for its own; it is used up."""
        high = (values * (1 / SPLIT)).floor_()
        for total, part in zip(self.parts, (high, values.sub_(high, alpha=SPLIT)), strict=True):
            total[rows] += part.sum(1)
            if columns is not None:
                total[columns] += part[:, own:].sum(0)


class _TopPairs:
    """The largest entries above the diagonal."""

    def __init__(self, count: int, n: int, device: Any) -> None:
        self._count, self._n = count, n
        self._least = torch.finfo(torch.float64).min
        self.values = torch.empty(0, dtype=torch.float64, device=device)
        self._keys = torch.empty(0, dtype=torch.int64, device=device)

    def pairs(self) -> NDArray[np.int64]:
        """The features of each, the lower first."""
        keys: NDArray[np.int64] = self._keys.cpu().numpy()
        return np.stack(np.divmod(keys, self._n), axis=1)

    def take(self, values: Tensor, rows: Side, columns: Side, own: int) -> None:
        """Keep what is among the largest of a tile whose first columns are its rows."""
        better = values >= self._least
        better[:, :own].triu_(1)
        if int(better.sum()) > max(MANY, self._count):
            top = values[better].topk(self._count).values
            self._least = max(self._least, float(top[-1]))
            better &= values >= self._least
        i, j = better.nonzero(as_tuple=True)
        a, b = rows.at[i], columns.at[j]
        keys = torch.cat([self._keys, torch.minimum(a, b) * self._n + torch.maximum(a, b)])
        found = torch.cat([self.values, values[i, j]])
        by_key = keys.argsort()
        order = by_key[found[by_key].argsort(descending=True, stable=True)][: self._count]
        self.values, self._keys = found[order], keys[order]
        if len(order) == self._count:
            self._least = float(self.values[-1])
