"""The HTML page of a report, from the templates."""

import base64
from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bestk._typing import Floats
from bestk.plots.labels import shorten
from bestk.problem.solution import ROUNDING, percent_of
from bestk.report import charts
from bestk.report.records import NAN, Facts, Feature
from bestk.report.text import format_error, format_number, format_text, join_some
from bestk.selection.method_notes import method_title

MAX_MAPPED = 400  # features of the heat map


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
    pages.globals |= {"nan": NAN, "charts": charts, "method_title": method_title}
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
        "relevance": charts.as_json([f.relevance for f in drawn]),
        "contribution": charts.as_json([f.contribution for f in drawn]),
        "new_information": charts.as_json([f.new_information for f in drawn]),
        "pairs": charts.as_json(pairs),
        "similar": charts.similar_order(charts.shared_information(pairs)),
        "colours": charts.COLOURS,
    }


def _format_gap(facts: Facts) -> str:
    gap = facts.solution.gap
    if not np.isfinite(facts.solution.upper_bound):
        return "no bound"
    return "0 (proved optimal)" if gap <= ROUNDING else percent_of(gap)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
