"""The HTML page of a report: the templates, and the numbers and texts that they show."""

import base64
from collections.abc import Sequence
from hashlib import sha256
from math import floor, isfinite, log2, log10, sqrt
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bestk._typing import Floats
from bestk.plots.labels import shorten
from bestk.problem.solution import ROUNDING, percent_of
from bestk.report.records import (
    NAN,
    Errors,
    Facts,
    Feature,
    format_error,
    format_number,
    format_text,
    join_some,
)
from bestk.selection.method_notes import method_title

MAX_MAPPED = 400  # features of the heat map
HEIGHT = 260  # pixels of the error chart
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
    pages.filters |= {
        "number": format_number,
        "error": format_error,
        "join_some": join_some,
        "text": format_text,
    }
    pages.globals |= {
        "nan": NAN,
        "height": HEIGHT,
        "ErrorAxes": ErrorAxes,
        "most_redundant": most_redundant,
        "method_title": method_title,
    }
    style, *scripts = (
        loader.get_source(pages, name)[0] for name in ("style.css", "page.js", "heatmap.js")
    )
    script = "".join(scripts)
    labels = shorten([f.name for f in facts.features], [f.place for f in facts.features])
    pairs = np.asarray(facts.solution.details["pairs"], np.float64)[:MAX_MAPPED, :MAX_MAPPED]
    return pages.get_template("page.html").render(
        facts=facts,
        k=len(facts.features),
        errors=facts.comparison.errors if facts.comparison else None,
        labels=labels,
        pairs=pairs,
        gap=_format_gap(facts),
        data={"labels": labels[:MAX_MAPPED], **_map_data(facts.features[:MAX_MAPPED], pairs)},
        style=Markup(style),
        script=Markup(script),
        hashes={"style": _hash(style), "script": _hash(script)},
    )


def _map_data(drawn: Sequence[Feature], pairs: Floats) -> dict[str, object]:
    """The data of the script that draws the heat map."""
    return {
        "names": [f.name for f in drawn],
        "relevance": as_json([f.relevance for f in drawn]),
        "contribution": as_json([f.contribution for f in drawn]),
        "new_information": as_json([f.new_information for f in drawn]),
        "pairs": as_json(pairs),
        "similar": similar_order(shared_information(pairs)),
        "colours": COLOURS,
    }


def _format_gap(facts: Facts) -> str:
    gap = facts.solution.gap
    if not np.isfinite(facts.solution.upper_bound):
        return "no bound"
    return "0 (proved optimal)" if gap <= ROUNDING else percent_of(gap)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"


class ErrorAxes:
    """Positions of numbers of features, in percent, and of errors, in pixels from the top."""

    def __init__(self, errors: Errors) -> None:
        self.ks = errors.ks
        values = [v for curve in errors.curves for v in curve.means if isfinite(v)] or [0.0]
        low, high = min(values), max(values)
        flat = high > 0 and high - low < MIN_SPREAD * (errors.guess - low)
        if errors.guess > high and not flat:
            high = errors.guess
        if 0 <= low <= 0.6 * high:
            low = 0.0
        self.levels = round_levels(low, high)
        self.low, self.high = self.levels[0], max(high, self.levels[-1])
        first, root = errors.curves[0], sqrt(errors.folds)
        spreads = [(k, mean, first.at(k)[1] / root) for k, mean in first.known()]
        self.band = [(self.x(k), mean - s, mean + s) for k, mean, s in spreads if isfinite(s)]

    def x(self, size: int) -> float:
        """Percent of the width."""
        span = log2(self.ks[-1] / self.ks[0])
        return round(100 * log2(size / self.ks[0]) / span, 2) if span else 50.0

    def y(self, error: float) -> float:
        """Pixels from the top; errors outside are drawn at the edge."""
        inside = min(max(error, self.low), self.high)
        return round(HEIGHT * (self.high - inside) / (self.high - self.low), 2)

    def ticks(self, k: int) -> list[int]:
        """Numbers of features with enough distance between them, k included."""
        kept = [k]
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
