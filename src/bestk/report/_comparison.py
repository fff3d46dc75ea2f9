"""What other methods would have selected, and how well they predict."""

from typing import Any
from warnings import catch_warnings

from bestk.data.table import Table
from bestk.evaluation import shared_tasks
from bestk.problem.solution import Solution
from bestk.report._curves import Progress, measure
from bestk.report._facts import Choice, Comparison, Errors
from bestk.report._own_curves import cross_validated
from bestk.report._text import shown
from bestk.selection.methods import Method, get_method

OTHERS = ("maxrel", "mrmr", "jmi")


def compare(
    options: Any, X: Any, table: Table, y: Any, solution: Solution, *, errors: bool = True,
    progress: Progress | None = None,
) -> Comparison:  # fmt: skip
    """Select by other methods, and measure errors in folds unless told not to, or impossible."""
    ours = method_name(options.method)
    methods: dict[str, Any] = {ours: options.method}
    methods |= {name: name for name in OTHERS if name != ours}
    choices = _choices(
        options, table, y, solution, {name: get_method(method) for name, method in methods.items()}
    )
    chosen_in_folds = hasattr(options, "cv_results_")
    if not errors and not chosen_in_folds:
        return Comparison(choices, None, "They were not asked for.")
    known: Errors
    try:
        if chosen_in_folds:
            wanted = methods if errors else {ours: options.method}
            known = cross_validated(options, X, y, wanted, progress)
        else:
            known = measure(options, table, y, solution.k, methods, progress)
    except ValueError as error:
        why = shown(" ".join(str(error).split()), 400)
        return Comparison(choices, None, f"They cannot be measured here: {why}.")
    return Comparison(choices, known)


def method_name(method: Any) -> str:
    """What a method is called."""
    return method if isinstance(method, str) else shown(repr(method))


def _choices(
    options: Any, table: Table, y: Any, solution: Solution, methods: dict[str, Method]
) -> tuple[Choice, ...]:
    ours, *others = methods
    supports = {ours: tuple(solution.support.tolist())}
    with catch_warnings(action="ignore"):  # what is to be said of the table was said of ours
        tasks = shared_tasks(options, table, y, {name: methods[name] for name in others})
        for name, task in tasks.items():
            (found,) = task.path([solution.k])
            supports[name] = tuple(found.support.tolist())
    mine = set(supports[ours])
    return tuple(Choice(name, s, len(mine & set(s))) for name, s in supports.items())
