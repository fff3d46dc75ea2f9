"""Write the page on performance from the records in ``benchmarks/results``."""

from collections.abc import Callable
from pathlib import Path

from evidence import counting, front_end, markup, others, scale, selectors, solvers
from evidence.records import MissingError

HEAD = """Performance
===========

All numbers on this page are from the records in ``benchmarks/results``; below each table are the
machine, the date, the commit and the command that measures it again. Times are the best of several
rounds in which all methods took turns. :doc:`../quality` compares the prediction errors, and
:doc:`peers` the features of other packages.

Times of the default (``auto``, ``default``, and bestk in front of other models) are those of the
previous default, forward selection by counts and covariances. Block forward selection, the present
one, has not been measured yet; it computes scores and covariances on the CPU, and counts pairs on
a GPU where there is one.

"""

PARTS: dict[str, Callable[[], str]] = {
    "All pairs of columns": counting.page,
    "A whole selection": selectors.page,
    "Real data sets": selectors.on_real_data,
    "In front of other models": front_end.page,
    "Where other packages are faster": others.page,
    "Solvers": solvers.page,
    "Running time by size": scale.growth,
    "A million columns": scale.million,
    "More rows than memory": scale.rows,
    "Clusters": scale.cluster,
    "GPUs": scale.gpu,
}


def write(folder: Path) -> None:
    """Write ``performance.rst`` into the folder."""
    markup.write(folder / "performance.rst", HEAD + "\n".join(map(section, PARTS)))


def section(name: str) -> str:
    """One section; if its record is missing, the command that creates it."""
    try:
        return PARTS[name]()
    except MissingError as reason:
        return markup.paragraphs([markup.title(name), str(reason)])
