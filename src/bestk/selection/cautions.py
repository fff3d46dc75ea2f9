"""What to know before trusting selected features, found in their columns alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from bestk.data.codes import Target
from bestk.errors import SelectionWarning
from bestk.problem.solution import Solution
from bestk.selection._independence import Graded, grade, p_given, p_value
from bestk.selection.look import Values, column_values, determines, names_rows
from bestk.selection.reading import Reading
from bestk.selection.task import Task

__all__ = ["Finding", "find_cautions", "warn_of", "with_warnings"]

NAMED = 8  # columns that a sentence names
MOST_COLUMNS = 1_000  # of a selection that are looked at
MANY_LEVELS = 50  # categories of a column
FALSE_DISCOVERIES = 0.1  # share of columns as related to y as this one that chance may give
CLEARLY = 40.0  # twice the log of a likelihood ratio that chance does not give
NEAR_ENTROPY = 0.6  # share of H(y); less, and a column does not determine y
FIRST_LOOK = 20_000  # rows that show most relations
COPY_ROWS = 1_000  # rows that show that two columns are no copies
ALIKE = 1e-6  # differences of standardised values that are rounding


@dataclass(frozen=True)
class Finding:
    """Columns of which something is to be known, by their places in the table."""

    kind: str
    places: tuple[int, ...]


@dataclass(frozen=True)
class _Selected:
    """The selected columns that vary, what was measured of them, and the classes of the rows."""

    task: Task
    places: list[int]
    columns: list[Values]
    relevance: NDArray[np.float64]
    pairs: NDArray[np.float64]
    target: Target | None

    @classmethod
    def of(cls, task: Task, solution: Solution) -> "_Selected":
        here = np.flatnonzero(~np.isin(solution.support, task.constant))[:MOST_COLUMNS]
        places = solution.support[here].tolist()
        columns = [column_values(task.table, place) for place in places]
        pairs = np.asarray(solution.details["pairs"])[np.ix_(here, here)]
        relevance = np.asarray(solution.details["relevance"])[here]
        return cls(task, places, columns, relevance, pairs, _classes(task))

    def name(self, i: int) -> str:
        return str(self.task.table.names[self.places[i]])

    def finding(self, kind: str, found: Iterable[int]) -> list[Finding]:
        places = tuple(self.places[i] for i in found)
        return [Finding(kind, places)] if places else []


def with_warnings(task: Task, solution: Solution) -> Solution:
    """The solution with sentences on how the table was read and on what was selected."""
    names = task.table.names
    found = [describe(each, names, solution) for each in find_cautions(task, solution)]
    return replace(solution, warnings=(*solution.warnings, *task.notes, *found))


def warn_of(solution: Solution, stacklevel: int = 3) -> None:
    """Warn once of all that is to be known."""
    if solution.warnings:
        warn("\n".join(solution.warnings), SelectionWarning, stacklevel=stacklevel)


def find_cautions(task: Task, solution: Solution) -> list[Finding]:
    """What is to be known of selected columns; nothing of those that are not held in memory."""
    if not task.table.blocks:
        return []
    constant = solution.support[np.isin(solution.support, task.constant)].tolist()
    found = [Finding("constant", tuple(constant))] if constant else []
    selected = _Selected.of(task, solution)
    naming = [i for i, column in enumerate(selected.columns)
              if names_rows(selected.name(i), column)]  # fmt: skip
    others = [i for i in range(len(selected.columns)) if i not in naming]
    found += selected.finding("leak", _leaks(selected, others))
    found += selected.finding("identifier", naming)
    found += selected.finding("chance", _at_chance(selected, others))
    found += selected.finding("cardinality", [i for i in others if _many_levels(selected, i)])
    return found + _copies(selected, others)


def _classes(task: Task) -> Target | None:
    """The classes of the rows; those of equal frequency, of a continuous target."""
    if isinstance(task.read.target, Target):
        return task.read.target
    try:
        return Reading(target="continuous").classes(task.y, task.table.n_samples)
    except ValueError:
        return None


def _leaks(selected: _Selected, candidates: list[int]) -> list[int]:
    """Columns that alone nearly determine the target."""
    target = selected.target
    if target is None:
        return []
    share = target.counts / target.counts.sum()
    least = NEAR_ENTROPY * -float((share * np.log(share)).sum())
    near = [i for i in candidates if selected.relevance[i] > least]
    return [i for i in near if determines(selected.columns[i], target)]


def _many_levels(selected: _Selected, i: int) -> bool:
    levels = selected.columns[i].categories
    return levels is not None and len(levels) > MANY_LEVELS


def _at_chance(selected: _Selected, candidates: list[int]) -> list[int]:
    """Columns no more related to y than chance gives, alone and with any one selected column.

    A column is one of n: it is at chance where more than a tenth of the columns of its relevance
    or more would be expected if none of the n were related to y (Benjamini and Hochberg 1995).
    """
    if selected.target is None:
        return []
    doubtful = [i for i in candidates if not _is_clear(selected, i)]
    everyone = selected.task.read.entropies.mi()
    for rows in _rows(selected.task.table.n_samples):
        classes = selected.target.codes[rows]
        graded: dict[int, Graded] = {}
        doubtful = [
            i for i in doubtful
            if _is_chance(selected, i, everyone, classes, rows, graded)
        ]  # fmt: skip
    return doubtful


def _is_clear(selected: _Selected, i: int) -> bool:
    """Whether the relevance alone shows that it is not chance."""
    task, target = selected.task, selected.target
    assert target is not None
    levels = 2
    if task.read.levels is not None:
        levels = int(task.read.levels[np.searchsorted(task.allowed, selected.places[i])])
    freedom = max(1, levels - 1) * (target.n_classes - 1)
    limit = 2 * freedom + CLEARLY + 2 * np.log(len(task.allowed))
    return bool(2 * task.table.n_samples * selected.relevance[i] > limit)


def _rows(n: int) -> list[Any]:
    """Some of the rows, where they are many, and then all."""
    if n <= FIRST_LOOK:
        return [slice(None)]
    return [np.sort(np.random.default_rng(0).choice(n, FIRST_LOOK, replace=False)), slice(None)]


def _is_chance(
    selected: _Selected, i: int, everyone: NDArray[np.float64], classes: NDArray[np.int64],
    rows: Any, graded: dict[int, Graded],
) -> bool:  # fmt: skip
    def of(j: int) -> Graded:
        if j not in graded:
            graded[j] = grade(selected.columns[j], rows)
        return graded[j]

    n, k = len(everyone), len(selected.columns)
    as_related = max(1, int((everyone >= selected.relevance[i]).sum()))
    if p_value(of(i), classes) * n / as_related < FALSE_DISCOVERIES:
        return False
    others = np.where(np.arange(k) == i, -np.inf, selected.pairs[:, i])
    partner = int(others.argmax())  # with which the column tells most
    return partner == i or p_given(of(i), classes, of(partner)) * n * k > FALSE_DISCOVERIES


def _copies(selected: _Selected, candidates: list[int]) -> list[Finding]:
    """Groups of columns that are the same, up to scale and shift, or to the names of categories."""
    words = [i for i in candidates if selected.columns[i].categories is not None]
    numbers = [i for i in candidates if i not in words]
    pairs = [pair for pair in combinations(words, 2) if _same_levels(selected, *pair)]
    if len(numbers) > 1:
        some = _standardised(selected, numbers, slice(0, COPY_ROWS))
        for a, b in zip(*np.nonzero(np.triu(_are_alike(some), 1)), strict=True):
            both = [numbers[a], numbers[b]]
            if _are_alike(_standardised(selected, both, slice(None)))[0, 1]:
                pairs.append((both[0], both[1]))
    groups: list[list[int]] = []
    for a, b in sorted(pairs):
        group = next((group for group in groups if a in group), None)
        if group is None:
            groups.append([a, b])
        elif b not in group:
            group.append(b)
    return [each for group in groups for each in selected.finding("copy", group)]


def _standardised(selected: _Selected, items: list[int], rows: slice) -> NDArray[np.float64]:
    """Columns of mean 0 and largest size 1; NaN where missing."""
    values = _scaled(np.array([selected.columns[i].values[rows] for i in items], np.float64))
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=1, keepdims=True)
    return _scaled(values - total / np.maximum(known.sum(axis=1, keepdims=True), 1))


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    size = np.nanmax(np.abs(values), axis=1, keepdims=True, initial=0.0)
    return values / np.where(size > 0, size, 1.0)


def _are_alike(Z: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which standardised columns are the same, up to the sign."""
    alike = np.zeros((len(Z), len(Z)), dtype=bool)
    gaps = np.isnan(Z)
    filled = np.where(gaps, 0.0, Z)
    norms = np.sqrt((filled**2).sum(axis=1))
    near = np.abs(filled @ filled.T) > (1 - ALIKE) * np.outer(norms, norms)
    for a, b in zip(*np.nonzero(near), strict=True):
        apart = min(np.abs(filled[a] - filled[b]).max(), np.abs(filled[a] + filled[b]).max())
        alike[a, b] = apart < ALIKE and bool((gaps[a] == gaps[b]).all())
    return alike


