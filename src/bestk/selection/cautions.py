"""Warnings about selected features: leaks, identifiers, noise, copies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Floats, Indices
from bestk.data.target import Target
from bestk.discretize import MDLP
from bestk.errors import SelectionWarning
from bestk.problem.solution import Solution
from bestk.selection.look import (
    Values,
    chi_square,
    column_values,
    grade,
    names_rows,
    p_values,
    which_determine,
)
from bestk.selection.pipeline import Task

__all__ = ["Finding", "find_cautions", "warn_of", "with_warnings"]

MAX_NAMES = 8  # columns that a sentence names
MAX_COLUMNS = 1_000  # of a selection that are looked at
MAX_CATEGORIES = 50  # of a column without a warning
FALSE_DISCOVERY_RATE = 0.1
CLEARLY = FALSE_DISCOVERY_RATE / 100  # a p-value below it needs no better test
GAIN_OF_CUTS = 30.0  # at most, of twice the log of a likelihood ratio, by cuts chosen for y
MIN_ENTROPY_OF_LEAK = 0.6  # fraction of H(y); with less, a column does not determine y
ROWS_FIRST = 20_000  # rows that show most relations
MAX_VALUES = 2**20  # that are tested together
COPY_ROWS = 1_000  # rows that show most differences between columns
COPY_TOLERANCE = 1e-12  # of 1 - |correlation|


@dataclass(frozen=True)
class Finding:
    """Columns with the same problem, by their places in the table."""

    kind: str
    places: tuple[int, ...]


@dataclass(frozen=True)
class _Selected:
    """The selected columns that vary, their estimates, and the classes of the rows."""

    task: Task
    places: list[int]
    columns: list[Values]
    relevance: NDArray[np.float64]
    pairs: NDArray[np.float64]
    target: Target | None

    @classmethod
    def of(cls, task: Task, solution: Solution) -> "_Selected":
        here = np.flatnonzero(~np.isin(solution.support, task.constant))[:MAX_COLUMNS]
        places = solution.support[here].tolist()
        columns = [column_values(task.table, place) for place in places]
        pairs = np.asarray(solution.details["pairs"])[np.ix_(here, here)]
        relevance = np.asarray(solution.details["relevance"])[here]
        return cls(task, places, columns, relevance, pairs, _classes(task))

    def name(self, i: int) -> str:
        return str(self.task.table.names[self.places[i]])


def with_warnings(task: Task, solution: Solution) -> Solution:
    """The solution with sentences on how the table was read and on what was selected."""
    names = task.table.names
    found = [describe(each, names, solution) for each in find_cautions(task, solution)]
    return replace(solution, warnings=(*solution.warnings, *task.notes, *found))


def warn_of(solution: Solution, stacklevel: int = 3) -> None:
    """Issue all warnings of a solution as one."""
    if solution.warnings:
        warn("\n".join(solution.warnings), SelectionWarning, stacklevel=stacklevel)


def find_cautions(task: Task, solution: Solution) -> list[Finding]:
    """Problems of selected columns."""
    if len(task.targets) > 1:
        each = [find_cautions(part, part.described(solution)) for part in task.parts]
        return _join_findings(each)
    constant = solution.support[np.isin(solution.support, task.constant)].tolist()
    selected = _Selected.of(task, solution)
    columns = selected.columns
    naming = [i for i, column in enumerate(columns) if names_rows(selected.name(i), column)]
    others = [i for i in range(len(columns)) if i not in naming]
    many = [i for i in others if len(columns[i].categories or ()) > MAX_CATEGORIES]
    found = [
        ("leak", _leaks(selected, others)),
        ("identifier", naming),
        ("chance", _at_chance(selected, others)),
        ("cardinality", many),
        *(("copy", group) for group in _copies(selected, others)),
    ]
    findings = [
        Finding(kind, tuple(selected.places[i] for i in items)) for kind, items in found if items
    ]
    return [Finding("constant", tuple(constant)), *findings] if constant else findings


def _join_findings(each: list[list[Finding]]) -> list[Finding]:
    """The findings for any of several targets; columns at chance level only for all of them."""
    found = list(dict.fromkeys(finding for findings in each for finding in findings))
    chance = [{j for f in findings if f.kind == "chance" for j in f.places} for findings in each]
    places = tuple(sorted(set.intersection(*chance)))
    joined = [finding for finding in found if finding.kind != "chance"]
    return [*joined, Finding("chance", places)] if places else joined


def _classes(task: Task) -> Target | None:
    """The classes of the rows; bins of equal frequency for a continuous target."""
    try:
        return None if task.target is None else task.target.classes
    except ValueError:
        return None


def _leaks(selected: _Selected, candidates: list[int]) -> list[int]:
    """Columns that alone nearly determine the target."""
    target = selected.target
    if target is None:
        return []
    p = target.counts / target.counts.sum()
    least = MIN_ENTROPY_OF_LEAK * -float((p * np.log(p)).sum())
    near = [i for i in candidates if selected.relevance[i] > least]
    known = _known_cuts(selected, near)
    found = which_determine([selected.columns[i] for i in near], target, known)
    return [i for i, determines in zip(near, found, strict=True) if determines]


def _known_cuts(selected: _Selected, items: list[int]) -> list[Floats | None]:
    """The cut points of MDLP for some columns, where the table was cut that way."""
    read = selected.task.read
    if type(read.discretizer) is not MDLP or read.discretizer.max_bins is not None:
        return [None] * len(items)
    places, cuts = selected.task.allowed[read.discretised], read.discretizer.cut_points_
    cut = dict(zip(places, cuts, strict=True))
    return [cut.get(selected.places[i]) for i in items]


def _at_chance(selected: _Selected, candidates: list[int]) -> list[int]:
    """Columns without a significant relation to y, alone or given any one selected column.

    The p-values are corrected for all columns of the table (Benjamini and Hochberg 1995).
    """
    target, n = selected.target, selected.task.table.n_samples
    if target is None:
        return []
    relevances = np.sort(selected.task.read.entropies.settled_mi())
    ranks = len(relevances) - np.searchsorted(relevances, selected.relevance)
    tests = len(relevances) / np.maximum(1, ranks)  # a p-value times this is corrected
    clear = _are_clear(selected, target, tests)
    doubtful = np.array([i for i in candidates if not clear[i]], np.int64)
    samples: list[Any] = [slice(None)]
    if n > ROWS_FIRST:
        some = np.random.default_rng(0).choice(n, ROWS_FIRST, replace=False)
        samples.insert(0, np.sort(some))
    for rows in samples:
        classes = target.codes[rows]
        parts = np.array_split(doubtful, 1 + len(doubtful) * len(classes) // MAX_VALUES)
        chance = [_are_chance(selected, part, classes, rows, tests) for part in parts if len(part)]
        doubtful = doubtful[np.concatenate([np.zeros(0, bool), *chance])]
    return doubtful.tolist()


def _are_clear(selected: _Selected, target: Target, tests: Floats) -> NDArray[np.bool_]:
    """Whether the relevance alone shows that a column is related to y, by a likelihood ratio.

    Cuts that were chosen for y, and cells of few rows, make the ratio larger.
    """
    from scipy.special import chdtrc

    read, levels, excess = selected.task.read, np.full(len(selected.places), 2), GAIN_OF_CUTS
    if read.levels is not None:
        levels = read.levels[np.searchsorted(selected.task.allowed, selected.places)]
        excess = GAIN_OF_CUTS if read.discretizer is not None else 0.0
    freedom = np.maximum(1, levels - 1) * (target.n_classes - 1)
    ratios = 2 * selected.task.table.n_samples * selected.relevance - freedom - excess
    return np.asarray(chdtrc(freedom, np.maximum(0.0, ratios)) * tests < CLEARLY)


def _are_chance(
    selected: _Selected, items: Indices, classes: Indices, rows: Any, tests: Floats
) -> NDArray[np.bool_]:
    """Whether each of some columns has no significant relation to the classes of some rows."""
    n, k = selected.task.read.entropies.n_features, len(selected.columns)
    others = selected.pairs[:, items].copy()
    others[items, np.arange(len(items))] = -np.inf
    partners = others.argmax(axis=0)  # given which the columns have most information
    needed, places = np.unique(np.concatenate([items, partners]), return_inverse=True)
    graded = grade([selected.columns[i] for i in needed], rows)
    own, given = graded.take(places[: len(items)]), graded.take(places[len(items) :])
    chance = p_values(own, classes) * tests[items] >= FALSE_DISCOVERY_RATE
    paired = np.flatnonzero(chance & (partners != items))
    if len(paired):
        found = chi_square(own.codes[paired], classes, given.codes[paired])
        chance[paired] = found * n * k > FALSE_DISCOVERY_RATE
    return chance


def _copies(selected: _Selected, candidates: list[int]) -> list[list[int]]:
    """Groups of equal columns, up to scale and shift, or to the names of categories."""
    columns = selected.columns
    text = [i for i in candidates if columns[i].categories is not None]
    numbers = [i for i in candidates if i not in text]
    if (read := selected.task.read).levels is not None and read.discretizer is None:
        # codes of copies have the same relevance, to the last bit
        _, places, counts = np.unique(selected.relevance, return_inverse=True, return_counts=True)
        numbers = [i for i in numbers if counts[places[i]] > 1]
    pairs = [(i, j) for i, j in combinations(text, 2) if _same_levels(columns[i], columns[j])]
    for a, b in np.argwhere(_are_copies([columns[i] for i in numbers], slice(0, COPY_ROWS))):
        i, j = numbers[a], numbers[b]
        if _are_copies([columns[i], columns[j]], slice(None)).any():
            pairs.append((i, j))
    groups: list[list[int]] = []
    for a, b in sorted(pairs):
        group = next((group for group in groups if a in group), None)
        if group is None:
            groups.append([a, b])
        elif b not in group:
            group.append(b)
    return groups


def _are_copies(columns: list[Values], rows: slice) -> NDArray[np.bool_]:
    """Which columns have a correlation of 1 or -1 and the same missing rows."""
    if len(columns) < 2:
        return np.zeros((1, 1), bool)
    values = np.array([column.values[rows] for column in columns], np.float64)
    high, low = np.fmax.reduce(values, axis=1), np.fmin.reduce(values, axis=1)
    values /= np.fmax(np.fmax(high, -low), 1e-300)[:, np.newaxis]  # no overflow
    missing = np.isnan(values)
    values[missing] = 0.0
    values -= values.sum(axis=1, keepdims=True) / np.maximum((~missing).sum(axis=1), 1)[:, None]
    values[missing] = 0.0
    norms = np.linalg.norm(values, axis=1, keepdims=True)
    values /= np.where(norms > 0, norms, 1.0)
    alike = np.triu(np.ones((len(values), len(values)), bool), 1)
    if len(values) > 2:
        weights = np.cos(np.arange(values.shape[1]) ** 2.0)
        marks = np.abs(np.einsum("ij,j->i", values, weights))  # those of copies are nearly equal
        reach = (2 * COPY_TOLERANCE) ** 0.5 * np.linalg.norm(weights)
        alike &= np.abs(np.subtract.outer(marks, marks)) <= reach
    for a, b in np.argwhere(alike):
        correlation = abs(np.einsum("i,i", values[a], values[b]))
        alike[a, b] = correlation > 1 - COPY_TOLERANCE and (missing[a] == missing[b]).all()
    return alike


def _same_levels(a: Values, b: Values) -> bool:
    """Whether two columns have the same categories, up to their names."""
    n = len(a.categories or ())
    if n != len(b.categories or ()):
        return False
    for rows in (slice(0, COPY_ROWS), slice(None)):
        both = np.asarray(a.values[rows], np.int64) * (n + 1) + b.values[rows]
        if len(np.unique(both)) > len(np.unique(a.values[rows])):
            return False
    return True


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
        "smaller k" + ", or k='auto'" * ("k_scores" not in solution.details),
        "cardinality": f"more than {MAX_CATEGORIES} categories, so that each has few rows to learn "
        "from; group rare ones",
        "copy": "copies of each other, up to scale and shift; one of them is enough",
    }
    return f"{who}: {texts[finding.kind]}"
