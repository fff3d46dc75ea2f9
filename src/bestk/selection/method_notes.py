"""One line on each method, from the docstrings of its parts."""

from typing import Any

from bestk.selection.criteria import get_criterion
from bestk.selection.methods import METHODS, Greedy, Quadratic, get_method
from bestk.selection.objectives import get_objective
from bestk.solvers import get_solver


def describe_method(method: str) -> str:
    """The first line of the docstring of the criterion, the solver, or the objective.

    Q is the matrix with I(xi; y) on its diagonal and I(xi; y | xj) elsewhere; j runs over the
    features that are already selected.

    Examples
    --------
    >>> describe_method("jmi")
    'Joint mutual information: sum I(xi, xj; y) (Yang and Moody 1999)'
    """
    found: Any = get_method(method)
    settings = ""
    if isinstance(found, Greedy):
        settings = "" if isinstance(found.criterion, str) else f"; {found.criterion!r}"
        found = get_criterion(found.criterion)
    elif isinstance(found, Quadratic) and found.objective == "cmi":
        found = get_solver(found.solver)
    elif isinstance(found, Quadratic):
        settings = f"; solver {found.solver}"
        found = get_objective(found.objective)
    line = (type(found).__doc__ or "").partition("\n")[0]
    return line.replace("``", "").rstrip(".") + settings


def method_title(method: str) -> str:
    """The name of a method in words; empty for a method that is not in METHODS."""
    return describe_method(method).partition(":")[0] if method in METHODS else ""
