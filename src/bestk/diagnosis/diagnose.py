"""Diagnose: what a person should be warned of, once features are selected."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bestk.bqp.solution import Solution
from bestk.diagnosis.chance import find_at_chance
from bestk.diagnosis.copies import find_copies
from bestk.diagnosis.findings import (
    MAX_CATEGORIES,
    Finding,
    columns_at_chance,
    constant_columns,
    copied_columns,
    identifiers,
    leaking_columns,
    many_categories,
)
from bestk.diagnosis.identifiers import names_rows
from bestk.diagnosis.leaks import find_leaks
from bestk.diagnosis.selected import SelectedColumns
from bestk.information.information import Information


def diagnose(information: Information, solution: Solution) -> list[Finding]:
    """Problems of the selected columns.

    ``solution`` has the information of each selected feature in its details.
    """
    if len(information.dataset.targets) > 1:
        return _diagnose_targets(information, solution)
    names = information.dataset.table.names
    selected = SelectedColumns.of(information, solution)
    columns = selected.columns
    kinds = _sort_columns(selected)

    def places_of(numbers: Sequence[int]) -> list[int]:
        """Places in the table of selected columns, by their numbers among these."""
        return selected.places[list(numbers)].tolist()

    findings = []
    is_constant = np.isin(solution.support, information.constant)
    constant = solution.support[is_constant].tolist()
    if constant:
        findings.append(constant_columns(constant, names, solution.k))
    leaking = find_leaks(selected, kinds.may_leak)
    if leaking:
        findings.append(leaking_columns(places_of(leaking), names))
    if kinds.naming:
        findings.append(identifiers(places_of(kinds.naming), names))
    at_chance = find_at_chance(selected, kinds.others)
    if at_chance:
        findings.append(_at_chance(places_of(at_chance), names, solution))
    if kinds.wide:
        findings.append(many_categories(places_of(kinds.wide), names))
    for group in find_copies([columns[i] for i in kinds.others]):
        copies = places_of([kinds.others[i] for i in group])
        findings.append(copied_columns(copies, names))
    return findings


@dataclass(frozen=True)
class _KindsOfColumns:
    """Selected columns, by their numbers among these, and what is to be asked about them."""

    naming: list[int]
    """Those that name rows, as numbers of customers do."""

    others: list[int]
    """All but those: they may be at chance level, or copies of each other."""

    may_leak: list[int]
    """The others, and numbers that name rows."""

    wide: list[int]
    """Those of the others that have very many categories."""


def _sort_columns(selected: SelectedColumns) -> _KindsOfColumns:
    """Find the columns that name rows, and those that have very many categories."""
    naming = []
    others = []
    may_leak = []
    wide = []
    named_columns = zip(selected.names, selected.columns, strict=True)
    for i, (name, column) in enumerate(named_columns):
        if names_rows(name, column):
            naming.append(i)
            # Numbers that name rows may restate the target, such as times in the order of which
            # rows came.
            if column.categories is None:
                may_leak.append(i)
            continue
        others.append(i)
        may_leak.append(i)
        if len(column.categories or ()) > MAX_CATEGORIES:
            wide.append(i)
    return _KindsOfColumns(naming, others, may_leak, wide)


def _diagnose_targets(information: Information, solution: Solution) -> list[Finding]:
    """The findings for any of several targets; columns at chance level only for all of them."""
    findings_of_targets = []
    for of_target in information.of_targets():
        details = {**solution.details, **of_target.details_of(solution.support)}
        solution_of_target = replace(solution, details=details)
        findings_of_targets.append(diagnose(of_target, solution_of_target))
    # The keys are the findings of all targets, each once, in the order in which they came.
    joined: dict[Finding, None] = {}
    at_chance: list[set[int]] = []
    for findings in findings_of_targets:
        places: set[int] = set()
        for finding in findings:
            if finding.kind == "chance":
                places.update(finding.places)
            else:
                joined[finding] = None
        at_chance.append(places)
    for_all = sorted(set.intersection(*at_chance))
    if for_all:
        names = information.dataset.table.names
        return [*joined, _at_chance(for_all, names, solution)]
    return list(joined)


def _at_chance(places: Sequence[int], names: Sequence[object], solution: Solution) -> Finding:
    """The finding about columns at chance level; it says so where k was chosen by the selector."""
    return columns_at_chance(places, names, chose_k="k_scores" in solution.details)
