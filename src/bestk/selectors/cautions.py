"""Warnings about selected features: leaks, identifiers, noise, copies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, entr

from bestk._cached import cached_property
from bestk._typing import Array, Floats, Indices
from bestk.bqp.solution import Solution
from bestk.discretize import MDLP
from bestk.errors import SelectionWarning
from bestk.information import Entropies
from bestk.information.block_information import BlockInformation
from bestk.information.measures import CMI
from bestk.information.reading import Reading, cut_numbers
from bestk.methods.forward import find_pairs
from bestk.native.threads import calm_blas
from bestk.selectors import leaks, look, significance
from bestk.selectors.pipeline import Task
from bestk.tables.table import Table, find_numeric
from bestk.tables.target import NumericTarget, Target

MAX_NAMES = 8  # columns that a sentence names
MAX_COLUMNS = 1_000  # of a selection that are looked at
MAX_CATEGORIES = 50  # of a column without a warning
FALSE_DISCOVERY_RATE = 0.1
COPY_ROWS = 250  # rows that show most differences between columns
COPY_TOLERANCE = 1e-12  # of 1 - |correlation|
CLEARLY = FALSE_DISCOVERY_RATE / 100  # a p-value below it needs no better test
MIN_GAIN_OF_CUTS = 30.0  # twice the log of a likelihood ratio that cuts chosen for y may gain


@dataclass(frozen=True)
class Finding:
    """Columns with the same problem, by their places in the table."""

    kind: str
    places: tuple[int, ...]


@dataclass(frozen=True)
class _Selected:
    """The selected columns that vary, by their places, and what is known of them."""

    task: Task
    places: Indices
    columns: list[look.Values]
    relevance: Floats
    pairs: Floats  # I(xj; y | xi) at [i, j]

    @classmethod
    def of(cls, task: Task, solution: Solution) -> "_Selected":
        constant = task.table.mask(task.constant)
        here = np.flatnonzero(~constant[solution.support])[:MAX_COLUMNS]
        places = solution.support[here]
        here, places = here[np.argsort(places)], np.sort(places)
        columns = [look.column_values(task.table, place) for place in places]
        relevance, pairs = solution.details["relevance"], solution.details["pairs"]
        return cls(task, places, columns, relevance[here], pairs[np.ix_(here, here)])

    @cached_property
    def target(self) -> Target | None:
        """The target, if it has classes; bins of equal frequency for a continuous one."""
        try:
            target = self.task.target
            return target if target and target.classes else None
        except ValueError:
            return None

    def keep(self, items: Any) -> tuple[Table, Indices]:
        """The table of some of the selected columns, and those that were not counted as numbers."""
        return self.keep_places(self.places[items])

    def keep_places(self, places: Indices) -> tuple[Table, Indices]:
        """The table of the columns at some places, and those that were not counted as numbers."""
        read = self.task.read
        numeric = self.task.allowed
        if read.discretised is not None:
            numeric = numeric[read.discretised]
        elif read.levels is not None:
            numeric = numeric[[]]
        table = self.task.table
        return table.keep(places), np.flatnonzero(~table.mask(numeric)[places])

    def columns_to_compare(self, count: int, without: Indices) -> Indices:
        """The places of the columns of largest relevance, selected or not, in rising order.

        As many are spread over the others, more densely where relevance is large: where very many
        columns predict as well as the best, there are ordinary ones among these.
        """
        places = np.setdiff1d(self.task.allowed, without)
        order = np.argsort(-self.task.relevance()[places], kind="stable")
        if len(order) <= count:
            return places
        spread = np.geomspace(count, len(order) - 1, count).astype(np.int64)
        return np.sort(places[order[np.unique([*range(count), *spread.tolist()])]])


def with_warnings(task: Task, solution: Solution) -> Solution:
    """The solution with sentences on how the table was read and on what was selected."""
    found = [describe(each, task.table.names, solution) for each in find_cautions(task, solution)]
    return replace(solution, warnings=(*solution.warnings, *task.notes, *found))


def warn_of(solution: Solution) -> None:
    """Issue all warnings of a solution as one."""
    if solution.warnings:
        warn("\n".join(solution.warnings), SelectionWarning, stacklevel=3)


def find_cautions(task: Task, solution: Solution) -> list[Finding]:
    """Problems of selected columns."""
    if len(task.targets) > 1:
        each = [find_cautions(part, part.described(solution)) for part in task.parts]
        return _join_findings(each)
    constant = solution.support[np.isin(solution.support, task.constant)].tolist()
    selected = _Selected.of(task, solution)
    columns = selected.columns
    names = [str(task.table.names[place]) for place in selected.places]
    naming = [i for i, column in enumerate(columns) if look.names_rows(names[i], column)]
    others = [i for i in range(len(columns)) if i not in naming]
    many = [i for i in others if len(columns[i].categories or ()) > MAX_CATEGORIES]
    measured = [i for i, each in enumerate(columns) if i in others or each.categories is None]
    copies = find_copies([columns[i] for i in others])
    found = [
        ("leak", _leaks(selected, measured)),
        ("identifier", naming),
        ("chance", _at_chance(selected, others)),
        ("cardinality", many),
        *(("copy", [others[i] for i in group]) for group in copies),
    ]
    findings = [
        Finding(kind, tuple(selected.places[items].tolist())) for kind, items in found if items
    ]
    return [Finding("constant", tuple(constant)), *findings] if constant else findings


def find_copies(columns: list[look.Values]) -> list[list[int]]:
    """Groups of columns that are copies of each other, see :func:`are_copies`."""
    if len(columns) < 2:
        return []
    some = slice(0, None, max(1, len(columns[0].values) // COPY_ROWS))
    groups, known = list[list[int]](), set[int]()
    for i, row in enumerate(np.triu(are_copies(columns, some), 1)):
        others = [] if i in known else np.flatnonzero(row).tolist()
        same = [j for j in others if are_copies([columns[i], columns[j]], slice(None))[0, 1]]
        known.update(same)
        groups += [[i, *same]] if same else []
    return groups


def are_copies(columns: list[look.Values], rows: slice) -> NDArray[np.bool_]:
    """Which columns are equal in some rows, up to scale and shift or the names of categories."""
    values = [column.values[rows] for column in columns]
    missing = np.array([c.block.missing(v) for c, v in zip(columns, values, strict=True)])
    words = np.array([column.categories is not None for column in columns])
    alike = _are_proportional(np.array(values, np.float64), missing)
    if words.any():
        renamed = _are_proportional(np.array([*map(_number_levels, values)]), missing)
        alike = np.where(words | words[:, np.newaxis], renamed, alike)
    for a, b in np.argwhere(alike):
        alike[a, b] = (missing[a] == missing[b]).all()
    return alike


def _are_proportional(values: Floats, missing: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows of a matrix have a correlation of 1 or -1."""
    values = look.standardized(values, missing)
    with calm_blas(values.size * len(values)):
        return np.asarray(np.abs(values @ values.T) > 1 - COPY_TOLERANCE)


