"""Tables whose rows do not fit in memory: read a block of rows at a time.

Contingency counts add up, so :class:`PairCounts` of blocks, wherever they were counted, make
those of the whole table, and give the same entropies to the last bit::

    counts = PairCounts()
    for X_block, y_block in blocks:  # discrete: whole numbers, strings, categories, booleans
        counts.add(X_block, y_block)
    counts = counts + PairCounts().add(X_elsewhere, y_elsewhere)  # labels need not be the same
    entropies = counts.entropies()  # as Entropies.count gives for all rows

:class:`bestk.SelectBestK` takes blocks of any kind in ``fit`` and one at a time in
``partial_fit``; numbers are then cut at points found in a sample of the rows.
"""

from bestk.information.counted.counts import PairCounts
from bestk.information.counted.memory import memory_to_use

__all__ = ["PairCounts", "memory_to_use"]
