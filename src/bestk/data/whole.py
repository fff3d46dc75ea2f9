"""Other names of the check of whole numbers in ``bestk.data.objects``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bestk._typing import Indices
from bestk.data.objects import check_exact
from bestk.data.objects import exceeding as beyond

__all__ = ["beyond", "is_long", "refuse_merged", "refuse_merging"]


def is_long(dtype: Any) -> bool:
    """Whether values of a numpy type may be whole numbers that float64 rounds."""
    return dtype.kind in "iu" and dtype.itemsize == 8


def refuse_merged(values: Any, where: str) -> None:
    """Refuse whole numbers that float64 cannot represent."""
    check_exact(np.array(values, np.float64)[:, None], [where.removeprefix("column ").strip("'")])


def refuse_merging(
    blocks: Iterable[Any], names: Sequence[str], columns: Indices | None = None
) -> None:
    """Refuse whole numbers in blocks, or some columns of them, that float64 cannot represent."""
    for block in blocks:
        if block.categories is None and block.values.dtype.kind in "iu":
            some = block if columns is None else block.keep(np.isin(block.columns, columns))
            if len(some.columns):
                check_exact(some.values, [names[int(j)] for j in some.columns])
