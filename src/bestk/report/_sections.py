"""What was selected, how its features go together, and how good it provably is."""

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from bestk.report._charts import MOST_BARS, draw_features, key
from bestk.report._gather import Facts, Feature
from bestk.report._heatmap import draw_map, draw_ramp, limits
from bestk.report._html import Markup, element, join, name_of
from bestk.report._parts import paragraph, section, table, tiles
from bestk.report._text import NONE, number, percent

MOST_ROWS = 2000  # of a table
MOST_CELLS = 400  # features of the heat map
MOST_NUMBERS = 25  # features whose pairs are written as numbers, too
BUTTONS = (("zoom-in", "Zoom in"), ("zoom-out", "Zoom out"), ("zoom-all", "Show all"))
NATS = (
    "All information is in nats; 1 nat is 1.44 bits. Estimates that are corrected for chance can "
    "be below 0."
)


def title_of(facts: Facts) -> str:
    """What the report is about."""
    total = f" of {facts.reading.n_features}" if facts.reading else ""
    k = len(facts.features)
    plural = "feature that tells" if k == 1 else "features that tell"
    return f"{k}{total} {plural} of {facts.target}"


def summary(facts: Facts) -> Markup:
    """The heading, what to know at a glance, and the way to the rest."""
    sure = facts.certificate
    told = [("selected", number(len(facts.features)))]
    if facts.reading:
        told += [("columns", number(facts.reading.n_features)),
                 ("rows", number(facts.reading.n_samples))]  # fmt: skip
    told.append(("method", facts.method or sure.solver))
    told.append(("proved gap", _gap(facts)))
    if facts.comparison and (errors := facts.comparison.errors):
        error = next(iter(errors.means.values()))[errors.ks.index(len(facts.features))]
        told.append((errors.measure, number(error)))
    date = paragraph(f"Made on {facts.date}.", class_="soft") if facts.date else ""
    toggle = element("button", "Dark colours", id="theme", type="button", class_="theme js-only")
    return join([toggle, element("h1", name_of(title_of(facts))), date, tiles(told)])


def _gap(facts: Facts) -> str:
    sure = facts.certificate
    if not isfinite(sure.upper_bound):
        return "no bound"
    return "0 (optimal)" if sure.gap == 0 else percent(sure.gap)


def warnings_section(facts: Facts) -> Markup:
    """What to look at before trusting the selection."""
    assert facts.cautions is not None
    if not facts.cautions:
        looked = (
            "Nothing to warn of: no column nearly determines the target, none looks like an "
            "identifier or repeats another, and no class has few rows."
        )
        return section("warnings", "Warnings", paragraph(looked))
    boxes = (
        element("li", element("strong", f"{caution.kind.capitalize()}: "), f"{caution.text} ",
                caution.advice, class_="caution")
        for caution in facts.cautions
    )  # fmt: skip
    return section("warnings", "Warnings", element("ul", *boxes, class_="cautions"))


def selected_section(facts: Facts) -> Markup:
    """The features, what each says alone, with the others and beyond them."""
    explained = paragraph(
        element("strong", "Relevance"), " is what a feature says about the target alone. ",
        element("strong", "Contribution"), " is what it says on average once one of the selected "
        "is known. ",
        element("strong", "Adds"), " is what is left beyond the one selected feature that leaves "
        "it the least; that one is named, with what the two share. ", NATS,
    )  # fmt: skip
    keys = element("ul", key("light", "relevance"), key("f0", "contribution"),
                   key("mark", "adds (stroke)", line=True), class_="keys")  # fmt: skip
    cut = len(facts.features) > MOST_BARS
    caption = f"The best {MOST_BARS} are drawn." if cut else "The selected features, best first."
    drawn = element("figure", keys, draw_features(facts.features),
                    element("figcaption", caption))  # fmt: skip
    heads = ["rank", "feature", "relevance", "contribution", "adds", "shared", "shared with"]
    rows = [[i, f.name, f.relevance, f.contribution, f.adds, _shared(f), f.nearest or NONE]
            for i, f in enumerate(facts.features[:MOST_ROWS], 1)]  # fmt: skip
    told = table("Selected features, in nats", heads, rows, numeric=[heads[0], *heads[2:6]],
                 sortable=True, named=1)  # fmt: skip
    return section("selected", "What was selected, and why", explained, drawn, told,
                   _left_out(facts))  # fmt: skip


def _shared(feature: Feature) -> float:
    """What a feature says that its nearest one has said already."""
    return feature.relevance - feature.adds if feature.nearest else float("nan")


