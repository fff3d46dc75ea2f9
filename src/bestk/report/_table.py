"""How the table was read, and how to get the same again."""

from collections.abc import Sequence

from bestk.report._bars import strip, swatch
from bestk.report._columns import Column
from bestk.report._facts import Facts, Feature, TableFacts
from bestk.report._html import Markup, element, join, name_of
from bestk.report._parts import code, folded, paragraph, section, table
from bestk.report._text import number

MOST_CLASSES = 8  # shown one by one; the rarest beyond them are put together
MOST_LABELS = 40  # classes that are listed
MOST_NAMES = 500  # in the list of names to copy


def table_section(facts: Facts) -> Markup:
    """Types, missing values, classes, and the bins of every selected column."""
    reading = facts.reading
    assert reading is not None
    told = [paragraph(_size(reading)), paragraph(_measured(reading))]
    if reading.classes:
        told.append(_classes(reading))
    if reading.listed:
        told.append(_list(reading))
    if reading.columns:
        told.append(element("h3", "Selected columns and their bins"))
    ranks = {feature.name: (i, feature) for i, feature in enumerate(facts.features, 1)}
    columns = [_column(column, reading, ranks.get(column.name)) for column in reading.columns]
    rest = len(facts.features) - len(reading.columns)
    more = "" if rest <= 0 else paragraph(_not_shown(rest, reading), class_="soft")
    return section("table", "How the table was read", *told, *columns, more)


def _not_shown(rest: int, reading: TableFacts) -> str:
    what = "column is" if rest == 1 else "columns are"
    why = "" if reading.n_samples is not None and reading.kinds else ": cut points are all there is"
    return f"{rest:,} more selected {what} not shown{why}."


def _size(reading: TableFacts) -> str:
    rows = "" if reading.n_samples is None else f"{reading.n_samples:,} rows and "
    told = f"{rows}{reading.n_features:,} columns"
    if reading.kinds:
        told += f": {', '.join(f'{count:,} {kind}' for kind, count in reading.kinds.items())}"
    if reading.missing is None:
        return f"{told}."
    if not reading.missing:
        return f"{told}. No values are missing."
    one = "value is" if reading.missing == 1 else "values are"
    level = "where columns are counted they are a level of their own"
    return f"{told}. {reading.missing:,} {one} missing; {level}."


def _measured(reading: TableFacts) -> str:
    cut = f" Numbers were cut into bins by {reading.discretizer}." if reading.discretizer else ""
    if reading.information == "blend":
        shown = " These bins are shown below." if cut else ""
        return ("Information is the mean of counts in bins, of two kinds, and of what covariances "
                f"tell of numbers.{cut}{shown}")  # fmt: skip
    if reading.information == "gaussian":
        return "Numbers were taken as jointly normal within classes, and not cut into bins."
    return f"Information is counted in bins.{cut}"


def _classes(reading: TableFacts) -> Markup:
    """The classes, the largest ones where there are many."""
    order = sorted(range(len(reading.classes)), key=lambda c: (-reading.classes[c][1], c))
    kept = [reading.classes[c] for c in sorted(order[:MOST_LABELS])]
    total = sum(count for _, count in reading.classes)
    rows = [[name, count, (count / total, f"{100 * count / total:.1f}")] for name, count in kept]
    what = "Ranges that the target was cut into" if reading.continuous else "Classes"
    rest = len(reading.classes) - len(kept)
    some = f"; the {MOST_LABELS} largest of {len(reading.classes):,}" if rest else ""
    told = table(f"{what} and their rows{some}", ["class", "rows", "% of rows"], rows,
                 numeric=["rows", "% of rows"], sortable=True)  # fmt: skip
    return folded(f"{len(reading.classes):,} classes", told) if len(kept) > 12 else told


