"""What was selected, what to be warned of, and how good the choice provably is."""

from math import isfinite

from bestk.data.printable import printable
from bestk.problem.solution import ROUNDING, percent_of
from bestk.report._bars import MOST_BARS, draw_features, key, share_bar
from bestk.report._curves import WRONG
from bestk.report._facts import Errors, Facts, Feature
from bestk.report._html import Markup, element, join, name_of
from bestk.report._parts import paragraph, section, table, tiles
from bestk.report._text import NONE, number, rounded
from bestk.selection.method_notes import method_title

MOST_ROWS = 2000  # of a table
NATS = (
    "All information is in nats; 1 nat is 1.44 bits. Estimates that are corrected for chance can "
    "be below 0."
)
MEANINGS = (
    ("Relevance", "what a feature says about the target alone."),
    ("New information", "the smallest I(x; y | x') over the other selected features x'."),
    ("Shared", "the rest of the relevance, which that feature has, too."),
    ("Contribution", "its part of the objective, which is the sum of all contributions."),
)  # fmt: skip


def title_of(facts: Facts) -> str:
    """What the report is about."""
    total = f" of {facts.reading.n_features:,}" if facts.reading else ""
    k = len(facts.features)
    return f"{k:,}{total} feature{'s' * (k != 1)} selected for {printable(facts.target)}"


def summary(facts: Facts) -> Markup:
    """The heading, what to know at a glance, and the way to the rest."""
    toggle = element("button", "Dark colours", id="theme", type="button", class_="theme js-only")
    date = paragraph(f"Made on {facts.date}.", class_="soft") if facts.date else ""
    absent = paragraph(facts.absent, class_="aside") if facts.absent else ""
    heading = element("h1", name_of(title_of(facts)))
    return join([toggle, heading, date, paragraph(lead(facts), class_="lead"), absent,
                 tiles(_glance(facts))])  # fmt: skip


def _glance(facts: Facts) -> list[tuple[str, str]]:
    told = [("selected", number(len(facts.features)))]
    if facts.reading:
        told.append(("columns", number(facts.reading.n_features)))
        rows = facts.reading.n_samples
        told += [("rows", number(rows))] if rows is not None else []
    told.append(("method", facts.method or facts.certificate.solver))
    told.append(("optimality gap", _gap(facts)))
    if facts.comparison and (errors := facts.comparison.errors):
        mean, _ = errors.curves[0].at(len(facts.features))
        told.append((errors.measure, rounded(mean, share=errors.share)))
    if facts.cautions is not None:
        told.append(("warnings", number(sum(each.kind != "note" for each in facts.cautions))))
    return told


def lead(facts: Facts) -> str:
    """The report in three sentences."""
    k = len(facts.features)
    title = method_title(facts.method)
    way = f" by the method {facts.method}" + (f" ({title.lower()})" if title else "")
    one = "This feature was" if k == 1 else f"These {k:,} features were"
    told = [f"{one} selected{' together' * (k > 1)}{way * bool(facts.method)}."]
    if facts.comparison and (errors := facts.comparison.errors):
        told.append(_predicts(errors, k))
    return " ".join([*told, f"{facts.certificate.quality.capitalize()}."])


def _predicts(errors: Errors, k: int) -> str:
    """How well a model does on features that are selected in this way."""
    found, guess = (rounded(v, share=errors.share) for v in
                    (errors.curves[0].at(k)[0], errors.guess))  # fmt: skip
    start = f"With {k:,} feature{'s' * (k != 1)} selected in this way {errors.model}"
    known = isfinite(errors.guess)
    if errors.measure == WRONG:
        other = f"; guessing the most frequent class, in {guess}" if known else ""
        return f"{start} is wrong in {found} of unseen rows{other}."
    other = f"; guessing the mean, one of {guess}" if known else ""
    return f"{start} has a {errors.measure} of {found} on unseen rows{other}."


def _gap(facts: Facts) -> str:
    sure = facts.certificate
    if not isfinite(sure.upper_bound):
        return "no bound"
    return "0 (proved optimal)" if sure.gap <= ROUNDING else percent_of(sure.gap)


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
                caution.advice, class_=f"caution {caution.kind}")
        for caution in facts.cautions
    )  # fmt: skip
    return section("warnings", "Warnings", element("ul", *boxes, class_="cautions"))


