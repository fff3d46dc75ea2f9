"""Tables, titles and pictures in reStructuredText."""

from collections.abc import Iterable, Sequence
from math import isfinite, isnan
from pathlib import Path

SPACE, HYPHEN = "\u00a0", "\u2011"  # at which no line is broken


def title(text: str, mark: str = "-") -> str:
    """A heading."""
    return f"{text}\n{mark * len(text)}\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a head; cells may be empty."""
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: auto", ""]
    for row in (head, *rows):
        marks = ["   * -", *["     -"] * (len(row) - 1)]
        lines += [f"{mark} {cell}".rstrip() for mark, cell in zip(marks, row, strict=True)]
    return "\n".join(lines) + "\n"


def picture(name: str, says: str) -> str:
    """A plot of the record, as seen from ``docs/generated``."""
    return f".. image:: ../../benchmarks/results/{name}.png\n   :alt: {says}\n"


def digits(value: float, places: int = 3) -> str:
    """A number with so many digits, without an exponent below a million."""
    if isnan(value):
        return ""
    if not isfinite(value):
        return "∞"
    text = f"{value:.{places}g}"
    return text if "e" not in text else f"{float(text):,.0f}" if abs(value) >= 1 else f"{value:.1e}"


def seconds(value: float) -> str:
    """A time with its unit."""
    if isnan(value):
        return ""
    if value < 0.9995e-3:
        return f"{digits(1e6 * value)}{SPACE}µs"
    return f"{digits(1e3 * value)}{SPACE}ms" if value < 0.9995 else f"{digits(value)}{SPACE}s"


def paragraphs(parts: Iterable[str]) -> str:
    """Parts with a blank line between them."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def write(path: Path, text: str) -> None:
    """Write a page if it has changed, so that unchanged pages are not built again."""
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
