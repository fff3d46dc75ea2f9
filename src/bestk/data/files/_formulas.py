"""Text that a spreadsheet takes for a formula, and runs."""

from collections.abc import Iterable
from dataclasses import dataclass

STARTS = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")  # the last four are full-width


@dataclass
class Formulas:
    """Finds cells that begin like a formula, counts them, and escapes them if it is to.

    Examples
    --------
    >>> formulas = Formulas(escape=True)
    >>> formulas.watch(["-1.5", "=1+1", "", "@x", "a-b"])
    ['-1.5', "'=1+1", '', "'@x", 'a-b']
    >>> formulas.found
    2
    """

    escape: bool = False
    found: int = 0

    def watch(self, cells: Iterable[str | None]) -> list[str | None]:
        """The cells as they are to be written."""
        return [self._seen(cell) if cell and cell[0] in STARTS else cell for cell in cells]

    def _seen(self, cell: str) -> str:
        if _is_number(cell):
            return cell
        self.found += 1
        return f"'{cell}" if self.escape else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
