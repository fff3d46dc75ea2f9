"""What "auto" stands for: the information that belongs to a method."""

from dataclasses import dataclass
from typing import Any

from bestk.selection.methods import get_method
from bestk.selection.objectives import get_objective

PAPER = "caim"  # levels, as the paper makes them
STEADY = ("mdlp", "chance")  # levels and correction, where counts have to do without a blend


@dataclass(frozen=True)
class Information:
    """How a table is to be read: nothing is left open."""

    information: str
    discretizer: Any
    correction: Any


def settle(options: Any, *, blocks: bool = False) -> Information:
    """The information that a selector asks for, or that belongs to its method.

    The default and the objectives ``shared`` and ``balanced`` read a blend, or counts corrected
    for chance; all others read counts of the bins that CAIM makes, as in the paper.
    """
    information, discretizer, correction = (
        options.information, options.discretizer, options.correction,
    )  # fmt: skip
    if information == "auto":
        information = _belonging_to(options.method)
    levels, steady = STEADY
    corrected = "blend" in (information, _belonging_to(options.method))
    if information == "blend" and blocks:
        information, discretizer = "discrete", levels if _is_auto(discretizer) else discretizer
    if information == "discrete" and corrected:
        correction = correction or steady
    if information != "blend" and _is_auto(discretizer):
        discretizer = PAPER
    return Information(information, discretizer, correction)


def _belonging_to(method: Any) -> str:
    objective = getattr(get_method(method), "objective", None)
    return "discrete" if objective is None else get_objective(objective).information


def _is_auto(discretizer: Any) -> bool:
    return isinstance(discretizer, str) and discretizer == "auto"
