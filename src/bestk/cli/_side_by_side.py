"""Several methods on one table: their choices, and the errors of models on them."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from bestk.cli._errors import in_shell_words
from bestk.cli._options import Request
from bestk.cli._progress import Talk
from bestk.data.files import Loaded
from bestk.evaluation import error_curves, shared_tasks
from bestk.problem.solution import Solution
from bestk.selection.methods import Method
from bestk.selection.reading import Reading
from bestk.selection.selector import SelectBestK
from bestk.selection.task import Task, tell


def choose(
    loaded: Loaded, k: int, methods: dict[str, Method], request: Request, talk: Talk
) -> dict[str, Any]:
    """What each method selects from all rows, and how much of it is the same.

    Each reads the information that belongs to it; the value of all choices is by that of the first.
    """
    selector = SelectBestK(k, include=list(request.include), **request.options())
    with talk.stage("estimating mutual information"):
        tasks = shared_tasks(selector, loaded.table, loaded.y, methods)
    solutions = {}
    for name, task in tasks.items():
        for note in task.notes:
            talk.note(in_shell_words(note))
        with talk.stage(f"selecting by {name}"):
            solutions[name] = task.solution(k)
    first = next(iter(tasks.values()))
    chosen = {name: set(s.support.tolist()) for name, s in solutions.items()}
    return {
        name: {
            "features": [str(loaded.table.names[place]) for place in s.support],
            "value": _value(first, s),
            "objective": float(s.objective),
            "upper_bound": float(s.upper_bound),
            "gap": float(s.gap),
            "seconds": float(s.seconds),
            "shared": {other: len(chosen[name] & chosen[other]) for other in chosen},
        }
        for name, s in solutions.items()
    }


def _value(task: Task, solution: Solution) -> float:
    """The sum of all pairs of a choice, as one task reads them."""
    varying = solution.support[np.isin(solution.support, task.allowed)]
    places = np.searchsorted(task.allowed, varying)
    return float(tell(task.read, places)["pairs"].sum())


def refuse_folds(loaded: Loaded, request: Request, cv: int) -> None:
    """Refuse more folds than the rows of the largest class, of which each fold has one."""
    continuous = Reading(target=request.target_kind).is_continuous(loaded.y)
    most = len(loaded.y) if continuous else max(Counter(loaded.y.tolist()).values())
    if most < cv:
        fewer = f"--cv {most}, or " if most > 1 else ""
        what = "rows" if continuous else "rows of any class"
        raise ValueError(
            f"--cv {cv} is more than the {most} {what}; pass {fewer}--cv 0 to skip the errors"
        )


def measure_errors(
    loaded: Loaded, k: int, methods: dict[str, Method], request: Request, talk: Talk, cv: int,
    keep: Path | None = None,
) -> dict[str, dict[str, float]]:  # fmt: skip
    """The cross-validated error of each method, and its deviation over the folds."""
    with talk.stage(f"{cv}-fold cross-validation") as report:
        curves = error_curves(
            loaded.table,
            loaded.y,
            methods,
            [k],
            cv=cv,
            progress=report,
            keep=keep,
            include=list(request.include),
            **(request.options() | {"random_state": request.seed or 0}),  # the same folds each time
        )
    errors = {name: curves.errors(name)[0] for name in methods}
    return {
        name: {"error": float(each.mean()), "error_deviation": float(each.std(ddof=1))}
        for name, each in errors.items()
    }
