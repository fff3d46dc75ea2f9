"""Errors against the number of features, and other methods beside this one."""

from math import isfinite

from bestk.report._bars import key
from bestk.report._charts import LINES, draw_errors
from bestk.report._curves import WRONG
from bestk.report._facts import Comparison, Errors, Facts
from bestk.report._html import Markup, element, join
from bestk.report._parts import folded, paragraph, section, table
from bestk.report._text import NONE, listing, rounded
from bestk.selection.method_notes import method_title

MOST_UNION = 200  # features of the table of choices
MOST_NOTES = 5
MANY_SIZES = 12  # numbers of features whose table is folded


def errors_section(facts: Facts) -> Markup:
    """The error against the number of features."""
    assert facts.comparison is not None
    errors, k = facts.comparison.errors, len(facts.features)
    parts: list[Markup] = []
    if errors is None:
        reason = f"There are no cross-validated errors here. {facts.comparison.reason}"
        parts.append(paragraph(reason))
    else:
        parts += [paragraph(_explained(errors, k)), _figure(errors, k), _numbers(errors),
                  _notes(errors)]  # fmt: skip
    if facts.tried is not None:
        parts += [element("h3", "How the number was chosen"),
                  paragraph(_how_chosen(facts.tried, k)), _figure(facts.tried, k),
                  _numbers(facts.tried, few=0)]  # fmt: skip
    return section("errors", "Error against the number of features", *parts)


def _explained(errors: Errors, k: int) -> str:
    better = "; more is better" if errors.rising else ""
    guess = ""
    if isfinite(errors.guess):
        what = "the most frequent class" if errors.measure == WRONG else "the mean"
        guess = f" Guessing {what} gives {rounded(errors.guess, share=errors.share)}."
    return (
        f"The {errors.measure} of {errors.model}, the mean over {errors.folds} folds{better}. "
        "Features were selected from the training rows of each fold alone, so these are errors on "
        f"unseen rows. The dashed upright line is at {k:,}, the number selected here; the band is "
        f"one standard error about {errors.curves[0].name}.{guess}"
    )


def _how_chosen(errors: Errors, k: int) -> str:
    return (
        f"k='auto' measured the {errors.measure} of {errors.model} in {errors.folds} folds, and "
        f"took {k:,}: the smallest number whose difference from the best is within one standard "
        "error."
    )


def _figure(errors: Errors, k: int) -> Markup:
    styles = enumerate(errors.curves)
    keys = element("ul", *(key(f"s{i % LINES}", curve.name, line=True) for i, curve in styles),
                   class_="keys")  # fmt: skip
    return element("figure", keys if len(errors.curves) > 1 else "", draw_errors(errors, k))


def _numbers(errors: Errors, few: int = MANY_SIZES) -> Markup:
    ks = sorted({k for curve in errors.curves for k in curve.ks})
    heads = ["features", *(curve.name for curve in errors.curves)]
    rows = [[k, *((mean, rounded(mean, share=errors.share)) for mean in
                  (curve.at(k)[0] for curve in errors.curves))] for k in ks]  # fmt: skip
    title = f"{errors.measure[0].upper()}{errors.measure[1:]}, mean over the folds"
    told = table(title, heads, rows, numeric=heads, sortable=True, named=-1)
    return folded("All numbers", told) if len(ks) > few else told


def _notes(errors: Errors) -> Markup:
    if not errors.notes:
        return Markup("")
    return paragraph(f"Noted on the way: {listing(errors.notes, MOST_NOTES, '; ', 'notes')}",
                     class_="soft")  # fmt: skip


def comparison_section(facts: Facts) -> Markup:
    """What other methods select from the same rows."""
    assert facts.comparison is not None
    comparison, k = facts.comparison, len(facts.features)
    first, errors = comparison.choices[0].method, comparison.errors
    explained = paragraph(f"What other methods select from all rows, and how many of their {k:,} "
                          f"features {first} selects, too.")  # fmt: skip
    more = [errors.measure, "± over folds"] if errors else []
    heads = ["method", "what it is", "in common", *more]
    rows = [
        [c.method, method_title(c.method) or NONE,
         (c.shared, f"{c.shared:,} of {k:,}"), *_error(errors, c.method, k)]
        for c in comparison.choices
    ]  # fmt: skip
    told = table(f"Methods, with {k:,} features each", heads, rows, numeric=heads[2:],
                 sortable=True)  # fmt: skip
    return section("comparison", "Other methods", explained, told, _choices(facts, comparison))


def _error(errors: Errors | None, method: str, k: int) -> list[tuple[float, str]]:
    if errors is None:
        return []
    curve = next((curve for curve in errors.curves if curve.name == method), None)
    found = curve.at(k) if curve else (float("nan"), float("nan"))
    return [(value, rounded(value, share=errors.share)) for value in found]


def _choices(facts: Facts, comparison: Comparison) -> Markup:
    """Which method selects which feature, by rank."""
    ranks = [{place: i for i, place in enumerate(c.support, 1)} for c in comparison.choices]
    places = list(dict.fromkeys(place for c in comparison.choices for place in c.support))
    heads = ["feature", *(c.method for c in comparison.choices)]
    rows = [
        [facts.names[place], *(float("nan") if place not in r else r[place] for r in ranks)]
        for place in places[:MOST_UNION]
    ]
    told = table(f"The rank of each feature; {NONE} where it is not selected", heads, rows,
                 numeric=heads[1:], sortable=True)  # fmt: skip
    rest = len(places) - MOST_UNION
    note = paragraph(f"{rest:,} more features, which some method selects, are not listed.",
                     class_="soft") if rest > 0 else ""  # fmt: skip
    return folded("Which method selects which feature", join([told, note]))
