"""The shape of a table: all that a plan knows of it."""

from dataclasses import dataclass
from typing import Any

from bestk.reading import get_discretizer

SIGMA_LEVELS, MDLP_LEVELS = 3, 2  # that these make of numbers, as a rule


@dataclass(frozen=True)
class Shape:
    """How large a table is, and of what kind its columns are.

    Parameters
    ----------
    rows, columns : int
        The size, without the target.
    numeric : int, default=0
        How many columns hold numbers that are to be cut into levels; the others are levels.
    levels : int, default=2
        How many different values a column of levels has, about.
    classes : int, default=2
        Of the target.
    item_bytes : float, default=8.0
        What a value takes in memory as it is read.
    in_blocks : bool, default=False
        Whether rows are read in blocks and not held.
    read_seconds : float, default=0.0
        What it takes to read a value from its file.
    is_estimate : bool, default=False
        Whether the rows are estimated, not known.

    Examples
    --------
    >>> Shape(rows=1000, columns=1_000_000).values
    1000000000
    """

    rows: int
    columns: int
    numeric: int = 0
    levels: int = 2
    classes: int = 2
    item_bytes: float = 8.0
    in_blocks: bool = False
    read_seconds: float = 0.0
    is_estimate: bool = False

    def __post_init__(self) -> None:
        for name, least in (("rows", 2), ("columns", 1), ("levels", 1), ("classes", 2)):
            if (value := getattr(self, name)) < least:
                raise ValueError(f"{name} must be a whole number from {least} up, not {value}")
        if not 0 <= self.numeric <= self.columns:
            came = f"{self.numeric} of {self.columns}"
            raise ValueError(f"columns of numbers are some of the columns, not {came}")

    @property
    def values(self) -> int:
        """Rows times columns."""
        return self.rows * self.columns

    def kinds(self, discretizer: Any) -> list[tuple[int, int]]:
        """Columns of one kind, and the levels that each of them has, once numbers are cut."""
        made = levels_made(discretizer, self)
        both = [(self.numeric, made), (self.columns - self.numeric, self.levels)]
        return [(count, levels) for count, levels in both if count]

    def planes(self, discretizer: Any) -> int:
        """Levels beyond the first, of all columns."""
        return sum(count * max(levels - 1, 0) for count, levels in self.kinds(discretizer))


def levels_made(discretizer: Any, shape: Shape) -> int:
    """The levels that a discretiser makes of a column of numbers, as far as one can tell.

    Examples
    --------
    >>> levels_made("caim", Shape(100, 10, numeric=10, classes=3))
    3
    """
    if discretizer is None:
        return shape.levels
    maker = get_discretizer(discretizer)
    usual = {"Sigma": SIGMA_LEVELS, "MDLP": MDLP_LEVELS}
    return int(getattr(maker, "n_bins", 0) or usual.get(type(maker).__name__, shape.classes))
