"""The options that commands share, and the file that they read."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import click

from bestk._cached import cached_property
from bestk.cli._terminal import Messages

AUTO = "auto"  # k chosen by cross-validation
PASSED_ON = ("information", "correction", "bound", "time_limit", "threshold", "scoring")


def parse_k(ctx: Any, param: Any, value: str | None) -> float | str | None:
    """An integer from 1, a fraction up to 1.0, or "auto"."""
    if value in (None, AUTO):
        return value
    try:
        number = int(value) if value.lstrip("+-").isdigit() else float(value)
    except ValueError:
        number = 0
    if not (number >= 1 if isinstance(number, int) else 0 < number <= 1):
        raise click.BadParameter(
            f"{value!r} is not a number of features; pass an integer from 1, a fraction of the "
            f"features such as 0.1, or {AUTO!r}"
        )
    return number


def parse_target(ctx: Any, param: Any, values: tuple[str, ...]) -> str:
    """The column to predict; the last of several must not win silently."""
    if len(values) > 1:
        raise click.BadParameter("pass one column; several targets need Python's SelectBestK")
    return values[0]


def _option(*names: str, default: Any = None, **settings: Any) -> Any:
    """A field, and in its metadata the click option that sets it."""
    settings = {"show_default": isinstance(default, str), "default": default} | settings
    return field(default=default, metadata={"click": click.option(*names, **settings)})


def _choice(name: str, values: tuple[str, ...], help_: str) -> Any:
    return _option(name, default=values[0], type=click.Choice(values), help=help_)


def _column(name: str, help_: str, **settings: Any) -> Any:
    return _option(name, metavar="COL", help=help_, **settings)


@dataclass(frozen=True)
class TableOptions:
    """The options of a command that reads a table, as click declares them."""

    # fmt: off
    file: Path = field(metadata={"click": click.argument(
        "file", type=click.Path(path_type=Path))})
    target: str = field(metadata={"click": click.option(
        "-t", "--target", callback=parse_target, metavar="COL", required=True, multiple=True,
        help="The column to predict.")})
    k: float | str | None = _option(  # None: 10, or all columns where there are fewer
        "-k", callback=parse_k, metavar="N",
        help="Number of features, a fraction of the features in (0, 1], or auto: chosen by "
        "cross-validation. By default 10.")
    method: str = _option(
        "-m", "--method", default="auto", metavar="NAME",
        help="Selection method; `bestk methods` lists them.")
    include: tuple[str, ...] = _column(
        "--include", "A feature that must be selected (repeatable).", multiple=True, default=())
    exclude: tuple[str, ...] = _column(
        "--exclude", "A column to ignore (repeatable).", multiple=True, default=())
    covariates: tuple[str, ...] = _column(
        "--covariates", "A column to adjust for: features are selected for what they add to it "
        "(repeatable).", multiple=True, default=())
    target_kind: str = _choice(
        "--target-kind", ("auto", "classes", "continuous"),
        "Classification or regression; auto: regression for numbers with fractions and for many "
        "different integers.")
    weights: str | None = _column("--weights", "A column of sample weights.")
    groups: str | None = _column(
        "--groups", "A column of groups; rows of a group stay in the same cross-validation fold.")
    scoring: str | None = _option(
        "--scoring", metavar="NAME",
        help="A scorer of scikit-learn for cross-validation, such as roc_auc.")
    threshold: float | None = _option(
        "--threshold", type=click.FloatRange(min=0), metavar="X",
        help="Select only features with at least this new information; -k is the most features.")
    information: str = _choice(
        "--information", ("auto", "discrete", "gaussian", "blend"),
        "Estimate mutual information from counts in bins, from covariances, or as a mean of both; "
        "auto: as the method needs it.")
    correction: str = _choice(
        "--correction", ("none", "miller-madow", "chance"),
        "Subtract the small-sample bias from the estimates.")
    bound: str = _choice(
        "--bound", ("fast", "tight", "none"),
        "How much time to spend on proving how close to optimal the selection is.")
    time_limit: float | None = _option(
        "--time-limit", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS",
        help="Time limit of the solver.")
    seed: int | None = _option(
        "--seed", type=click.IntRange(min=0), metavar="N", help="Random seed.")
    as_json: bool = _option(
        "--json", "as_json", default=False, is_flag=True, help="Print JSON to stdout.")
    quiet: bool = _option(
        "-q", "--quiet", default=False, is_flag=True, help="Print no progress and no notes.")
    # fmt: on

    @property
    def aside(self) -> dict[str, str]:
        """Columns that describe the rows, by the argument of ``fit`` that takes their values."""
        found = {"groups": self.groups, "sample_weight": self.weights}
        return {argument: name for argument, name in found.items() if name is not None}

    @cached_property
    def messages(self) -> Messages:
        """The progress bars and notes of the command."""
        return Messages(self.quiet)

    def options(self) -> dict[str, Any]:
        """Keyword arguments of :class:`bestk.SelectBestK`."""
        values = {name: getattr(self, name) for name in PASSED_ON}
        return {name: None if value == "none" else value for name, value in values.items()} | {
            "target": self.target_kind,
            "include": list(self.include) or None,
            "covariates": list(self.covariates) or None,
            "random_state": self.seed,
        }

    def selector_options(self, k: int | str) -> dict[str, Any]:
        """The same for k features; with a number there is no cross-validation to be scored."""
        options = self.options()
        if k != AUTO:
            options["scoring"] = None
        return options


DECLARED = {each.name: each.metadata["click"] for each in fields(TableOptions)}
debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."
)


def options(*names: str) -> Callable[[Any], Any]:
    """Add the options of these fields to a command, in the order of the fields, and ``--debug``."""

    def add(command: Any) -> Any:
        declared = [option for name, option in DECLARED.items() if name in names]
        for option in (debug_option, *reversed(declared)):
            command = option(command)
        return command

    return add
