"""Drawings of features and of errors, in SVG that takes its colours from the page."""

from collections.abc import Callable, Sequence
from math import floor, log2, log10

from bestk.report._comparison import Errors
from bestk.report._gather import Feature
from bestk.report._html import Markup, element, join
from bestk.report._text import number, shown

WIDTH, NAMES, ROW = 480, 170, 26  # units: of a drawing, of the names in it, of a feature
LABEL = 22  # characters of a name
MOST_BARS = 60
HEIGHT, LEFT, RIGHT, BELOW, ABOVE = 280, 62, 16, 44, 16
LINES = 4  # styles of a line


def draw_features(features: Sequence[Feature]) -> Markup:
    """Two bars for each feature, relevance and contribution, and a stroke: what it adds."""
    drawn = features[:MOST_BARS]
    values = [v for f in drawn for v in (f.relevance, f.contribution, f.adds)]
    most, least = max([*values, 1e-12]), min([*values, 0.0])
    scale = (WIDTH - NAMES - 60) / (most - least)
    zero = NAMES - least * scale
    parts = [_feature_bars(i, f, zero, scale) for i, f in enumerate(drawn)]
    height = ROW * len(drawn) + 6
    axis = element("line", class_="axis", x1=zero, x2=zero, y1=0, y2=height)
    title = element("title", "What each selected feature says about the target, in nats")
    first = f"{drawn[0].name} comes first, with a relevance of {number(drawn[0].relevance)} nats."
    told = element("desc", f"{first} The table has all numbers.")
    return element("svg", title, told, axis, *parts, role="img", viewBox=f"0 0 {WIDTH} {height}",
                   width=WIDTH, height=height)  # fmt: skip


def _feature_bars(i: int, feature: Feature, zero: float, scale: float) -> Markup:
    top = ROW * i + 4
    hint = (
        f"{feature.name}: relevance {number(feature.relevance)}, contribution "
        f"{number(feature.contribution)}, adds {number(feature.adds)} nats"
    )
    at = round(zero + feature.adds * scale, 2)
    end = zero + max(feature.relevance, feature.contribution, feature.adds, 0.0) * scale
    return element(
        "g",
        element("title", hint),
        element("text", f"{i + 1}. {shown(feature.name, LABEL)}", x=NAMES - 8, y=top + 14,
                text_anchor="end"),
        _bar("light", zero, feature.relevance * scale, top),
        _bar("f0", zero, feature.contribution * scale, top + 9),
        element("line", class_="mark", x1=at, x2=at, y1=top - 1, y2=top + 19),
        element("text", number(feature.relevance, 3), class_="soft", x=round(end + 6, 2),
                y=top + 14),
    )  # fmt: skip


def _bar(kind: str, zero: float, length: float, top: float) -> Markup:
    start = zero + min(0.0, length)
    return element("rect", class_=kind, x=round(start, 2), y=top, width=round(abs(length), 2),
                   height=9)  # fmt: skip


def draw_errors(errors: Errors, k: int) -> Markup:
    """A line for each method, the error against the number of features, and the chosen number."""
    most = max(max(means) for means in errors.means.values()) or 1.0
    first, last = errors.ks[0], errors.ks[-1]
    span = max(log2(last / first), 1e-9)

    def x(size: int) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * log2(size / first) / span, 2)

    def y(error: float) -> float:
        return round(HEIGHT - BELOW - (HEIGHT - BELOW - ABOVE) * error / (1.05 * most), 2)

    grid = [_level(y(error), error) for error in levels(1.05 * most)]
    ticks = [
        element("text", size, x=x(size), y=HEIGHT - BELOW + 18, text_anchor="middle")
        for size in _apart(errors.ks, x)
    ]
    chosen = element("line", class_="chosen", x1=x(k), x2=x(k), y1=ABOVE, y2=HEIGHT - BELOW)
    lines = [
        _line(place, name, [(x(s), y(e)) for s, e in zip(errors.ks, means, strict=True)])
        for place, (name, means) in enumerate(errors.means.items())
    ]
    label = element("text", "number of features", x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 6,
                    text_anchor="middle", class_="soft")  # fmt: skip
    title = element("title", f"Cross-validated error against the number of features, {k} chosen")
    told = element("desc", _describe(errors, k))
    return element("svg", title, told, *grid, *ticks, label, chosen, *lines, role="img",
                   viewBox=f"0 0 {WIDTH} {HEIGHT}", width=WIDTH, height=HEIGHT)  # fmt: skip


def _apart(ks: Sequence[int], x: Callable[[int], float]) -> list[int]:
    """The numbers that can stand beside each other on the axis."""
    kept: list[int] = []
    for size in ks:
        if not kept or x(size) - x(kept[-1]) >= 22:
            kept.append(size)
    return kept


def levels(most: float) -> list[float]:
    """Round numbers from 0 up to what is at most there.

    Examples
    --------
    >>> levels(0.103), levels(7)
    ([0.0, 0.05, 0.1], [0.0, 2.0, 4.0, 6.0])
    """
    size = 10.0 ** floor(log10(most / 2))
    step = next(m * size for m in (5, 2, 1) if m * size <= most / 2)
    return [round(i * step, 12) for i in range(int(most / step) + 1)]


def _level(at: float, error: float) -> Markup:
    line = element("line", class_="axis", x1=LEFT, x2=WIDTH - RIGHT, y1=at, y2=at)
    return join([line, element("text", f"{error:.3g}", x=LEFT - 8, y=at + 4, text_anchor="end")])


def _line(place: int, name: str, points: list[tuple[float, float]]) -> Markup:
    style = place % LINES
    path = " ".join(f"{x},{y}" for x, y in points)
    dots = [element("circle", class_=f"f{style}", cx=x, cy=y, r=3.5) for x, y in points]
    line = element("polyline", class_=f"s{style}", points=path)
    return element("g", element("title", name), line, *dots)


def _describe(errors: Errors, k: int) -> str:
    at = errors.ks.index(k)
    each = ", ".join(f"{name} {number(means[at])}" for name, means in errors.means.items())
    return f"With {k} features: {each}. The table has all numbers."


def key(style: str, text: str, *, line: bool = False) -> Markup:
    """An entry of a legend."""
    shape = (
        element("line", class_=style, x1=0, x2=32, y1=6, y2=6)
        if line
        else element("rect", class_=style, width=32, height=12)
    )
    drawn = element("svg", shape, class_="key", viewBox="0 0 32 12", aria_hidden="true")
    return element("li", drawn, text)


def strip(counts: Sequence[int]) -> Markup:
    """The shares of classes, side by side."""
    total, start, parts = sum(counts) or 1, 0.0, []
    for place, count in enumerate(counts):
        width = round(100 * count / total, 2)
        parts.append(element("rect", class_=f"f{place % 8}", x=round(start, 2), y=0, width=width,
                             height=8))  # fmt: skip
        start += 100 * count / total
    return element("svg", *parts, class_="strip", viewBox="0 0 100 8", preserveAspectRatio="none",
                   aria_hidden="true")  # fmt: skip
