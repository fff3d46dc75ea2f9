"""The HTML page of a report: the templates, and the numbers and texts that they show."""

import base64
from hashlib import sha256
from math import floor, isfinite, log2, log10
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bestk._typing import Floats
from bestk.plots import shorten
from bestk.problem.solution import percent_of
from bestk.report.records import NAN, Facts, TableFacts, format_number, format_score, join_some
from bestk.report.scores import FoldScores
from bestk.selection.methods import METHODS, describe_method

MAX_MAPPED = 100  # features of the heat map
HEIGHT = 260  # pixels of the chart of scores
MIN_SPREAD = 0.4  # of the height, for the curves when guessing is drawn with them
TICK_DISTANCE = 9  # percent of the width
# the colour map, from dark blue over green to bright yellow, of rising brightness
COLOURS = (
    (38, 20, 84), (52, 62, 140), (38, 116, 142), (36, 162, 118), (130, 204, 64), (250, 232, 60),
)  # fmt: skip


def render(facts: Facts) -> str:
    """The page, with its style, scripts and data, and a policy that allows nothing else."""
    loader = PackageLoader("bestk.report")
    pages = Environment(loader=loader, autoescape=True, undefined=StrictUndefined,
                        trim_blocks=True, lstrip_blocks=True,
                        extensions=["jinja2.ext.do"])  # fmt: skip
    pages.filters |= {"number": format_number, "score": format_score, "join_some": join_some}
    pairs = np.asarray(facts.solution.details["pairs"], np.float64)[:MAX_MAPPED, :MAX_MAPPED]
    files = ("style.css", "page.js", "heatmap.js")
    style, *scripts = (loader.get_source(pages, name)[0] for name in files)
    script = "".join(scripts)
    return pages.get_template("page.html").render(
        facts=facts, scores=facts.scores, k=len(facts.features), scale=bin_scale(facts.table),
        pairs=pairs, data=_map_data(facts, pairs), nan=NAN, height=HEIGHT, ScoreAxes=ScoreAxes,
        most_redundant=most_redundant, method_title=method_title, percent_of=percent_of,
        style=Markup(style), script=Markup(script),
        hashes={"style": _hash(style), "script": _hash(script)},
    )  # fmt: skip


def _map_data(facts: Facts, pairs: Floats) -> dict[str, object]:
    """The data of the script that draws the heat map."""
    drawn = facts.features[:MAX_MAPPED]
    numbers = ("relevance", "new_information")
    return {
        "names": [f.name for f in drawn],
        "labels": shorten([f.name for f in drawn], [f.place for f in drawn]),
        **{name: as_json([getattr(f, name) for f in drawn]) for name in numbers},
        "pairs": as_json(pairs),
        "similar": similar_order(shared_information(pairs)),
        "colours": COLOURS,
    }


def method_title(method: str) -> str:
    """The name of a method in words; empty for a method that is not in METHODS."""
    return describe_method(method).partition(":")[0] if method in METHODS else ""


def bin_scale(table: TableFacts | None) -> tuple[float, float] | None:
    """The range of the drawings of bins; None if they show classes."""
    columns = () if table is None else table.columns
    values = [b.value for column in columns for b in column.bins if isfinite(b.value)]
    low = min(values, default=0.0) if table is not None and not table.groups else 0.0
    return (low, max(values)) if values and max(values) > low else None


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"


class ScoreAxes:
    """Positions of numbers of features, in percent, and of scores, in pixels from the top."""

    def __init__(self, scores: FoldScores) -> None:
        self.ks, self.k, measure = scores.ks, scores.k, scores.measure
        means = {method: [(k, scores.mean(method, k)) for k in self.ks] for method in scores.folds}
        self.curves = {m: [(k, v) for k, v in each if isfinite(v)] for m, each in means.items()}
        values = [value for each in self.curves.values() for _, value in each] or [0.0]
        spreads = [(k, mean, scores.spread(k)) for k, mean in self.curves[scores.ours]]
        least, most = measure.limits
        band = [(k, max(mean - s, least), min(mean + s, most))
                for k, mean, s in spreads if isfinite(s)]  # fmt: skip
        values += [end for _, *ends in band for end in ends]
        if scores.all_features is not None:
            values.append(float(scores.all_features.mean()))
        low, high = min(values), max(values)
        ends = min(low, measure.guess), max(high, measure.guess)  # NaN is neither
        if high == low or high - low >= MIN_SPREAD * (ends[1] - ends[0]):
            low, high = ends
        if 0 <= low <= 0.6 * high and not measure.rising:
            low = 0.0
        self.levels = round_levels(low, high)
        self.low, self.high = self.levels[0], max(high, self.levels[-1])
        self.band = [(self.x(k), *ends) for k, *ends in band]
        named = [("guessing", measure.guess)]
        if scores.all_features is not None:
            named.append((f"all {scores.n_all:,} features", values[-1]))
        self.lines = [(name, level) for name, level in named if self.low <= level <= self.high]

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


def shared_information(pairs: Floats) -> Floats:
    """``I(x_j; y) - I(x_j; y | x_i)`` at ``[i, j]``, and the relevance on the diagonal."""
    both = np.diag(pairs)[None, :] - pairs
    np.fill_diagonal(both, np.diag(pairs))
    return both


def similar_order(shared: Floats) -> list[int]:
    """An order of features in which those that share much information are neighbours."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(shared) < 3:
        return list(range(len(shared)))
    both = np.nan_to_num((shared + shared.T) / 2)
    distance = both.max() - both
    np.fill_diagonal(distance, 0.0)
    order: list[int] = leaves_list(linkage(squareform(distance, checks=False), "average")).tolist()
    return order


def most_redundant(pairs: Floats, most: int) -> list[tuple[int, int, float]]:
    """Pairs of features that share most information, with the mean of both directions."""
    both = shared_information(pairs)
    first, second = np.triu_indices(len(pairs), 1)
    mean = (both[first, second] + both[second, first]) / 2
    order = np.argsort(-mean, kind="stable")[:most]
    return [(int(first[at]), int(second[at]), float(mean[at])) for at in order]


def as_json(values: Any) -> Any:
    """Numbers as lists of rounded values, None for those that are not finite."""
    known = np.asarray(values, np.float64)
    rounded = known.round(6).astype(object)
    rounded[~np.isfinite(known)] = None
    return rounded.tolist()
