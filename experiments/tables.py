"""A table as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """A caption, a head, and rows of text."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """As Markdown, the caption above."""
        lines = [f"**{self.caption}**", "", _line(self.head)]
        lines.append("|" + "---|" + "---:|" * (len(self.head) - 1))
        return "\n".join([*lines, *map(_line, self.rows)]) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