def _left_out(facts: Facts) -> Markup:
    """The features that came near, and what made them redundant."""
    if not facts.runners_up:
        return Markup("")
    heads = ["feature", "relevance", "would add", "beyond"]
    rows = [[f.name, f.relevance, f.adds, f.nearest] for f in facts.runners_up]
    told = table("Not selected, most relevant first, in nats", heads, rows, numeric=heads[1:3],
                 sortable=True)  # fmt: skip
    note = paragraph("What each would add is what it says beyond the selected feature that leaves "
                     "it the least.")  # fmt: skip
    return join([element("h3", "What was left out"), note, told])


def pairs_section(facts: Facts) -> Markup:
    """The heat map of all pairs, and the numbers behind it where they are few."""
    names, pairs = _mapped(facts)
    low, high = limits(pairs)
    cut = f" The best {MOST_CELLS} are shown." if len(names) < len(facts.features) else ""
    explained = paragraph(
        "A cell is what the feature of the column adds once the feature of the row is known; on "
        "the diagonal, what a feature says alone. Dark columns are redundant beside the row." + cut
    )
    buttons = [element("button", text, type="button", id=key) for key, text in BUTTONS]
    hint = element("span", "Point at a cell, or focus the map and use the arrow keys, + and -.",
                   class_="soft")  # fmt: skip
    frame = element("div", draw_map(names, pairs), id="map", class_="map", tabindex="0",
                    role="group", aria_label="Heat map of pairs; arrow keys move through it",
                    aria_describedby="readout")  # fmt: skip
    readout = element("div", paragraph("No cell is chosen yet."), id="readout",
                      class_="readout js-only", role="status")  # fmt: skip
    scale = paragraph(f"{number(low)} ", draw_ramp(), f" {number(high)} nats")
    tools = element("div", *buttons, hint, class_="tools js-only")
    return section("pairs", "The features in pairs", explained, tools, frame, readout, scale,
                   _numbers(names, pairs))  # fmt: skip


def _mapped(facts: Facts) -> tuple[list[str], NDArray[np.float64]]:
    """The features that are drawn, and their pairs."""
    names = [feature.name for feature in facts.features[:MOST_CELLS]]
    return names, facts.pairs[: len(names), : len(names)]


def map_data(facts: Facts) -> dict[str, object]:
    """What the script needs to know of each cell."""
    names, pairs = _mapped(facts)
    drawn = facts.features[: len(names)]
    return {
        "names": names,
        "relevance": [round(f.relevance, 6) for f in drawn],
        "contribution": [round(f.contribution, 6) for f in drawn],
        "adds": [round(f.adds, 6) for f in drawn],
        "pairs": np.round(pairs, 5).tolist(),
    }


def _numbers(names: list[str], pairs: NDArray[np.float64]) -> Markup:
    if len(names) > MOST_NUMBERS:
        return Markup("")
    heads = ["known", *(str(i) for i in range(1, len(names) + 1))]
    rows = [[f"{i}. {name}", *row] for i, (name, row) in
            enumerate(zip(names, pairs.tolist(), strict=True), 1)]  # fmt: skip
    told = table("What the feature of that rank adds, in nats", heads, rows, numeric=heads[1:])
    return element("details", element("summary", "The same as numbers"), told)


def certificate_section(facts: Facts) -> Markup:
    """How good the choice provably is, in words."""
    sure, k = facts.certificate, len(facts.features)
    told = [("value found", f"{sure.objective:.6g}")]
    if isfinite(sure.upper_bound):
        told += [("no choice exceeds", f"{sure.upper_bound:.6g}"), ("proved gap", _gap(facts))]
    told.append(("solver", sure.solver))
    return section("certificate", "How good the choice is", paragraph(verdict(facts, k)),
                   tiles(told))  # fmt: skip


def verdict(facts: Facts, k: int) -> str:
    """The certificate as a sentence or two."""
    sure = facts.certificate
    choices = f"no other choice of {k} feature{'s' * (k != 1)}"
    if not isfinite(sure.upper_bound):
        if sure.greedy:
            return ("The method adds one feature at a time and proves nothing: another choice may "
                    "be worth more. Methods that choose all at once carry a bound.")  # fmt: skip
        return "No bound was computed, so it is not known how much better another choice can be."
    if sure.upper_bound <= sure.objective:
        return (f"This is proved to be the best choice: {choices} from this table is worth more "
                "by the measure that the method maximises.")  # fmt: skip
    start = (
        f"The choice is worth {sure.objective:.6g} by the measure that the method maximises, and "
        f"it is proved that {choices} is worth more than {sure.upper_bound:.6g}."
    )
    if sure.objective <= 0 or sure.gap >= 1:
        return start + " The bound is loose here: a tight one costs more time."
    return (
        f"{start} So even a search of every combination could improve it by at most "
        f"{percent(sure.gap)}. This is a statement about the measure on these rows, not about the "
        "error on new ones."
    )
