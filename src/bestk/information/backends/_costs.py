"""What counting costs, in nanoseconds of one core: which kernel to take for a pair.

The constants were set by hand from timings of single kernels. ``python -m benchmarks.counting
costs`` fits its own beside them and says how often each set picks the faster kernel.
"""

from typing import Any

LANES = 16  # features of a tile, counted together
WORD_COST = 0.42  # a word of a plane against a word of sixteen others
CELL_COST = 5.0  # a cell of sixteen pairs: its look-up and the margins it enters
SAMPLE_COST = 4.2  # a sample of one pair in a histogram


def planes_cost(n_i: Any, n_j: int, n_words: int, n_classes: int) -> Any:
    """Sixteen pairs by AND and popcount, ``n_i`` planes against ``n_j``."""
    cells = (n_i + 1) * (n_j + 1) * (n_classes + 1)
    return n_i * n_j * n_words * WORD_COST + cells * CELL_COST


def prefers_planes(n_i: int, n_j: int, n_words: int, n_classes: int, n_samples: int) -> bool:
    """Whether AND and popcount beat a pass over the samples."""
    return bool(planes_cost(n_i, n_j, n_words, n_classes) < n_samples * LANES * SAMPLE_COST)
