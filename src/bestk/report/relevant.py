"""Which columns carry any information, for the report."""

from typing import Any

import numpy as np

from bestk.data.features import find_features
from bestk.problem.solution import Solution
from bestk.report.records import Relevant, RelevantColumn
from bestk.report.text import format_text
from bestk.selection.pipeline import Task
from bestk.selection.relevant import SelectRelevant

MAX_PAIR_WORK = 1e11  # squared columns times rows: about half a second on two cores


def find_relevant(options: Any, task: Task, y: Any, solution: Solution) -> Relevant:
    """Test the columns that could be selected; in pairs where that takes no time to speak of."""
    places = np.sort(np.concatenate([task.allowed, task.constant]))
    table = task.table.keep(places)
    categorical = find_features(options.categorical_features, task.table)
    found = SelectRelevant(
        pairs=len(places) ** 2 * table.n_samples <= MAX_PAIR_WORK,
        categorical_features=np.flatnonzero(np.isin(places, categorical)),
        target=options.target,
        n_jobs=options.n_jobs,
    ).fit(table, y)
    rank = {int(place): i for i, place in enumerate(solution.support, 1)}
    names = [format_text(name) for name in table.names]
    order = np.flatnonzero(found.support_)
    order = order[np.argsort(found.pvalues_[order], kind="stable")]
    columns = tuple(
        RelevantColumn(
            names[j], names[found.partners_[j]] if found.in_pair_[j] else "",
            float(found.scores_[j]), float(found.qvalues_[j]), rank.get(int(places[j])),
        )
        for j in order
    )  # fmt: skip
    return Relevant(len(places), found.fdr, found.pairs, found.n_permutations_, columns)
