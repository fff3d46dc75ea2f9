"""A solution as a small table for notebooks; colours are left to the notebook, light or dark."""

from bestk.problem.solution import Solution
from bestk.report._html import Markup, element, join, name_of
from bestk.report._text import number, shown

MOST_ROWS = 50
LEFT, RIGHT = "text-align: left", "text-align: right"


def solution_html(solution: "Solution", told: tuple[str, ...]) -> str:
    """What was picked, and how good it provably is."""
    columns = [name for name in told if name in solution.details]
    heads = [("rank", RIGHT), ("feature" if columns else "item", LEFT),
             *((name, RIGHT) for name in columns)]  # fmt: skip
    head = element("tr", *(element("th", text, scope="col", style=way) for text, way in heads))
    labels = solution._labels()[:MOST_ROWS]
    rows = [_row(solution, i, label, columns) for i, label in enumerate(labels)]
    table = element("table", element("thead", head), element("tbody", *rows))
    rest = solution.k - len(rows)
    more = [element("p", f"{rest:,} more: to_frame() has all.")] * (rest > 0)
    return element("div", element("p", _summary(solution)), table, *more)


def _row(solution: "Solution", i: int, label: str, columns: list[str]) -> Markup:
    numbers = (number(float(solution.details[name][i])) for name in columns)
    cells = (element("td", text, style=RIGHT) for text in numbers)
    name = element("td", name_of(shown(label)), style=LEFT)
    return element("tr", element("td", i + 1, style=RIGHT), name, *cells)


def _summary(solution: "Solution") -> Markup:
    what = "feature" if "relevance" in solution.details else "item"
    what = f"{solution.k:,} {what}{'s' * (solution.k != 1)} by {solution.solver or 'no solver'}"
    said = f" in {solution.seconds:.3g} s: {solution.quality}."
    return join([element("strong", what), said])
