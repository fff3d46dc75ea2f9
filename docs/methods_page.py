"""The page of methods, written from what the library says of each."""

from pathlib import Path

from evidence import markup

from bestk.method_notes import NOTES
from bestk.methods import METHODS

HEAD = """Methods
=======

A *global* method looks for the best k features together; a *greedy* one adds one feature after
another.

"""


def write(folder: Path) -> None:
    """Write ``methods.rst`` into the folder."""
    markup.write(folder / "methods.rst", HEAD + "\n".join(map(_section, METHODS)))


def _section(name: str) -> str:
    note, method = NOTES[name], METHODS[name]
    lines = {
        "What it is": f"``{method!r}``",
        "Formula": f"``{note.formula}``",
        "Cost": note.cost,
        "Use it when": note.use,
        "Not when": note.avoid,
        "Reference": note.reference,
    }
    title = f"``{name}``: {note.title}"
    body = "\n".join(f":{key}: {value}" for key, value in lines.items())
    return f"{title}\n{'-' * len(title)}\n\n{body}\n"