def _number_levels(values: Array) -> Floats:
    """The levels of a column, numbered in the order of their first rows; zeros if all differ."""
    levels, first, codes = np.unique(values, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes].astype(np.float64) * (len(levels) < len(values))


def _join_findings(each: list[list[Finding]]) -> list[Finding]:
    """The findings for any of several targets; columns at chance level only for all of them."""
    found = list(dict.fromkeys(finding for findings in each for finding in findings))
    chance = [{j for f in findings if f.kind == "chance" for j in f.places} for findings in each]
    places = tuple(sorted(set.intersection(*chance)))
    joined = [finding for finding in found if finding.kind != "chance"]
    return [*joined, Finding("chance", places)] if places else joined


def _leaks(selected: _Selected, candidates: list[int]) -> list[int]:
    """Columns that predict the target alone so much better than others that they may be leaks."""
    target = selected.target
    if target is None or not leaks.can_be_judged(target):
        return []
    shares = target.classes.sizes / target.classes.sizes.sum()
    least = leaks.MIN_RELEVANCE * entr(shares).sum()
    is_relevant = selected.relevance > least
    if selected.task.read.levels is None:  # Gaussian estimates do not see what missing values tell
        is_relevant |= [column.missing.any() for column in selected.columns]
    relevant = np.array([i for i in candidates if is_relevant[i]], np.int64)
    if not len(relevant):
        return []
    predictions = leaks.predict_alone(*selected.keep(relevant), target)
    if not predictions.are_suspects().any():
        return []
    others = selected.columns_to_compare(leaks.N_COMPARED, without=selected.places[relevant])
    compared = leaks.predict_alone(*selected.keep_places(others), target)
    return relevant[predictions.are_leaks(compared)].tolist()


