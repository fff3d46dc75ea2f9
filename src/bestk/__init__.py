"""Pick the best k features together."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestk.bqp.bounds import upper_bound
    from bestk.bqp.problem import BQP
    from bestk.bqp.solution import Solution
    from bestk.bqp.solvers import SOLVERS, solve, solve_path
    from bestk.discretize import CAIM, MDLP, EqualFrequency, EqualWidth, Sigma
    from bestk.errors import SelectionWarning
    from bestk.evaluation import error_curves
    from bestk.information import Entropies, cmi_matrix, joint_mi_matrix, mutual_information
    from bestk.methods.registry import METHODS, Greedy, Quadratic
    from bestk.selectors.relevant import SelectRelevant, pair_scan
    from bestk.selectors.selector import SelectBestK, select
    from bestk.selectors.selector_cv import SelectBestKCV
    from bestk.selectors.stability import stability_selection
    from bestk.tables.codes import Codes, encode

__version__ = version("bestk")

# Heavy names are resolved when first used, so that `import bestk` stays light.
_HOMES = {
    "bestk.bqp.bounds": ("upper_bound",),
    "bestk.tables.codes": ("Codes", "encode"),
    "bestk.discretize": ("CAIM", "MDLP", "EqualFrequency", "EqualWidth", "Sigma"),
    "bestk.errors": ("SelectionWarning",),
    "bestk.evaluation": ("error_curves",),
    "bestk.information": ("Entropies", "cmi_matrix", "joint_mi_matrix", "mutual_information"),
    "bestk.methods.registry": ("METHODS", "Greedy", "Quadratic"),
    "bestk.bqp.problem": ("BQP",),
    "bestk.selectors.relevant": ("SelectRelevant", "pair_scan"),
    "bestk.selectors.selector": ("SelectBestK", "select"),
    "bestk.selectors.selector_cv": ("SelectBestKCV",),
    "bestk.selectors.stability": ("stability_selection",),
    "bestk.bqp.solution": ("Solution",),
    "bestk.bqp.solvers": ("SOLVERS", "solve", "solve_path"),
}
# found as attributes, without an import of their own
_MODULES = ("evaluation", "plots", "report")
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BQP", "CAIM", "MDLP", "METHODS", "SOLVERS", "Codes", "Entropies", "EqualFrequency",
    "EqualWidth", "Greedy", "Quadratic", "SelectBestK", "SelectBestKCV", "SelectRelevant",
    "SelectionWarning", "Sigma", "Solution", "cmi_matrix", "encode", "error_curves",
    "joint_mi_matrix", "mutual_information", "pair_scan", "select", "solve", "solve_path",
    "stability_selection", "upper_bound",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"bestk.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'bestk' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, *_MODULES])
