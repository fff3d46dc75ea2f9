"""Selections in front of other models."""

from statistics import mean

from evidence.markup import digits, paragraphs, table, title
from evidence.records import Line, number, pick, provenance, read

COMMAND = "python -m benchmarks.front_end"


def page() -> str:
    """The section on models that are given k columns instead of all."""
    lines = read("front_end", COMMAND)
    kinds = dict.fromkeys((line["model"], line["way"], _count(line)) for line in lines)
    head = ["model", "columns", "tables", "balanced accuracy", "CPU s, selecting", "CPU s, fitting"]
    return paragraphs(
        [
            title("In front of other models"),
            "Models on all columns of wide tables, and on k selected ones: means over the tables,"
            " in three folds. The support vector machine stands for models with a column limit.",
            table(head, [_row(lines, *kind) for kind in kinds]),
            provenance(lines, COMMAND, "front_end"),
        ]
    )


def _count(line: Line) -> str:
    return "all" if line["way"] == "all columns" else line["k"]


def _row(lines: list[Line], model: str, way: str, count: str) -> list[str]:
    found = [line for line in pick(lines, model=model, way=way) if _count(line) == count]
    name = way if count == "all" else f"{way}, k = {count}"
    cells = (mean(number(line, key) for line in found) for key in KEYS)
    return [model, name, str(len(found)), *map(digits, cells)]


KEYS = ("score", "select_seconds", "fit_seconds")
