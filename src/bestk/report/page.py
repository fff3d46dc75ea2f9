"""The HTML page of a report: the templates, and the numbers and texts that they show."""

import base64
import platform
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from math import floor, isfinite, log2, log10
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bestk._typing import Floats
from bestk.bqp.solution import percent_of
from bestk.methods.registry import METHODS, describe_method
from bestk.plots import shorten
from bestk.report.columns import ShownColumn, count_distinct
from bestk.report.records import NAN, format_number, format_score, format_text, join_some
from bestk.report.scores import FoldScores

# The heat map has at most so many features.
MAX_MAPPED = 100

# The height of the chart of scores, in pixels.
HEIGHT = 260

# The part of that height that the curves take at least, where guessing is drawn with them.
MIN_SPREAD = 0.4

# The axis of scores starts at 0 if the lowest one is at most this part of the highest.
MAX_PART_FROM_ZERO = 0.6

# The smallest distance between two numbers of features below the chart, in percent of its width.
TICK_DISTANCE = 9

# The packages whose versions the page shows.
PACKAGES = ("bestk", "numpy", "scipy", "scikit-learn")

# The colour map, from dark blue over green to bright yellow, of rising brightness.
COLOURS = (
    (38, 20, 84),
    (52, 62, 140),
    (38, 116, 142),
    (36, 162, 118),
    (130, 204, 64),
    (250, 232, 60),
)


def render(facts: dict[str, Any]) -> str:
    """The page, with its style, scripts and data, and a policy that allows nothing else.

    ``facts``: the values of the templates, by name; see ``collect_facts``.
    """
    templates = _templates()
    solution = facts["solution"]
    information = facts["measured"]
    table = information.dataset.table
    all_pairs = np.asarray(solution.details["pairs"], np.float64)
    pairs = all_pairs[:MAX_MAPPED, :MAX_MAPPED]
    names = facts["names"][:MAX_MAPPED]
    data = {
        "names": names,
        "labels": shorten(names, solution.support[:MAX_MAPPED].tolist()),
        "pairs": as_json(pairs),
        "colours": COLOURS,
        "relevance": as_json(solution.details["relevance"][:MAX_MAPPED]),
        "new_information": as_json(solution.details["new_information"][:MAX_MAPPED]),
    }
    style = _source(templates, "style.css")
    script = _source(templates, "page.js") + _source(templates, "heatmap.js")
    versions = {"Python": platform.python_version()}
    for package in PACKAGES:
        versions[package] = version(package)
    page = templates.get_template("page.html")
    return page.render(
        facts,
        k=solution.k,
        table=table,
        missing=table.count_missing(),
        pairs=pairs,
        data=data,
        relevance=information.relevance(),
        scale=bin_scale(facts["columns"], is_rate=bool(facts["goal"].names)),
        versions=versions,
        style=Markup(style),
        script=Markup(script),
        hashes={"style": _hash(style), "script": _hash(script)},
    )


def _source(templates: Environment, name: str) -> str:
    """The text of a file that stands beside the templates."""
    assert templates.loader is not None
    text, _, _ = templates.loader.get_source(templates, name)
    return text


