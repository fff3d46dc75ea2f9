"""The page of methods, written from what the library says of each."""

from pathlib import Path

from evidence import markup

from bestk.selection.method_notes import NOTES
from bestk.selection.methods import METHODS

HEAD = """Methods
=======

A *global* method looks for the best k features together; a *greedy* one adds one feature after
another.

"""


def write(folder: Path) -> None:
    """Write ``methods.rst`` into the folder."""
    markup.write(folder / "methods.rst", HEAD + "\n".join(map(_section, METHODS)))


def _section(name: str) -> str:
    title, _, rest = NOTES[name].partition(":")
    heading = f"``{name}``: {title}"
    body = f"``{METHODS[name]!r}``:{rest}" if rest else f"``{METHODS[name]!r}``"
    return f"{heading}\n{'-' * len(heading)}\n\n{body}\n"
