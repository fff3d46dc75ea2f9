"""The options that commands share, and the file that they read."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import click

from bestk._cached import cached_property
from bestk.cli._terminal import Messages

# Cross-validation chooses k.
AUTO = "auto"

# The fields that are parameters of SelectBestK of the same name.
PASSED_ON = ("information", "correction", "bound", "time_limit", "threshold", "scoring")


def parse_k(ctx: click.Context, param: click.Parameter, value: str | None) -> float | str | None:
    """An integer from 1, a fraction up to 1.0, or "auto"; None if k is not given."""
    if value is None or value == AUTO:
        return value
    is_whole = value.lstrip("+-").isdigit()
    number: int | float
    try:
        number = int(value) if is_whole else float(value)
    except ValueError:
        number = 0
    is_accepted = number >= 1 if isinstance(number, int) else 0 < number <= 1
    if not is_accepted:
        raise click.BadParameter(
            f"{value!r} is not a number of features; pass an integer from 1, a fraction of the "
            f"features such as 0.1, or {AUTO!r}"
        )
    return number


def parse_target(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str:
    """The column to predict; the last of several must not win silently."""
    if len(values) > 1:
        raise click.BadParameter("pass one column; several targets need Python's SelectBestK")
    return values[0]


def _option(*names: str, default: Any = None, **settings: Any) -> Any:
    """A field, and in its metadata the click option that sets it."""
    settings = {"show_default": isinstance(default, str), "default": default, **settings}
    option = click.option(*names, **settings)
    return field(default=default, metadata={"click": option})


def _choice(name: str, values: tuple[str, ...], help_: str) -> Any:
    """A field that has one of some values, by default the first."""
    return _option(name, default=values[0], type=click.Choice(values), help=help_)


def _column(name: str, help_: str, **settings: Any) -> Any:
    """A field that names a column of the file."""
    return _option(name, metavar="COL", help=help_, **settings)


@dataclass(frozen=True)
class TableOptions:
    """The options of a command that reads a table, as click declares them."""

    file: Path = field(metadata={"click": click.argument("file", type=click.Path(path_type=Path))})
    target: str = field(
        metadata={
            "click": click.option(
                "-t",
                "--target",
                callback=parse_target,
                metavar="COL",
                required=True,
                multiple=True,
                help="The column to predict.",
            )
        }
    )
    # None: 10, or all columns where there are fewer.
    k: float | str | None = _option(
        "-k",
        callback=parse_k,
        metavar="N",
        help="Number of features, a fraction of the features in (0, 1], or auto: chosen by "
        "cross-validation. By default 10.",
    )
    method: str = _option(
        "-m",
        "--method",
        default="auto",
        metavar="NAME",
        help="Selection method; `bestk methods` lists them.",
    )
    include: tuple[str, ...] = _column(
        "--include", "A feature that must be selected (repeatable).", multiple=True, default=()
    )
    exclude: tuple[str, ...] = _column(
        "--exclude", "A column to ignore (repeatable).", multiple=True, default=()
    )
    covariates: tuple[str, ...] = _column(
        "--covariates",
        "A column to adjust for: features are selected for what they add to it (repeatable).",
        multiple=True,
        default=(),
    )
    target_kind: str = _choice(
        "--target-kind",
        ("auto", "classes", "continuous"),
        "Classification or regression; auto: regression for numbers with fractions and for many "
        "different integers.",
    )
    weights: str | None = _column("--weights", "A column of sample weights.")
    groups: str | None = _column(
        "--groups", "A column of groups; rows of a group stay in the same cross-validation fold."
    )
    scoring: str | None = _option(
        "--scoring",
        metavar="NAME",
        help="A scorer of scikit-learn for cross-validation, such as roc_auc.",
    )
    threshold: float | None = _option(
        "--threshold",
        type=click.FloatRange(min=0),
        metavar="X",
        help="Select only features with at least this new information; -k is the most features.",
    )
    information: str = _choice(
        "--information",
        ("auto", "discrete", "gaussian", "blend"),
        "Estimate mutual information from counts in bins, from covariances, or as a mean of both; "
        "auto: as the method needs it.",
    )
    correction: str = _choice(
        "--correction",
        ("none", "miller-madow", "chance"),
        "Subtract the small-sample bias from the estimates.",
    )
    bound: str = _choice(
        "--bound",
        ("fast", "tight", "none"),
        "How much time to spend on proving how close to optimal the selection is.",
    )
    time_limit: float | None = _option(
        "--time-limit",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="Time limit of the solver.",
    )
    seed: int | None = _option(
        "--seed", type=click.IntRange(min=0), metavar="N", help="Random seed."
    )
    as_json: bool = _option(
        "--json", "as_json", default=False, is_flag=True, help="Print JSON to stdout."
    )
    quiet: bool = _option(
        "-q", "--quiet", default=False, is_flag=True, help="Print no progress and no notes."
    )

    @property
    def aside(self) -> dict[str, str]:
        """Columns that describe the rows, by the argument of ``fit`` that takes their values."""
        columns = {"groups": self.groups, "sample_weight": self.weights}
        return {argument: name for argument, name in columns.items() if name is not None}

    @cached_property
    def messages(self) -> Messages:
        """The progress bars and notes of the command."""
        return Messages(self.quiet)

    def options(self) -> dict[str, Any]:
        """Keyword arguments of :class:`bestk.SelectBestK`."""
        options: dict[str, Any] = {}
        for name in PASSED_ON:
            value = getattr(self, name)
            options[name] = None if value == "none" else value
        options["target"] = self.target_kind
        options["include"] = list(self.include) or None
        options["covariates"] = list(self.covariates) or None
        options["random_state"] = self.seed
        return options

    def selector_options(self, k: int | str) -> dict[str, Any]:
        """The same for k features; with a number there is no cross-validation to be scored."""
        options = self.options()
        if k != AUTO:
            options["scoring"] = None
        return options


# The click option of each field, by its name.
DECLARED = {option.name: option.metadata["click"] for option in fields(TableOptions)}

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