def selected_section(facts: Facts) -> Markup:
    """The features, what each says alone, with the others and beyond them."""
    k = len(facts.features)
    keys = element("ul", key("f0", "new information"),
                   key("light", "shared with the selected feature most like it"),
                   class_="keys")  # fmt: skip
    cut = f" The best {MOST_BARS} of {k:,} are drawn." if k > MOST_BARS else ""
    caption = f"The whole bar is the relevance, in nats; the best feature first.{cut}"
    drawn = element("figure", keys if k > 1 else "", draw_features(facts.features),
                    element("figcaption", caption))  # fmt: skip
    meanings = element("dl", *(part for name, text in MEANINGS for part in
                               (element("dt", name), element("dd", text))),
                       class_="meanings")  # fmt: skip
    heads = ["rank", "feature", "relevance", "new information", "shared", "with",
             "contribution"]  # fmt: skip
    rows = [[i, f.name, f.relevance, f.new_information, _shared(f), f.nearest or NONE,
             f.contribution] for i, f in enumerate(facts.features[:MOST_ROWS], 1)]  # fmt: skip
    told = table("Selected features, in nats", heads, rows, sortable=True, named=1,
                 numeric=[head for head in heads if head not in ("feature", "with")])  # fmt: skip
    rest = paragraph(f"{k - MOST_ROWS:,} more are not listed.") if k > MOST_ROWS else ""
    return section("selected", "What was selected, and why", drawn, meanings,
                   paragraph(NATS + _idle(facts)), told, rest, _left_out(facts))  # fmt: skip


def _idle(facts: Facts) -> str:
    """How many features say nothing that one other has not said."""
    idle = sum(feature.new_information <= 0 for feature in facts.features)
    if not idle or len(facts.features) < 2:
        return ""
    one = "1 selected feature says" if idle == 1 else f"{idle:,} selected features say"
    return (
        f" {one} nothing beyond one of the others, taken in pairs; whether fewer would do is seen "
        "in the errors, not here."
    )


def _shared(feature: Feature) -> float:
    """What a feature says that its nearest one has said already."""
    return feature.relevance - feature.new_information if feature.nearest else float("nan")


def _left_out(facts: Facts) -> Markup:
    """The features that came near, and what made them redundant."""
    if not facts.runners_up:
        return Markup("")
    heads = ["feature", "relevance", "new information", "beside"]
    rows = [[f.name, f.relevance, f.new_information, f.nearest or NONE] for f in facts.runners_up]
    told = table("Not selected, most relevant first, in nats", heads, rows, numeric=heads[1:3],
                 sortable=True)  # fmt: skip
    rest = facts.reading.n_features - len(facts.features) if facts.reading else 0
    some = f" They are the {len(rows)} most relevant of {rest:,}." if rest > len(rows) else ""
    note = paragraph("New information is the smallest I(x; y | x') over the selected features "
                     f"x'.{some}")  # fmt: skip
    return join([element("h3", "What was left out"), note, told])


def certificate_section(facts: Facts) -> Markup:
    """How good the choice provably is, in words."""
    sure, k = facts.certificate, len(facts.features)
    told, drawn = [("objective", f"{sure.objective:.6g}")], Markup("")
    if isfinite(sure.upper_bound):
        told += [("upper bound", f"{sure.upper_bound:.6g}"), ("optimality gap", _gap(facts))]
    told.append(("solver", sure.solver))
    if isfinite(sure.upper_bound) and 0 < sure.objective <= sure.upper_bound:
        text = f"The filled part was found; the whole bar is what no choice of {k:,} can exceed."
        caption = element("figcaption", text)
        drawn = element("figure", share_bar(sure.objective, sure.upper_bound), caption)
    return section("certificate", "How good the choice is", paragraph(verdict(facts, k)), drawn,
                   tiles(told))  # fmt: skip


def verdict(facts: Facts, k: int) -> str:
    """The certificate as a sentence or two."""
    sure = facts.certificate
    if sure.greedy:
        return ("The method adds one feature at a time and proves nothing: another choice may have "
                "a larger objective. Methods that choose all at once carry a bound.")  # fmt: skip
    said = f"{sure.quality.capitalize()}."
    if isfinite(sure.upper_bound):
        said += (
            f" No choice of {k:,} feature{'s' * (k != 1)} has an objective above the upper bound. "
            "This is a statement about the objective on these rows, not about the error on new "
            "ones."
        )
    return said
