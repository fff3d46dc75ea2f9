"""What a path holds at the most, part by part."""

from dataclasses import asdict, dataclass
from typing import Any

from bestk.information._blend import STRIP, WHOLE
from bestk.methods import Quadratic, get_method
from bestk.objectives import KEPT
from bestk.planning._path import Path
from bestk.planning._shape import Shape
from bestk.planning._work import columns_made, plane_bytes
from bestk.problem import PIECE
from bestk.streaming._memory import bytes_of_codes, bytes_of_counts
from bestk.streaming._sample import FEWEST_ROWS, SAMPLE_BYTES, SAMPLE_ROWS


@dataclass(frozen=True)
class Memory:
    """Bytes at the peak, beside what Python and its libraries take."""

    table: float  # as it is read, or the sample of one that is read in blocks
    codes: float  # a byte or two for each value, while it is made ready
    planes: float  # bits, scores and counts that pairs are counted from
    matrix: float  # of pairs
    columns: float  # of pairs, that are kept

    @property
    def total(self) -> float:
        """The larger of two moments: all is made ready, or pairs are held."""
        return self.table + self.planes + max(self.codes, self.matrix + self.columns)

    def to_dict(self) -> dict[str, float]:
        """All parts and the peak."""
        return asdict(self) | {"peak": self.total}


def memory_of(shape: Shape, path: Path, method: Any, k: int) -> Memory:
    """What ``fit`` holds.

    Examples
    --------
    >>> path = Path("discrete", (None,), False, "table", "matrix")
    >>> memory_of(Shape(1000, 2000), path, "tpower", 10)
    Memory(table=16000000.0, codes=2000000.0, planes=250000.0, matrix=32000000, columns=0)
    """
    n, entries = shape.columns, shape.columns**2
    matrix = columns = 0
    if path.pairs == "matrix":
        several = len(path.counted) + path.covariances > 1
        matrix = 8 * entries + (min(8 * entries, WHOLE if 8 * entries <= WHOLE else STRIP)
                                if several else 0)  # fmt: skip
    elif path.pairs == "columns":
        made = columns_made(method, n, k) if isinstance(get_method(method), Quadratic) else 1
        columns = min(KEPT, 8 * n * made) + min(8 * PIECE, 8 * n * made)
    table, codes = shape.item_bytes * shape.values, _code_bytes(shape, path)
    planes = plane_bytes(shape, path)
    if path.rows != "table":
        table = _sample_bytes(shape)
    if path.rows == "counts":
        planes, codes = bytes_of_counts(shape.planes(path.counted[0]), shape.classes), 0.0
    elif path.rows == "sums":
        planes, codes = 2 * 8.0 * entries, 0.0  # the sums, and the products of a block
    return Memory(table, codes, planes, matrix, columns)


def _code_bytes(shape: Shape, path: Path) -> float:
    """Codes of all columns; they are dropped once their bits are packed."""
    if not path.counted:
        return 0.0
    widest = max(levels for way in path.counted for _, levels in shape.kinds(way))
    return bytes_of_codes(shape.rows, shape.columns, 0, 1 if widest <= 2**8 else 2)


def _sample_bytes(shape: Shape) -> float:
    """The rows in which cut points are looked for."""
    width = max(1, shape.numeric)
    rows = max(FEWEST_ROWS, min(SAMPLE_ROWS, SAMPLE_BYTES // (8 * width)))
    return 8.0 * shape.numeric * min(rows, shape.rows)


def in_words(n_bytes: float) -> str:
    """Bytes as people read them.

    Examples
    --------
    >>> in_words(3 * 2**30), in_words(125_000_000)
    ('3.0 GiB', '119 MiB')
    """
    size, units = float(n_bytes), ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{size:.0f} {units[0]}" if size >= 10 or units[0] == "B" else f"{size:.1f} {units[0]}"