def _at_chance(selected: _Selected, candidates: list[int]) -> list[int]:
    """Columns without a significant relation to y, alone or given any one selected column."""
    if selected.target is None or not candidates:
        return []
    task, target = selected.task, selected.target
    relevances = np.sort(task.read.entropies.mi())
    ranks = len(relevances) - np.searchsorted(relevances, selected.relevance)
    # columns that were screened out have been tested, too
    n_tests = len(relevances) + (0 if task.screened is None else len(task.constant))
    tests = n_tests / np.maximum(1, ranks)  # corrects p-values (Benjamini, Hochberg 1995)
    if isinstance(task.read.entropies, BlockInformation):
        # Blocks and counts are two tests of the same column. Counts do not know of covariates.
        tests = tests if len(task.covariates) else 2 * tests
        doubtful = _doubtful_blocks(selected, np.array(candidates), tests, n_tests)
    else:
        clear = _are_clear(selected, target.classes.n_classes, tests, n_tests)
        doubtful = np.array([i for i in candidates if not clear[i]], np.int64)
    if not len(task.covariates):
        doubtful = _doubtful_counts(selected, np.array(candidates), doubtful, tests, n_tests)
    return _without_groups_of_others(selected, doubtful)


def _without_groups_of_others(selected: _Selected, doubtful: Indices) -> list[int]:
    """The doubtful columns, less those of groups with others, which are selected as a whole."""
    groups = selected.task.groups
    if len(doubtful) and groups is not None:
        own = groups[selected.places]
        doubtful = doubtful[~np.isin(own[doubtful], np.delete(own, doubtful))]
    return doubtful.tolist()


def _doubtful_blocks(
    selected: _Selected, candidates: Indices, tests: Floats, n_tests: int
) -> Indices:
    """Candidates whose blocks have no significant relation to y, alone or given one other.

    Those are the blocks by which they were selected: scores, curves, bins and levels. With
    covariates, all of it is given these. ``tests``: how many tests each selected column stands for
    by itself; ``n_tests``: at most.
    """
    information = selected.task.read.entropies
    if not isinstance(information, BlockInformation) or not len(candidates):
        return candidates
    items = np.searchsorted(selected.task.allowed, selected.places)
    alone = information.among(items).pvalues()
    doubtful = candidates[alone[candidates] * tests[candidates] >= FALSE_DISCOVERY_RATE]
    if len(doubtful) and len(candidates) > 1:
        given = information.pvalues_given(items[candidates]).min(axis=0) * (len(candidates) - 1)
        given = given[np.searchsorted(candidates, doubtful)]
        doubtful = doubtful[given * n_tests >= FALSE_DISCOVERY_RATE]
    if len(doubtful) and len(selected.task.covariates):
        # Without covariates, pairs are tested by counts.
        paired = _paired_features(information, items)
        doubtful = doubtful[~np.isin(items[doubtful], paired)]
    return doubtful


def _paired_features(information: BlockInformation, features: Indices) -> Indices:
    """Which of some features have synergy with another one of them."""
    pairs = find_pairs(information).pairs
    first = np.array([pair.first for pair in pairs], np.int64)
    second = np.array([pair.second for pair in pairs], np.int64)
    has_both = np.isin(first, features) & np.isin(second, features)
    return np.union1d(first[has_both], second[has_both])


def _doubtful_counts(
    selected: _Selected, candidates: Indices, doubtful: Indices, tests: Floats, n_tests: int
) -> Indices:
    """Those of the doubtful candidates that show no relation to y by trends and counts in bins.

    ``tests`` and ``n_tests`` are those of :func:`_doubtful_blocks`.
    """
    target = selected.target
    if target is not None and len(doubtful):
        p = _alone_pvalues(*selected.keep(doubtful), target)
        doubtful = doubtful[p * tests[doubtful] >= FALSE_DISCOVERY_RATE]
    if target is not None and len(doubtful) and len(candidates) > 1:
        p = _given_pvalues(*selected.keep(candidates), target)
        p = p[np.searchsorted(candidates, doubtful)]
        doubtful = doubtful[p * n_tests >= FALSE_DISCOVERY_RATE]
    return doubtful


def _alone_pvalues(table: Table, categorical: Indices, target: Target) -> Floats:
    """P-values of columns by themselves; with weights by the effective number of rows."""
    if target.weights is None:
        prepared = significance.PreparedTarget.of(target)
        return significance.alone_pvalues(table, categorical, [prepared])[0][0]
    classes, numeric = target.classes, find_numeric(table, categorical)
    n_bins = int(np.clip(target.n_rows**0.5 / 3, significance.MIN_BINS, significance.MAX_BINS))
    bins = cut_numbers(table, numeric, n_bins)
    degrees = (bins.levels - 1) * (classes.n_classes - 1)
    ratios = 2 * target.n_rows * Entropies.count(bins, classes).mi()
    p = _likelihood_pvalues(ratios, degrees)
    if len(numeric):
        normal = Reading("gaussian").measure(table.keep(numeric), target).entropies.mi()
        degrees = np.full(
            len(numeric), 1 if isinstance(target, NumericTarget) else classes.n_classes - 1
        )
        lines = _likelihood_pvalues(2 * target.n_rows * normal, degrees)
        p[numeric] = 2 * np.minimum(p[numeric], lines)
    return np.asarray(p)


