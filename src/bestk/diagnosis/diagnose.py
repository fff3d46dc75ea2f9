"""Diagnose: what a person should be warned of, once features are selected."""

from collections.abc import Sequence
from dataclasses import replace

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
    support = solution.support
    selected = SelectedColumns.of(information, solution)
    columns = selected.columns
    naming = [i for i, name in enumerate(selected.names) if names_rows(name, columns[i])]
    others = [i for i in range(len(columns)) if i not in naming]
    # Numbers that name rows may restate the target, such as times in the order of which rows came.
    may_leak = [i for i in range(len(columns)) if i in others or columns[i].categories is None]
    n_categories = [len(columns[i].categories or ()) for i in others]
    wide = [i for i, count in zip(others, n_categories, strict=True) if count > MAX_CATEGORIES]

    def places_of(numbers: Sequence[int]) -> list[int]:
        return selected.places[list(numbers)].tolist()

    findings = []
    constant = support[np.isin(support, information.constant)].tolist()
    if constant:
        findings.append(constant_columns(constant, names, solution.k))
    leaking = find_leaks(selected, may_leak)
    if leaking:
        findings.append(leaking_columns(places_of(leaking), names))
    if naming:
        findings.append(identifiers(places_of(naming), names))
    at_chance = find_at_chance(selected, others)
    if at_chance:
        findings.append(_at_chance(places_of(at_chance), names, solution))
    if wide:
        findings.append(many_categories(places_of(wide), names))
    groups_of_copies = find_copies([columns[i] for i in others])
    copies = [places_of([others[i] for i in group]) for group in groups_of_copies]
    return [*findings, *(copied_columns(places, names) for places in copies)]


def _diagnose_targets(information: Information, solution: Solution) -> list[Finding]:
    """The findings for any of several targets; columns at chance level only for all of them."""
    findings_of_targets = []
    for of_target in information.of_targets():
        details = {**solution.details, **of_target.details_of(solution.support)}
        findings_of_targets.append(diagnose(of_target, replace(solution, details=details)))
    joined: dict[Finding, None] = {}
    at_chance: list[set[int]] = []
    for findings in findings_of_targets:
        joined |= dict.fromkeys(finding for finding in findings if finding.kind != "chance")
        places = [finding.places for finding in findings if finding.kind == "chance"]
        at_chance.append(set().union(*places))
    for_all = sorted(set.intersection(*at_chance))
    if for_all:
        names = information.dataset.table.names
        return [*joined, _at_chance(for_all, names, solution)]
    return list(joined)


def _at_chance(places: Sequence[int], names: Sequence[object], solution: Solution) -> Finding:
    return columns_at_chance(places, names, chose_k="k_scores" in solution.details)
