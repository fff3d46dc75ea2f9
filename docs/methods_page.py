"""Write the page on methods from their notes in the library."""

from pathlib import Path

from evidence import markup

from bestk.methods.registry import METHODS, describe_method

HEAD = """Methods
=======

A *global* method searches for the best k features together; a *greedy* method adds one feature at a
time.

"""


def write(folder: Path) -> None:
    """Write ``methods.rst`` into the folder."""
    markup.write(folder / "methods.rst", HEAD + "\n".join(map(_section, METHODS)))


def _section(name: str) -> str:
    title, _, rest = describe_method(name).partition(":")
    heading = f"``{name}``: {title}"
    body = f"``{METHODS[name]!r}``:{rest}" if rest else f"``{METHODS[name]!r}``"
    return f"{heading}\n{'-' * len(heading)}\n\n{body}\n"
