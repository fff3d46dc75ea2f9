"""What sections are made of: headings, paragraphs, tables that scroll and sort."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bestk.report._html import Markup, element, name_of
from bestk.report._text import number

MANY_ROWS = 30  # a table of more scrolls by itself


def section(key: str, title: str, *content: Any) -> Markup:
    """A part of the report under its heading."""
    heading = element("h2", title, id=f"{key}-title")
    return element("section", heading, *content, id=key, aria_labelledby=f"{key}-title")


def paragraph(*content: Any, class_: str | None = None) -> Markup:
    """A paragraph."""
    return element("p", *content, class_=class_)


def table(
    caption: str, heads: Sequence[str], rows: Iterable[Sequence[Any]], *,
    numeric: Sequence[str] = (), sortable: bool = False, named: int = 0,
    marks: Mapping[int, Markup] | None = None, key: str | None = None,
) -> Markup:  # fmt: skip
    """A table that scrolls by itself where it is too wide.

    ``named`` is the column of names, ``marks`` are put before some heads, ``key`` is its id.
    """
    before = marks or {}
    head = element("tr", *(_head(text, numeric, before.get(place)) for place, text in
                           enumerate(heads)))  # fmt: skip
    body = [
        element("tr", *(_cell(cell, head_of_row=place == named) for place, cell in enumerate(row)))
        for row in rows
    ]
    made = element(
        "table", element("caption", caption), element("thead", head), element("tbody", *body),
        class_="sortable" if sortable else None, id=key,
    )  # fmt: skip
    kind = "wide tall" if len(body) > MANY_ROWS else "wide"
    return element("div", made, class_=kind, tabindex="0", role="group", aria_label=caption)


def _head(text: str, numeric: Sequence[str], mark: Markup | None) -> Markup:
    right = "n" if text in numeric else None
    return element("th", mark or "", name_of(text), scope="col", class_=right)


def _cell(cell: Any, *, head_of_row: bool) -> Markup:
    """Numbers to the right, with their full value for sorting; a pair is a number and its text."""
    text = None
    if isinstance(cell, tuple):
        cell, text = cell
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        value = "" if cell != cell else repr(float(cell)) if abs(cell) != float("inf") else "1e999"
        return element("td", text or number(cell), class_="n", data_value=value)
    shown = cell if isinstance(cell, Markup) else name_of(str(cell))
    return element("th", shown, scope="row") if head_of_row else element("td", shown)


def folded(title: str, *content: Any, open_: bool = False) -> Markup:
    """Content that is shown when its title is pressed."""
    return element("details", element("summary", title), *content, open="" if open_ else None)


def tiles(facts: Iterable[tuple[str, str]]) -> Markup:
    """A few facts at a glance."""
    boxes = (element("div", element("dt", name), element("dd", value)) for name, value in facts)
    return element("dl", *boxes, class_="tiles")


def code(key: str, text: str, label: str) -> Markup:
    """Code, and a button that copies it."""
    button = element("button", label, type="button", class_="copy", data_source=key)
    block = element("pre", element("code", text, id=key), tabindex="0")
    return element("div", element("div", button, class_="tools js-only"), block)