@cache
def _templates() -> Environment:
    """The templates, and the functions that they call."""
    templates = Environment(
        loader=PackageLoader("bestk.report"),
        extensions=["jinja2.ext.do"],
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals |= {
        "nan": NAN,
        "height": HEIGHT,
        "ScoreAxes": ScoreAxes,
        "most_redundant": most_redundant,
        "method_title": method_title,
        "percent_of": percent_of,
        "count_distinct": count_distinct,
    }
    templates.filters |= {
        "number": format_number,
        "score": format_score,
        "text": format_text,
        "join_some": join_some,
    }
    return templates


def method_title(method: str) -> str:
    """The name of a method in words; empty for a method that is not in METHODS."""
    return describe_method(method).partition(":")[0] if method in METHODS else ""


def bin_scale(columns: list[ShownColumn], *, is_rate: bool) -> tuple[float, float] | None:
    """The range of the drawings of bins; None if they show classes.

    ``is_rate``: whether they show rates of a class, which start at 0, and not means.
    """
    values = [b.value for column in columns for b in column.bins if isfinite(b.value)]
    if not values:
        return None
    low = 0.0 if is_rate else min(values)
    high = max(values)
    return (low, high) if high > low else None


def _hash(text: str) -> str:
    """The hash of a script or a style, as the policy of the page names it."""
    digest = sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


class ScoreAxes:
    """Positions of numbers of features, in percent, and of scores, in pixels from the top.

    ``points`` are pairs of a number of features and its mean score, ``band`` triples of that
    number and the mean less and plus a standard error, ``lines`` names and levels across the
    chart, and ``levels`` the scores at which the axis is labelled.
    """

    def __init__(self, scores: FoldScores) -> None:
        self.ks = scores.ks
        self.k = scores.k
        means = [(k, scores.mean(k)) for k in self.ks]
        self.points = [(k, mean) for k, mean in means if isfinite(mean)]
        self.band: list[tuple[int, float, float]] = []
        for k, mean in self.points:
            standard_error = scores.spread(k)
            if isfinite(standard_error):
                ends = [mean - standard_error, mean + standard_error]
                low_end, high_end = np.clip(ends, *scores.measure.limits).tolist()
                self.band.append((k, low_end, high_end))
        lines = [("guessing", scores.measure.guess)]
        if scores.all_features is not None:
            lines.append((f"all {scores.n_all:,} features", float(scores.all_features.mean())))
        levels = [level for _, level in lines[1:]]
        low, high = self._range(scores, levels)
        self.levels = round_levels(low, high)
        self.low = self.levels[0]
        self.high = max(high, self.levels[-1])
        self.lines = [(name, level) for name, level in lines if self.low <= level <= self.high]

    def _range(self, scores: FoldScores, levels: list[float]) -> tuple[float, float]:
        """The lowest and the highest score that is drawn.

        ``levels``: those of lines that are always drawn. That of guessing is drawn if the curves
        take enough of the height nevertheless.
        """
        drawn = [mean for _, mean in self.points]
        for _, low_end, high_end in self.band:
            drawn += [low_end, high_end]
        drawn += levels
        low = min(drawn, default=0.0)
        high = max(drawn, default=0.0)
        # With a guess that is NaN, these are the same.
        low_with_guess = min(low, scores.measure.guess)
        high_with_guess = max(high, scores.measure.guess)
        if high == low or high - low >= MIN_SPREAD * (high_with_guess - low_with_guess):
            low = low_with_guess
            high = high_with_guess
        if 0 <= low <= MAX_PART_FROM_ZERO * high and not scores.measure.rising:
            low = 0.0
        return low, high

    def x(self, size: int) -> float:
        """Percent of the width."""
        span = log2(self.ks[-1] / self.ks[0])
        if not span:
            return 50.0
        return round(100 * log2(size / self.ks[0]) / span, 2)

    def y(self, score: float) -> float:
        """Pixels from the top; scores outside are drawn at the edge."""
        inside = min(max(score, self.low), self.high)
        span = self.high - self.low
        return round(HEIGHT * (self.high - inside) / span, 2)

    def ticks(self) -> list[int]:
        """Numbers of features with enough distance between them, k included."""
        kept = [self.k]
        for size in (self.ks[0], self.ks[-1], *self.ks):
            distances = [abs(self.x(size) - self.x(other)) for other in kept]
            if min(distances) >= TICK_DISTANCE:
                kept.append(size)
        return sorted(kept)


def round_levels(low: float, high: float) -> list[float]:
    """Round numbers from one at or below ``low`` up to ``high``."""
    span = (high - low) or abs(high) or 1.0
    size = 10.0 ** floor(log10(span / 2))
    steps = [5 * size, 2 * size, size]
    step = next(step for step in steps if step <= span / 2)
    first = floor(low / step + 1e-9)
    last = max(first + 1, floor(high / step + 1e-9))
    return [round(i * step, 12) for i in range(first, last + 1)]


def most_redundant(pairs: Floats, n_pairs: int) -> list[tuple[int, int, float]]:
    """Pairs of features that share most information, with the mean of both directions.

    ``pairs`` is I(x_j; y | x_i) at [i, j], and I(x_j; y) on the diagonal.
    """
    shared = np.diag(pairs) - pairs
    first, second = np.triu_indices(len(pairs), 1)
    mean = (shared[first, second] + shared[second, first]) / 2
    order = np.argsort(-mean, kind="stable")[:n_pairs]
    columns = (first[order], second[order], mean[order])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def as_json(values: Any) -> Any:
    """Numbers as lists of rounded values, None for those that are not finite."""
    numbers = np.asarray(values, np.float64)
    rounded = numbers.round(6).astype(object)
    rounded[~np.isfinite(numbers)] = None
    return rounded.tolist()
