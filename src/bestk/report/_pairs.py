"""The features in pairs: a map to explore, the pairs that share most, and all numbers."""

import numpy as np
from numpy.typing import NDArray

from bestk.plots.names import shorten
from bestk.report._facts import Facts
from bestk.report._heatmap import ANCHORS, alike_together, draw_map, draw_ramp, limits
from bestk.report._html import Markup, element
from bestk.report._parts import folded, paragraph, section, table
from bestk.report._text import number

MOST_CELLS = 400  # features of the heat map
MOST_NUMBERS = 25  # features whose pairs are written as numbers, too
MOST_ALIKE = 8  # pairs in the table of those that share most
BUTTONS = (("zoom-in", "Zoom in"), ("zoom-out", "Zoom out"), ("zoom-all", "Show all"))
KEYS = "Pairs of features; arrow keys move from cell to cell, plus and minus zoom, 0 shows all"
CHOICES = (
    ("map-what", "Colour", ("what the column adds", "what the two share")),
    ("map-order", "Order", ("by rank", "alike together")),
)


def pairs_section(facts: Facts) -> Markup:
    """The heat map of all pairs, and the numbers behind it where they are few."""
    names, pairs = _mapped(facts)
    low, high = limits(pairs)
    cut = (f" The best {MOST_CELLS} of {len(facts.features):,} features are in it."
           if len(names) < len(facts.features) else "")  # fmt: skip
    explained = paragraph(
        "Each cell is a pair: what the feature of its column still says once the feature of its "
        "row is known. On the diagonal is what a feature says alone. A column that is dark in one "
        f"row says little that the feature of that row has not said.{cut}"
    )
    frame = element(
        "div", draw_map(names, _labels(facts), pairs), id="map", class_="map", tabindex="0",
        role="application", aria_roledescription="heat map", aria_label=KEYS,
        aria_describedby="readout",
    )  # fmt: skip
    readout = element("div", paragraph("Point at a cell, tap it, or press an arrow key."),
                      id="readout", class_="readout js-only", role="status")  # fmt: skip
    ends = [element("span", number(end), id=key) for key, end in (("low", low), ("high", high))]
    scale = paragraph(ends[0], " ", draw_ramp(), " ", ends[1], " nats", class_="scale")
    left = element("div", frame, scale)
    return section("pairs", "The features in pairs", explained, _tools(),
                   element("div", left, readout, class_="beside"), _alike(facts),
                   _numbers(names, pairs))  # fmt: skip


def _tools() -> Markup:
    buttons = [element("button", text, type="button", id=key) for key, text in BUTTONS]
    menus = [
        element("label", f"{label} ", element("select", *(element("option", text, value=i)
                for i, text in enumerate(texts)), id=key))
        for key, label, texts in CHOICES
    ]  # fmt: skip
    return element("div", *menus, *buttons, class_="tools js-only")


def _mapped(facts: Facts) -> tuple[list[str], NDArray[np.float64]]:
    """The features that are drawn, and their pairs."""
    names = [feature.name for feature in facts.features[:MOST_CELLS]]
    return names, facts.pairs[: len(names), : len(names)]


def _labels(facts: Facts) -> list[str]:
    """Names that are short enough to stand beside the map."""
    drawn = facts.features[:MOST_CELLS]
    return shorten([each.name for each in drawn], [each.place for each in drawn])


def map_data(facts: Facts) -> dict[str, object]:
    """What the script needs to know of each cell."""
    names, pairs = _mapped(facts)
    drawn = facts.features[: len(names)]
    return {
        "names": names,
        "labels": _labels(facts),
        "relevance": [round(f.relevance, 6) for f in drawn],
        "contribution": [round(f.contribution, 6) for f in drawn],
        "new_information": [round(f.new_information, 6) for f in drawn],
        "pairs": np.round(pairs, 5).tolist(),
        "alike": alike_together(shared(pairs)),
        "colours": ANCHORS,
    }


def shared(pairs: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the feature of each row has said already of what that of the column says.

    Examples
    --------
    >>> shared(np.array([[0.5, 0.1], [0.2, 0.4]])).round(3).tolist()
    [[0.5, 0.3], [0.3, 0.4]]
    """
    both = np.diag(pairs)[None, :] - pairs
    np.fill_diagonal(both, np.diag(pairs))
    return both


def _alike(facts: Facts) -> Markup:
    """The pairs that share most of what the lesser of them says."""
    k = len(facts.features)
    if k < 2:
        return Markup("")
    both = shared(facts.pairs)
    first, second = np.triu_indices(k, 1)
    mean = (both[first, second] + both[second, first]) / 2
    order = np.argsort(-mean, kind="stable")[:MOST_ALIKE]
    rows = [
        [facts.features[i].name, facts.features[j].name, float(mean[at]),
         float(facts.pairs[j, i]), float(facts.pairs[i, j])]
        for at in order for i, j in [(first[at], second[at])]
    ]  # fmt: skip
    heads = ["feature", "and", "share", "left of the first", "left of the second"]
    note = paragraph("Left is what one of them still says once the other is known.", class_="soft")
    told = table("The pairs that share most, in nats", heads, rows, numeric=heads[2:],
                 sortable=True)  # fmt: skip
    return element("div", told, note)


def _numbers(names: list[str], pairs: NDArray[np.float64]) -> Markup:
    if len(names) > MOST_NUMBERS:
        return paragraph(f"The numbers of all pairs are in the map alone: with more than "
                         f"{MOST_NUMBERS} features they are too many for a table.",
                         class_="soft")  # fmt: skip
    heads = ["known", *(str(i) for i in range(1, len(names) + 1))]
    rows = [[f"{i}. {name}", *row] for i, (name, row) in
            enumerate(zip(names, pairs.tolist(), strict=True), 1)]  # fmt: skip
    told = table("What the feature of that rank adds, in nats", heads, rows, numeric=heads[1:])
    return folded("All pairs as numbers", told)