def _same_levels(selected: _Selected, i: int, j: int) -> bool:
    """Whether the categories of two columns are the same, but for their names."""
    a, b = selected.columns[i], selected.columns[j]
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
    more = f" and {len(quoted) - NAMED} more" if len(quoted) > NAMED else ""
    who, one = ", ".join(quoted[:NAMED]) + more, len(quoted) == 1
    it = "it" if one else "them"
    if finding.kind == "constant":
        return (f"{who}: constant, and selected because k={solution.k} is more than the columns "
                "that vary; use a smaller k")  # fmt: skip
    if finding.kind == "leak":
        known = "it is" if one else "they are"
        return (f"{who}: {'' if one else 'each '}nearly determines the target alone; exclude {it} "
                f"if {known} not known at the time of prediction")  # fmt: skip
    if finding.kind == "identifier":
        return (f"{who}: a different value in most rows, as an identifier has; exclude {it} if "
                f"{'it only names' if one else 'they only name'} rows")  # fmt: skip
    if finding.kind == "chance":
        return (f"{who}: selected, but no more related to the target than chance would give; "
                "use a smaller k, or k='auto'")  # fmt: skip
    if finding.kind == "cardinality":
        return (f"{who}: more than {MANY_LEVELS} categories, so that each has few rows to learn "
                "from; group rare ones")  # fmt: skip
    return f"{who}: copies of each other, up to scale and shift; one of them is enough"
