"""A table as Markdown and as LaTeX."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ESCAPED = {
    "_": r"\_", "%": r"\%", "±": r"$\pm$", "#": r"\#", "&": r"\&", "^": r"\^{}",
    "<": "$<$", ">": "$>$",
}  # fmt: skip


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

    def latex(self) -> str:
        """As a LaTeX table that needs no package."""
        columns = "l" + "r" * (len(self.head) - 1)
        body = [_latex_line(self.head) + r" \hline", *map(_latex_line, self.rows)]
        return "\n".join(
            [
                r"\begin{table}",
                rf"\caption{{{_escape(self.caption)}}}",
                rf"\begin{{tabular}}{{{columns}}}",
                *body,
                r"\end{tabular}",
                r"\end{table}",
                "",
            ]
        )

    def save(self, folder: Path, name: str) -> None:
        """Write both, as ``name.md`` and ``name.tex``."""
        (folder / f"{name}.md").write_text(self.markdown())
        (folder / f"{name}.tex").write_text(self.latex())


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _latex_line(cells: Sequence[str]) -> str:
    return " & ".join(map(_escape, cells)) + r" \\"


def _escape(text: str) -> str:
    return "".join(ESCAPED.get(letter, letter) for letter in text.replace("**", ""))
