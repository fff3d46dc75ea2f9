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
from bestk.report.columns import Column, count_distinct
from bestk.report.records import NAN, format_number, format_score, format_text, join_some
from bestk.report.scores import FoldScores

MAX_MAPPED = 100  # features of the heat map
HEIGHT = 260  # pixels of the chart of scores
MIN_SPREAD = 0.4  # of the height, for the curves when guessing is drawn with them
PACKAGES = ("bestk", "numpy", "scipy", "scikit-learn")
TICK_DISTANCE = 9  # percent of the width
# the colour map, from dark blue over green to bright yellow, of rising brightness
COLOURS = (
    (38, 20, 84), (52, 62, 140), (38, 116, 142), (36, 162, 118), (130, 204, 64), (250, 232, 60),
)  # fmt: skip


def render(facts: dict[str, Any]) -> str:
    """The page, with its style, scripts and data, and a policy that allows nothing else."""
    pages, solution, table = _templates(), facts["solution"], facts["measured"].dataset.table
    pairs = np.asarray(solution.details["pairs"], np.float64)[:MAX_MAPPED, :MAX_MAPPED]
    names = facts["names"][:MAX_MAPPED]
    labels = shorten(names, solution.support[:MAX_MAPPED].tolist())
    data = {"names": names, "labels": labels, "pairs": as_json(pairs), "colours": COLOURS}
    for name in ("relevance", "new_information"):
        data[name] = as_json(solution.details[name][:MAX_MAPPED])
    files = ("style.css", "page.js", "heatmap.js")
    assert pages.loader is not None
    style, *scripts = (pages.loader.get_source(pages, name)[0] for name in files)
    script = "".join(scripts)
    return pages.get_template("page.html").render(
        facts, k=solution.k, table=table, missing=table.count_missing(), pairs=pairs, data=data,
        relevance=facts["measured"].relevance(),
        scale=bin_scale(facts["columns"], is_rate=bool(facts["goal"].names)),
        versions={"Python": platform.python_version()} | {name: version(name) for name in PACKAGES},
        style=Markup(style), script=Markup(script),
        hashes={"style": _hash(style), "script": _hash(script)},
    )  # fmt: skip


@cache
def _templates() -> Environment:
    pages = Environment(
        loader=PackageLoader("bestk.report"), extensions=["jinja2.ext.do"], autoescape=True,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    pages.globals |= {
        "nan": NAN, "height": HEIGHT, "ScoreAxes": ScoreAxes, "most_redundant": most_redundant,
        "method_title": method_title, "percent_of": percent_of, "count_distinct": count_distinct,
    }  # fmt: skip
    pages.filters |= {"number": format_number, "score": format_score, "text": format_text}
    pages.filters["join_some"] = join_some
    return pages


def method_title(method: str) -> str:
    """The name of a method in words; empty for a method that is not in METHODS."""
    return describe_method(method).partition(":")[0] if method in METHODS else ""


def bin_scale(columns: list[Column], *, is_rate: bool) -> tuple[float, float] | None:
    """The range of the drawings of bins; None if they show classes."""
    values = [b.value for column in columns for b in column.bins if isfinite(b.value)]
    low = 0.0 if is_rate else min(values, default=0.0)
    return (low, max(values)) if values and max(values) > low else None


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"


class ScoreAxes:
    """Positions of numbers of features, in percent, and of scores, in pixels from the top."""

    def __init__(self, scores: FoldScores) -> None:
        self.ks, self.k, measure = scores.ks, scores.k, scores.measure
        self.points = [(k, mean) for k in self.ks if isfinite(mean := scores.mean(k))]
        self.band = [
            (k, *np.clip([mean - spread, mean + spread], *measure.limits).tolist())
            for k, mean in self.points
            if isfinite(spread := scores.spread(k))
        ]
        lines = [("guessing", measure.guess)]
        if scores.all_features is not None:
            lines.append((f"all {scores.n_all:,} features", float(scores.all_features.mean())))
        drawn = [mean for _, mean in self.points] + [end for _, *ends in self.band for end in ends]
        drawn += [level for _, level in lines[1:]]
        low, high = min(drawn, default=0.0), max(drawn, default=0.0)
        ends = min(low, measure.guess), max(high, measure.guess)  # NaN is neither
        if high == low or high - low >= MIN_SPREAD * (ends[1] - ends[0]):
            low, high = ends
        if 0 <= low <= 0.6 * high and not measure.rising:
            low = 0.0
        self.levels = round_levels(low, high)
        self.low, self.high = self.levels[0], max(high, self.levels[-1])
        self.lines = [(name, level) for name, level in lines if self.low <= level <= self.high]

    def x(self, size: int) -> float:
        """Percent of the width."""
        span = log2(self.ks[-1] / self.ks[0])
        return round(100 * log2(size / self.ks[0]) / span, 2) if span else 50.0

    def y(self, score: float) -> float:
        """Pixels from the top; scores outside are drawn at the edge."""
        inside = min(max(score, self.low), self.high)
        return round(HEIGHT * (self.high - inside) / (self.high - self.low), 2)

    def ticks(self) -> list[int]:
        """Numbers of features with enough distance between them, k included."""
        kept = [self.k]
        for size in (self.ks[0], self.ks[-1], *self.ks):
            if all(abs(self.x(size) - self.x(other)) >= TICK_DISTANCE for other in kept):
                kept.append(size)
        return sorted(kept)


def round_levels(low: float, high: float) -> list[float]:
    """Round numbers from one at or below ``low`` up to ``high``."""
    span = (high - low) or abs(high) or 1.0
    size = 10.0 ** floor(log10(span / 2))
    step = next(m * size for m in (5, 2, 1) if m * size <= span / 2)
    first, last = (floor(value / step + 1e-9) for value in (low, high))
    return [round(i * step, 12) for i in range(first, max(first + 1, last) + 1)]


def most_redundant(pairs: Floats, most: int) -> list[tuple[int, int, float]]:
    """Pairs of features that share most information, with the mean of both directions."""
    shared = np.diag(pairs) - pairs  # I(x_j; y) - I(x_j; y | x_i) at [i, j]
    first, second = np.triu_indices(len(pairs), 1)
    mean = (shared[first, second] + shared[second, first]) / 2
    order = np.argsort(-mean, kind="stable")[:most]
    return [(int(first[at]), int(second[at]), float(mean[at])) for at in order]


def as_json(values: Any) -> Any:
    """Numbers as lists of rounded values, None for those that are not finite."""
    known = np.asarray(values, np.float64)
    rounded = known.round(6).astype(object)
    rounded[~np.isfinite(known)] = None
    return rounded.tolist()
