"""A page of text, tables and figures, gathered in order."""

import os
from pathlib import Path
from typing import Any

from benchmarks.pictures import pyplot
from experiments.tables import Grid


class Page:
    """Text, tables and figures, gathered in order."""

    def __init__(self, folder: Path, page: Path) -> None:
        self.folder, self.page = folder, page
        self.parts: list[str] = []

    def say(self, *paragraphs: str) -> None:
        """Add paragraphs, or headings."""
        self.parts += paragraphs

    def table(self, grid: Grid) -> None:
        """Add a table."""
        self.parts.append(grid.markdown().rstrip())

    def figure(self, figure: Any, name: str, caption: str) -> None:
        """Add a figure, and keep it as a file."""
        path = self.folder / f"{name}.png"
        save(figure, path)
        shown = os.path.relpath(path, self.page.parent)
        self.parts += [f"![{caption}]({shown})", f"*{caption}*"]

    def write(self) -> None:
        """Write the page."""
        self.page.parent.mkdir(parents=True, exist_ok=True)
        self.page.write_text("\n\n".join(self.parts) + "\n")


def save(figure: Any, path: Path) -> None:
    """Write a figure, and forget it."""
    figure.savefig(path, dpi=120)
    pyplot().close(figure)