def _list(reading: TableFacts) -> Markup:
    """Every column in a line, to sort and to search."""
    heads = ["column", "type", "missing", "distinct", "relevance", "rank"]
    rows = [[c.name, c.kind, c.missing, c.distinct, c.relevance,
             c.rank if c.rank is not None else float("nan")] for c in reading.listed]  # fmt: skip
    told = table("Columns in the order of the table; a rank where they were selected", heads, rows,
                 numeric=heads[2:], sortable=True, key="columns")  # fmt: skip
    search = element("label", "Search ", element("input", type="search", id="search",
                     autocomplete="off"), class_="tools js-only")  # fmt: skip
    found = element("p", "", id="found", class_="soft", role="status")
    n, total = len(rows), reading.n_features
    some = f"The {n:,} most relevant of {total:,} columns" if n < total else f"All {n:,} columns"
    return folded(some, search, found, told)


def _column(column: Column, reading: TableFacts, ranked: tuple[int, Feature] | None) -> Markup:
    """A selected column, its cut points, and the classes in each of its bins."""
    facts = [column.kind]
    if column.distinct is not None:
        facts.append(f"{column.distinct:,} different value{'s' * (column.distinct != 1)}")
    if column.missing:
        facts.append(f"{column.missing:,} missing")
    n_bins = len(column.bins) or (len(column.cuts) + 1 if column.cuts else 0)
    if n_bins:
        facts.append(f"{n_bins} bin{'s' * (n_bins != 1)}")
    head = element("summary", f"{ranked[0]}. " if ranked else "", name_of(column.name),
                   element("span", f" {', '.join(facts)}", class_="soft"))  # fmt: skip
    parts = [head, *([_why(ranked[1])] if ranked else [])]
    if column.cuts:
        parts.append(paragraph(f"Cut at {', '.join(f'{cut:.6g}' for cut in column.cuts)}."))
    elif not column.bins:
        parts.append(paragraph("Taken as numbers, not cut into bins."))
    return element("details", *parts, _bins(column, reading) if column.bins else "")


def _why(feature: Feature) -> Markup:
    """What a feature was selected for, in a sentence."""
    alone = f"It says {number(feature.relevance)} nats about the target alone"
    if not feature.nearest:
        return paragraph(f"{alone}.")
    return paragraph(f"{alone}, and {number(feature.new_information)} beyond ",
                     name_of(feature.nearest), ", the selected feature most like it.")  # fmt: skip


def _bins(column: Column, reading: TableFacts) -> Markup:
    order = sorted(range(len(reading.classes)), key=lambda c: (-reading.classes[c][1], c))
    shown, rest = sorted(order[:MOST_CLASSES]), order[MOST_CLASSES:]
    if len(rest) == 1:
        shown, rest = sorted(order), []
    names = [reading.classes[c][0] for c in shown]
    names += [f"{len(rest):,} other classes"] * bool(rest)
    most = max(sum(each.counts) for each in column.bins)
    rows = []
    for each in column.bins:
        counts = [each.counts[c] for c in shown] if shown else []
        counts += [sum(each.counts[c] for c in rest)] * bool(rest)
        drawn = strip(counts or [sum(each.counts)], most)
        rows.append([each.label, drawn, sum(each.counts), *counts])
    heads = ["bin", "classes" if names else "share", "rows", *names]
    marks = {3 + place: swatch(place) for place in range(len(names))}
    return table("Rows of each class, by bin", heads, rows, numeric=["rows", *names], marks=marks)


def reproduce_section(facts: Facts) -> Markup:
    """Code, settings and versions."""
    parts: list[Markup] = []
    if facts.command:
        parts += [element("h3", "In a shell"), code("command", facts.command, "Copy the command")]
    if facts.code:
        parts += [element("h3", "In Python"), code("code", facts.code, "Copy the code")]
    names = ", ".join(map(repr, facts.columns[:MOST_NAMES]))
    rest = len(facts.columns) - MOST_NAMES
    more = paragraph(f"{rest:,} more are not listed.", class_="soft") if rest > 0 else ""
    listed = code("names", f"[{names}]", "Copy the names")
    parts.append(folded("The names of the selected columns", listed, more))
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
    return folded(caption, table(caption, [head, "value"], cells))
