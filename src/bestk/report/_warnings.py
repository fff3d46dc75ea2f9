"""What to know before trusting a selection: leaks, identifiers, copies, classes of few rows."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bestk.data.codes import Target
from bestk.data.table import Table
from bestk.problem.solution import Solution
from bestk.report._facts import Caution
from bestk.report._text import listing, shown
from bestk.selection.cautions import Finding, describe
from bestk.selection.look import MOSTLY, Look, column_values, determines

SMALL_CLASS = 10  # rows
NAMED = 8  # columns, classes or groups of copies that a warning names


def column_cautions(
    names: Sequence[str], n_samples: int, looks: Sequence[Look] | None, selected: set[int]
) -> list[Caution]:
    """Identifiers, columns that are mostly missing or say nothing, and copies."""
    if looks is None:
        text = "The columns were not looked at one by one: the table is too large for that."
        return [Caution("note", text)]
    return [
        *_identifiers(names, [each.place for each in looks if each.identifier], selected),
        *_holes(names, n_samples, looks),
        *_constants(names, [each.place for each in looks if each.constant], selected),
        *_copies(names, looks),
    ]


def _identifiers(names: Sequence[str], places: list[int], selected: set[int]) -> list[Caution]:
    """Those that were selected, and those that were not."""
    told = []
    for taken in (True, False):
        group = [j for j in places if (j in selected) is taken]
        if group:
            one = len(group) == 1
            which = f", which {'was' if one else 'were'} selected," if taken else ""
            text = (f"{quoted(names, group)}{which} {'has' if one else 'have'} a different value "
                    "in most rows, as an identifier has.")  # fmt: skip
            advice = f"Exclude {'it if it' if one else 'them if they'} only name{'s' * one} rows."
            told.append(Caution("identifier", text, advice))
    return told


def _holes(names: Sequence[str], n_samples: int, looks: Sequence[Look]) -> list[Caution]:
    most = [each for each in looks if not each.constant and each.missing > MOSTLY * n_samples]
    if not most:
        return []
    shares = [f"“{shown(names[each.place])}” ({100 * each.missing / n_samples:.0f}%)"
              for each in most]  # fmt: skip
    return [Caution("missing", f"Missing in most of the rows: {listing(shares, NAMED)}.")]


def _constants(names: Sequence[str], places: list[int], selected: set[int]) -> list[Caution]:
    if not places:
        return []
    what = "1 column holds" if len(places) == 1 else f"{len(places)} columns hold"
    text = f"{what} one value only: {quoted(names, places)}."
    taken = [j for j in places if j in selected]
    advice = f"Selected all the same: {quoted(names, taken)}; a smaller k may do." if taken else ""
    return [Caution("constant", text, advice)]


def _copies(names: Sequence[str], looks: Sequence[Look]) -> list[Caution]:
    alike: dict[bytes, list[int]] = {}
    for each in looks:
        if not each.constant:
            alike.setdefault(each.content, []).append(each.place)
    groups = [quoted(names, group) for group in alike.values() if len(group) > 1]
    if not groups:
        return []
    text = f"The same values are in {listing(groups, NAMED, '; and in ', 'groups of columns')}."
    return [Caution("duplicate", text, "One of them is enough.")]


def selected_cautions(
    names: Sequence[str], findings: Sequence[Finding], solution: Solution,
    looks: Sequence[Look] | None,
) -> list[Caution]:  # fmt: skip
    """What else is to be known of the selected columns, beside what is said of all columns."""
    told = []
    for each in findings:
        exact = looks is not None and len({looks[j].content for j in each.places}) == 1
        if each.kind in ("chance", "cardinality") or (each.kind == "copy" and not exact):
            told.append(Caution(each.kind, f"{shown(describe(each, names, solution), 400)}."))
    return told


def class_cautions(target: Target) -> list[Caution]:
    """Classes of few rows."""
    small = np.flatnonzero(target.counts < SMALL_CLASS)
    if not len(small):
        return []
    names = [f"“{shown(target.classes[i])}” ({target.counts[i]})" for i in small]
    text = f"Classes of fewer than {SMALL_CLASS} rows: {listing(names, NAMED)}."
    return [Caution("class", text, "What is said of them is uncertain; join classes or add rows.")]


def leak_cautions(
    table: Table, places: Iterable[int], cuts: Mapping[int, NDArray[np.float64]], target: Target
) -> list[Caution]:
    """Those of some columns, cut into bins as they are, that nearly determine the target."""
    leaks = [
        place
        for place in places
        if determines(column_values(table, place), target, cuts.get(place))
    ]
    if not leaks:
        return []
    one = len(leaks) == 1
    each = "" if one else "Each of "
    text = f"{each}{quoted(table.names, leaks)} alone nearly determines the target."
    advice = (f"See whether {'it is' if one else 'they are'} known at the time of prediction; "
              f"if not, exclude {'it' if one else 'them'}.")  # fmt: skip
    return [Caution("leak", text, advice)]


def quoted(names: Sequence[str], places: Sequence[int]) -> str:
    """Some names, and how many more there are."""
    return listing([f"“{shown(names[j])}”" for j in places], NAMED)
