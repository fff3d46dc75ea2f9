"""Features as bars, classes as strips: shapes that stretch, beside text that does not."""

from collections.abc import Sequence

from bestk.plots.names import shorten
from bestk.report._facts import Feature
from bestk.report._html import Markup, element, name_of
from bestk.report._text import number

MOST_BARS = 40
THICK = 14  # pixels


def draw_features(features: Sequence[Feature]) -> Markup:
    """A bar for each feature: what it says alone, of which the darker part is new."""
    drawn = features[:MOST_BARS]
    most = max(max(each.relevance, each.new_information) for each in drawn)
    scale = 100 / most if most > 0 else 0.0
    labels = shorten([each.name for each in drawn], [each.place for each in drawn])
    bars = (_feature(*each, scale) for each in zip(labels, drawn, strict=True))
    return element("ol", *bars, class_="bars")


def _feature(label: str, feature: Feature, scale: float) -> Markup:
    relevance, new = (max(0.0, v) * scale for v in (feature.relevance, feature.new_information))
    parts = [_bar("light", 0, relevance), _bar("f0", 0, new)]
    if new > relevance:
        parts.append(element("line", class_="mark", x1=_at(relevance), x2=_at(relevance), y1=0,
                             y2=THICK))  # fmt: skip
    hint = (
        f"{feature.name}: relevance {number(feature.relevance)}, "
        f"new information {number(feature.new_information)}, "
        f"contribution {number(feature.contribution)} nats"
    )
    drawn = element("svg", *parts, class_="fluid", height=THICK, aria_hidden="true")
    value = element("span", number(feature.relevance, 3), class_="value")
    return element("li", name_of(label), drawn, value, title=hint)


def _bar(kind: str, start: float, width: float) -> Markup:
    return element("rect", class_=kind, x=_at(start), y=0, width=_at(width), height=THICK)


def _at(place: float) -> str:
    return f"{place:.2f}%"


def key(style: str, text: str, *, line: bool = False) -> Markup:
    """An entry of a legend."""
    shape = (
        element("line", class_=style, x1=0, x2=32, y1=6, y2=6)
        if line
        else element("rect", class_=style, width=32, height=12)
    )
    drawn = element("svg", shape, class_="key", viewBox="0 0 32 12", aria_hidden="true")
    return element("li", drawn, name_of(text))


def swatch(place: int) -> Markup:
    """The colour of a class."""
    shape = element("rect", class_=f"f{place % 8}", width=10, height=10)
    return element("svg", shape, class_="swatch", viewBox="0 0 10 10", aria_hidden="true")


def strip(counts: Sequence[int], most: int) -> Markup:
    """The classes of a bin side by side, as long as it has rows beside the bin of the most."""
    total, start, parts = max(most, 1), 0.0, []
    for place, count in enumerate(counts):
        if count:
            parts.append(_bar(f"f{place % 8}", start, 100 * count / total))
            start += 100 * count / total
    return element("svg", *parts, class_="fluid strip", height=THICK, aria_hidden="true")


def share_bar(found: float, bound: float) -> Markup:
    """How much of what is possible at most was found."""
    share = 100 * min(1.0, found / bound)
    parts = [_bar("light", 0, 100), _bar("f0", 0, share)]
    return element("svg", *parts, class_="fluid", height=THICK, aria_hidden="true")
