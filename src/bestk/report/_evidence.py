"""Errors, other methods, how the table was read, and how to get the same again."""

from collections.abc import Sequence

from bestk.method_notes import NOTES
from bestk.report._charts import LINES, draw_errors, key, strip
from bestk.report._columns import Column
from bestk.report._comparison import FOLDS, Comparison
from bestk.report._gather import Facts, TableFacts
from bestk.report._html import Markup, element, join, name_of
from bestk.report._parts import code, paragraph, section, table
from bestk.report._text import NONE, number

MOST_CLASSES = 8  # shown one by one; the rarest beyond them are put together
MOST_UNION = 200  # features of the table of choices


def errors_section(facts: Facts) -> Markup:
    """The error against the number of features."""
    assert facts.comparison is not None
    errors, k = facts.comparison.errors, len(facts.features)
    title = "Error against the number of features"
    if errors is None:
        reason = f"There are no cross-validated errors here. {facts.comparison.reason}"
        return section("errors", title, paragraph(reason))
    explained = paragraph(
        f"The {errors.measure} of {errors.model}, the mean over {FOLDS} folds. Features were "
        f"selected from the training rows of each fold alone. The dashed upright line is at {k}, "
        "the number selected here."
    )
    styles = enumerate(errors.means)
    keys = element("ul", *(key(f"s{i % LINES}", name, line=True) for i, name in styles),
                   class_="keys")  # fmt: skip
    heads = ["features", *errors.means]
    columns = zip(*errors.means.values(), strict=True)
    rows = [[size, *means] for size, means in zip(errors.ks, columns, strict=True)]
    told = table(f"Mean {errors.measure}", heads, rows, numeric=heads, sortable=True, named=-1)
    notes = [paragraph(f"Note: {note}", class_="soft") for note in errors.notes[:5]]
    return section("errors", title, explained, element("figure", keys, draw_errors(errors, k)),
                   told, *notes)  # fmt: skip


def comparison_section(facts: Facts) -> Markup:
    """What other methods select from the same rows."""
    assert facts.comparison is not None
    comparison, k = facts.comparison, len(facts.features)
    first = comparison.choices[0].method
    explained = paragraph(f"What other methods select from all rows, and how many of their {k} "
                          f"features {first} selects, too.")  # fmt: skip
    heads = ["method", "what it is", "in common", *(["error", "± over folds"] if
             comparison.errors else [])]  # fmt: skip
    rows = [
        [c.method, NOTES[c.method].title if c.method in NOTES else NONE, c.shared,
         *_error(comparison, c.method, k)]
        for c in comparison.choices
    ]  # fmt: skip
    told = table(f"Methods, with {k} features each", heads, rows, numeric=heads[2:], sortable=True)
    return section("comparison", "Other methods", explained, told, _choices(facts, comparison))


def _error(comparison: Comparison, method: str, k: int) -> list[float]:
    errors = comparison.errors
    if errors is None:
        return []
    at = errors.ks.index(k)
    return [errors.means[method][at], errors.deviations[method][at]]


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
    return element("details", element("summary", "Which method selects which feature"), told)


def table_section(facts: Facts) -> Markup:
    """Types, missing values, classes, and the bins of every selected column."""
    reading = facts.reading
    assert reading is not None
    kinds = ", ".join(f"{count} {kind}" for kind, count in reading.kinds.items())
    told = [
        paragraph(f"{number(reading.n_samples)} rows and {number(reading.n_features)} columns: "
                  f"{kinds}. {number(reading.missing)} values are missing; where columns are "
                  "counted they are a level of their own."),
        paragraph(_measured(reading)),
    ]  # fmt: skip
    if reading.classes:
        what = "Ranges that the target was cut into" if reading.continuous else "Classes"
        rows = [[name, count, _share(count, reading.n_samples)] for name, count in reading.classes]
        told.append(table(f"{what} and their rows", ["class", "rows", "% of rows"], rows,
                          numeric=["rows", "% of rows"], sortable=True))  # fmt: skip
    rest = len(facts.features) - len(reading.columns)
    more = [paragraph(f"{rest} more selected columns are not shown.", class_="soft")] * (rest > 0)
    heading = element("h3", "Selected columns and their bins")
    columns = [_column(column, reading) for column in reading.columns]
    return section("table", "How the table was read", *told, heading, *columns, *more)


def _share(count: int, total: int) -> tuple[float, str]:
    return count / total, f"{100 * count / total:.1f}"


def _measured(reading: TableFacts) -> str:
    cut = f" Numbers were cut into bins by {reading.discretizer}." if reading.discretizer else ""
    if reading.information == "blend":
        return ("Information is the mean of counts in bins, of two kinds, and of what covariances "
                f"tell of numbers.{cut} These bins are shown below.")  # fmt: skip
    if reading.information == "gaussian":
        return "Numbers were taken as jointly normal within classes, and not cut into bins."
    return f"Information is counted in bins.{cut}"


def _column(column: Column, reading: TableFacts) -> Markup:
    """A selected column, its cut points, and the classes in each of its bins."""
    missing = f", {number(column.missing)} missing" if column.missing else ""
    bins = f", {len(column.bins)} bin{'s' * (len(column.bins) != 1)}" if column.bins else ""
    told = f": {column.kind}, {number(column.distinct)} different values{missing}{bins}"
    head = element("summary", name_of(column.name), told)
    if not column.bins:
        return element("details", head, paragraph("Taken as numbers, not cut into bins."))
    parts = [head]
    if column.cuts:
        parts.append(paragraph(f"Cut at {', '.join(f'{cut:.6g}' for cut in column.cuts)}."))
    return element("details", *parts, _bins(column, reading))


def _bins(column: Column, reading: TableFacts) -> Markup:
    order = sorted(range(len(reading.classes)), key=lambda c: (-reading.classes[c][1], c))
    shown, rest = sorted(order[:MOST_CLASSES]), order[MOST_CLASSES:]
    names = [reading.classes[c][0] for c in shown] + ["other classes"] * bool(rest)
    rows = []
    for each in column.bins:
        counts = [each.counts[c] for c in shown] if shown else []
        counts += [sum(each.counts[c] for c in rest)] * bool(rest)
        rows.append([each.label, sum(each.counts), *counts, *([strip(counts)] if counts else [])])
    heads = ["bin", "rows", *names, *(["shares"] if names else [])]
    return table("Rows of each class, by bin", heads, rows, numeric=["rows", *names])


def reproduce_section(facts: Facts) -> Markup:
    """Code, settings and versions."""
    parts: list[Markup] = []
    if facts.command:
        parts += [element("h3", "In a shell"), code("command", facts.command, "Copy the command")]
    if facts.code:
        parts += [element("h3", "In Python"), code("code", facts.code, "Copy the code")]
    if facts.settings is not None:
        seed = facts.settings.get("random_state", "None")
        parts.append(paragraph(f"Seed: {seed}. Ties go to the first column, and nothing else is "
                               "left to chance in methods that draw no numbers."))  # fmt: skip
        parts.append(_pairs_table("Settings", "setting", list(facts.settings.items())))
    versions = list((facts.versions or {}).items())
    parts.append(_pairs_table("Versions", "package", versions))
    return section("reproduce", "To get the same again", join(parts))


def _pairs_table(caption: str, head: str, rows: Sequence[tuple[str, str]]) -> Markup:
    cells = [[name, element("code", value)] for name, value in rows]
    told = table(caption, [head, "value"], cells)
    return element("details", element("summary", caption), told)
