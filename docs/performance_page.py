"""The page of performance, written from the records in ``benchmarks/results``."""

from collections.abc import Callable
from pathlib import Path

from evidence import counting, markup, others, scale, selectors, solvers
from evidence.records import MissingError

HEAD = """Performance
===========

Every number on this page is read from the records in ``benchmarks/results`` when the page is made;
below each table stand the machine, the day, the commit and the command that measures it again.
Times are the best of several rounds in which all contenders took turns. What the speed is for,
better picks, is on the page :doc:`../quality`; what others can do that bestk cannot, and the other
way round, on the page :doc:`peers`.

"""

PARTS: dict[str, Callable[[], str]] = {
    "All pairs of columns": counting.page,
    "A whole selection": selectors.page,
    "Real data sets": selectors.on_real_data,
    "Where others are faster": others.page,
    "Solvers": solvers.page,
    "Time against size": scale.growth,
    "A million columns": scale.million,
    "More rows than fit in memory": scale.rows,
    "Workers": scale.cluster,
    "A GPU": scale.gpu,
}


def write(folder: Path) -> None:
    """Write ``performance.rst`` into the folder."""
    markup.write(folder / "performance.rst", HEAD + "\n".join(map(section, PARTS)))


def section(name: str) -> str:
    """One section; where its record is missing, how to make it."""
    try:
        return PARTS[name]()
    except MissingError as reason:
        return markup.paragraphs([markup.title(name), str(reason)])