def _given_pvalues(table: Table, categorical: Indices, target: Target) -> Floats:
    """P-values of columns given their best partner; with weights by the effective rows."""
    classes = target.classes
    if target.weights is None:
        classes = significance.PreparedTarget.of(target).classes
    codings = significance.codes_for_pairs(table, categorical, target.n_rows, classes.n_classes)
    codes = next(codings)
    if target.weights is None:
        return significance.given_pvalues(codes, classes)
    given = Entropies.count(codes, classes).measure(CMI)  # I(xj; y | xi) at [i, j]
    degrees = np.outer(codes.levels, codes.levels - 1) * (classes.n_classes - 1)
    p = _likelihood_pvalues(2 * target.n_rows * given, degrees)
    np.fill_diagonal(p, 1.0)
    return np.asarray(p.min(axis=0) * max(1, codes.n_features - 1))


def _likelihood_pvalues(ratios: Floats, degrees: Indices) -> Floats:
    """The tails of chi-square; 1 without degrees of freedom, which constant columns have."""
    return np.where(degrees > 0, chdtrc(np.maximum(degrees, 1), ratios), 1.0)


def _are_clear(
    selected: _Selected, n_classes: int, tests: Floats, most_tests: int
) -> NDArray[np.bool_]:
    """Whether likelihood ratios, alone or given one other, show that a column is related to y.

    ``tests``: how many tests a column stands for by itself; ``most_tests``: at most.
    """
    task, n, rows = selected.task, len(tests), selected.task.targets[0].n_rows
    levels, gains = np.full(n, 2), np.full(n, MIN_GAIN_OF_CUTS)  # of normal columns
    if task.read.levels is not None:
        here = np.searchsorted(task.allowed, selected.places)
        levels, cut = task.read.levels[here], task.read.discretised
        # a cut is the best of as many places as there are rows; few of noise pass MDLP
        per_cut = 0.0 if type(task.read.discretizer) is MDLP else 2 * np.log(rows)
        gains = np.maximum(MIN_GAIN_OF_CUTS, (levels - 1) * per_cut)
        gains[~np.isin(here, () if cut is None else cut)] = 0.0
    degrees = np.maximum(1, levels - 1) * (n_classes - 1)
    in_pairs = np.outer(levels, degrees)
    best = (2 * rows * selected.pairs - in_pairs).argmax(axis=0), np.arange(n)

    def are_large(information: Floats, degrees: Indices, tests: Any) -> NDArray[np.bool_]:
        # what chance gives on average is taken off, as if the estimate were not corrected for it
        ratios = np.maximum(0.0, 2 * rows * information - degrees - gains)
        return np.asarray(chdtrc(degrees, ratios) * tests < CLEARLY)

    alone = are_large(selected.relevance, degrees, tests)
    return alone | are_large(selected.pairs[best], in_pairs[best], n * most_tests)


def describe(finding: Finding, names: Sequence[str], solution: Solution) -> str:
    """A sentence on a finding."""
    quoted = [repr(str(names[j])) for j in finding.places]
    more = f" and {len(quoted) - MAX_NAMES} more" if len(quoted) > MAX_NAMES else ""
    who, one = ", ".join(quoted[:MAX_NAMES]) + more, len(quoted) == 1
    it, they = ("it", "it is") if one else ("them", "they are")
    texts = {
        "constant": f"constant, and selected because k={solution.k} is more than the columns that "
        "vary; use a smaller k",
        "leak": f"{'' if one else 'each '}nearly determines the target alone, a possible leak; "
        f"exclude {it} if {they} not known at the time of prediction",
        "identifier": f"a different value in most rows, as an identifier has; exclude {it} if "
        f"{'it only names' if one else 'they only name'} rows",
        "chance": "selected, but no more related to the target than chance would give; use a "
        "smaller k" + ", or k='auto'" * ("k_scores" not in solution.details),
        "cardinality": f"more than {MAX_CATEGORIES} categories, so that each has few rows to learn "
        "from; group rare ones",
        "copy": "copies of each other, up to scale and shift, or the names of categories; one of "
        "them is enough",
    }
    return f"{who}: {texts[finding.kind]}"
