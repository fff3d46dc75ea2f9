"""Warnings about selected features: leaks, identifiers, noise, copies."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, entr

from bestk._typing import Floats, Indices
from bestk.data.target import Target
from bestk.errors import SelectionWarning
from bestk.problem.solution import Solution
from bestk.selection.look import (
    Values,
    binned,
    chi_square,
    column_values,
    names_rows,
    p_value,
    which_determine,
)
from bestk.selection.pipeline import Task

MAX_NAMES = 8  # columns that a sentence names
MAX_COLUMNS = 1_000  # of a selection that are looked at
MAX_CATEGORIES = 50  # of a column without a warning
FALSE_DISCOVERY_RATE = 0.1
CLEARLY = FALSE_DISCOVERY_RATE / 100  # a p-value below it needs no better test
GAIN_OF_CUTS = 30.0  # at most, of twice the log of a likelihood ratio, by cuts chosen for y
MIN_ENTROPY_OF_LEAK = 0.6  # fraction of H(y); with less, a column does not determine y
COPY_TOLERANCE = 1e-12  # of 1 - |correlation|


class Finding(NamedTuple):
    """Columns with the same problem, by their places in the table."""

    kind: str
    places: tuple[int, ...]


class _Selected(NamedTuple):
    """The selected columns that vary, and their estimates."""

    task: Task
    places: Indices
    relevance: Floats
    pairs: Floats

    @property
    def target(self) -> Target | None:
        """The classes of the rows, unless numbers cannot be cut into any."""
        with suppress(ValueError):
            return None if self.task.target is None else self.task.target.classes
        return None


def with_warnings(task: Task, solution: Solution) -> Solution:
    """The solution with sentences on how the table was read and on what was selected."""
    found = [describe(each, task.table.names, solution) for each in find_cautions(task, solution)]
    return replace(solution, warnings=(*solution.warnings, *task.notes, *found))


def warn_of(solution: Solution) -> None:
    """Issue all warnings of a solution as one."""
    if solution.warnings:
        warn("\n".join(solution.warnings), SelectionWarning, stacklevel=3)


def find_cautions(task: Task, solution: Solution) -> list[Finding]:
    """Problems of selected columns; none for columns that are not held in memory."""
    if not task.table.blocks:
        return []
    if len(task.targets) > 1:
        return _join_findings([find_cautions(p, p.described(solution)) for p in task.parts])
    here = np.flatnonzero(~np.isin(solution.support, task.constant))[:MAX_COLUMNS]
    places, pairs = solution.support[here], solution.details["pairs"][np.ix_(here, here)]
    selected = _Selected(task, places, solution.details["relevance"][here], pairs)
    columns = [column_values(task.table, place) for place in places]
    names = task.table.names
    naming = [i for i, c in enumerate(columns) if names_rows(str(names[places[i]]), c)]
    others = [i for i in range(len(columns)) if i not in naming]
    many = [i for i in others if len(columns[i].categories or ()) > MAX_CATEGORIES]
    found = [
        ("leak", _leaks(selected, columns, others)),
        ("identifier", naming),
        ("chance", _at_chance(selected, columns, others)),
        ("cardinality", many),
        *(("copy", group) for group in _copies(columns, others)),
    ]
    findings = [Finding(kind, tuple(places[items].tolist())) for kind, items in found if items]
    constant = solution.support[np.isin(solution.support, task.constant)].tolist()
    return [Finding("constant", tuple(constant)), *findings] if constant else findings


def _join_findings(each: list[list[Finding]]) -> list[Finding]:
    """The findings for any of several targets; columns at chance level only for all of them."""
    chance = [{j for f in findings if f.kind == "chance" for j in f.places} for findings in each]
    places = tuple(sorted(set.intersection(*chance)))
    found = dict.fromkeys(f for findings in each for f in findings if f.kind != "chance")
    return [*found, Finding("chance", places)] if places else [*found]


def _leaks(selected: _Selected, columns: list[Values], candidates: list[int]) -> list[int]:
    """Columns that alone nearly determine the target."""
    target = selected.target
    if target is None:
        return []
    least = MIN_ENTROPY_OF_LEAK * float(entr(target.counts / target.counts.sum()).sum())
    near = [i for i in candidates if selected.relevance[i] > least]
    found = which_determine([columns[i] for i in near], target)
    return [i for i, determines in zip(near, found, strict=True) if determines]


def _at_chance(selected: _Selected, columns: list[Values], candidates: list[int]) -> list[int]:
    """Columns without a significant relation to y, alone or given any one selected column.

    The p-values are corrected for all columns of the table (Benjamini and Hochberg 1995).
    """
    target, relevances = selected.target, np.sort(selected.task.read.entropies.mi())
    if target is None:
        return []
    ranks = len(relevances) - np.searchsorted(relevances, selected.relevance)
    tests = len(relevances) / np.maximum(1, ranks)  # a p-value times this is corrected
    clear = _are_clear(selected, target, tests)
    doubtful = [i for i in candidates if not clear[i]]
    levels = [binned(column) for column in columns] if doubtful else []
    found, many = [], len(relevances) * len(columns)
    for i in doubtful:
        chance = p_value(columns[i], levels[i], target.codes) * tests[i] >= FALSE_DISCOVERY_RATE
        others = selected.pairs[:, i].copy()
        others[i] = -np.inf
        if chance and len(columns) > 1:  # the partner given which it has most information
            given = levels[int(others.argmax())]
            chance = chi_square(levels[i], target.codes, given) * many > FALSE_DISCOVERY_RATE
        found += [i] * bool(chance)
    return found


def _are_clear(selected: _Selected, target: Target, tests: Floats) -> NDArray[np.bool_]:
    """Whether the relevance alone shows that a column is related to y, by a likelihood ratio.

    Cuts that were chosen for y, and cells of few rows, make the ratio larger.
    """
    read, levels, excess = selected.task.read, np.full(len(selected.places), 2), GAIN_OF_CUTS
    if read.levels is not None:
        levels = read.levels[np.searchsorted(selected.task.allowed, selected.places)]
        excess = GAIN_OF_CUTS if read.discretizer is not None else 0.0
    freedom = np.maximum(1, levels - 1) * (target.n_classes - 1)
    ratios = 2 * selected.task.table.n_samples * selected.relevance - freedom - excess
    return np.asarray(chdtrc(freedom, np.maximum(0.0, ratios)) * tests < CLEARLY)


def _copies(columns: list[Values], candidates: list[int]) -> list[list[int]]:
    """Groups of equal columns, up to scale and shift, or to the names of categories."""
    groups: list[tuple[float, list[int]]] = []
    weights = np.cos(np.arange(len(columns[0].values) if columns else 0) ** 2.0)
    reach = (2 * COPY_TOLERANCE) ** 0.5 * float(np.linalg.norm(weights))
    for i in candidates:
        # those of copies are nearly equal
        mark = abs(float(np.einsum("i,i", _standardized(columns[i]), weights)))
        for known, group in groups:
            if abs(known - mark) <= reach and _are_copies(columns[group[0]], columns[i]):
                group.append(i)
                break
        else:
            groups.append((mark, [i]))
    return [group for _, group in groups if len(group) > 1]


def _are_copies(a: Values, b: Values) -> bool:
    """Whether two columns have a correlation of 1 or -1 and the same missing rows."""
    alike = abs(np.einsum("i,i", _standardized(a), _standardized(b))) > 1 - COPY_TOLERANCE
    return bool(alike and (a.missing == b.missing).all())


def _standardized(column: Values) -> Floats:
    """Numbers of mean 0 and norm 1, levels of text by the order in which they come; missing: 0."""
    values, known = column.values, ~column.missing
    if column.categories is not None:
        _, first, codes = np.unique(values, return_index=True, return_inverse=True)
        values = np.argsort(np.argsort(first))[codes]
    x = np.where(known, values, 0.0)
    x /= np.abs(x).max() or 1.0  # squares of the largest numbers would overflow
    x[known] -= x[known].sum() / max(1, known.sum())
    return np.asarray(x / (np.linalg.norm(x) or 1.0))


def describe(finding: Finding, names: Sequence[str], solution: Solution) -> str:
    """A sentence on a finding."""
    quoted = [repr(str(names[j])) for j in finding.places]
    more = f" and {len(quoted) - MAX_NAMES} more" if len(quoted) > MAX_NAMES else ""
    who, one = ", ".join(quoted[:MAX_NAMES]) + more, len(quoted) == 1
    it, they = ("it", "it is") if one else ("them", "they are")
    texts = {
        "constant": f"constant, and selected because k={solution.k} is more than the columns that "
        "vary; use a smaller k",
        "leak": f"{'' if one else 'each '}nearly determines the target alone; exclude {it} if "
        f"{they} not known at the time of prediction",
        "identifier": f"a different value in most rows, as an identifier has; exclude {it} if "
        f"{'it only names' if one else 'they only name'} rows",
        "chance": "selected, but no more related to the target than chance would give; use a "
        "smaller k, or k='auto'",
        "cardinality": f"more than {MAX_CATEGORIES} categories, so that each has few rows to learn "
        "from; group rare ones",
        "copy": "copies of each other, up to scale and shift; one of them is enough",
    }
    return f"{who}: {texts[finding.kind]}"
