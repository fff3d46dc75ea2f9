"""The options that commands share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from bestk.cli._input import TableFile, need_target
from bestk.data.printable import printable

INFORMATION = ("auto", "discrete", "gaussian", "blend")
DISCRETIZERS = ("auto", "caim", "mdlp", "equal-width", "equal-frequency", "sigma", "none")
CORRECTIONS = ("none", "miller-madow", "chance")
TARGETS = ("auto", "classes", "continuous")
AUTO = "auto"  # chosen by cross-validation

K_HELP = "Number of features, a fraction of the features in (0, 1]"
Decorator = Callable[[Any], Any]


class Count(click.ParamType):  # type: ignore[type-arg]
    """A number of features, a fraction of them, or "auto"."""

    name = "count"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | str:
        """A whole number from 1 up, a fraction up to 1.0, or "auto"."""
        if value == AUTO:
            return AUTO
        try:
            number = int(value) if str(value).lstrip("+-").isdigit() else float(value)
        except ValueError:
            number = 0
        if not (number >= 1 if isinstance(number, int) else 0 < number <= 1):
            self.fail(
                f"{value!r} is not a number of features; pass an integer from 1, a fraction of the "
                f"features such as 0.1, or {AUTO!r}"
            )
        return number


@dataclass(frozen=True)
class Request:
    """What to select from, and how it is to be read."""

    file: Path
    target: str
    k: float | str | None  # None: 10, or all where there are fewer
    information: str
    discretizer: str
    correction: str
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    target_kind: str
    time_limit: float | None
    seed: int | None
    as_json: bool
    quiet: bool

    def options(self) -> dict[str, Any]:
        """As :class:`bestk.SelectBestK` takes them; the included features are added later."""
        return {
            "information": self.information,
            "discretizer": None if self.discretizer == "none" else self.discretizer,
            "correction": None if self.correction == "none" else self.correction,
            "target": self.target_kind,
            "time_limit": self.time_limit,
            "random_state": self.seed,
        }


def complete_columns(ctx: Any, param: Any, incomplete: str) -> list[str]:
    """The columns of the file that begin as typed."""
    from bestk.data.files import open_source

    files = [ctx.params.get("file"), *ctx.args]  # there, where the option has no value yet
    try:
        names = list(open_source(next(filter(None, files))).types)
    except (StopIteration, ValueError, OSError, ImportError):
        return []
    plain = (name for name in names if name == printable(name))  # what a shell can be given
    return [name for name in plain if name.startswith(incomplete)]


def complete_methods(ctx: Any, param: Any, incomplete: str) -> list[str]:
    """The methods that begin as typed."""
    from bestk.selection.method_notes import NOTES

    return [name for name in NOTES if name.startswith(incomplete)]


debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."
)

method_option = click.option(
    "-m", "--method", default="auto", show_default=True, shell_complete=complete_methods,
    help="Selection method; see `bestk methods`.",
)  # fmt: skip
bound_option = click.option(
    "--bound", type=click.Choice(("fast", "tight", "none")), default="fast", show_default=True,
    help="Effort for the upper bound on the objective.",
)  # fmt: skip

k_option = click.option(
    "-k", type=Count(), show_default="10", metavar="N",
    help=f"{K_HELP}, or auto: chosen by cross-validation.",
)  # fmt: skip

SHARED: tuple[Decorator, ...] = (
    click.argument("file", type=TableFile()),
    click.option(
        "-t", "--target", metavar="COL", shell_complete=complete_columns, callback=need_target,
        help="The column to predict.  [required]",
    ),
    k_option,
    click.option(
        "--information", type=click.Choice(INFORMATION), default="auto", show_default=True,
        help="How mutual information is estimated; auto: the choice of the method.",
    ),
    click.option(
        "--discretizer", type=click.Choice(DISCRETIZERS), default="auto", show_default=True,
        help="How numeric columns are binned; none: the columns already contain integer codes.",
    ),
    click.option(
        "--correction", type=click.Choice(CORRECTIONS), default="none", show_default=True,
        help="Subtract the small-sample bias from the estimates.",
    ),
    click.option(
        "--include", multiple=True, metavar="COL", shell_complete=complete_columns,
        help="A feature that must be selected (repeatable).",
    ),
    click.option(
        "--exclude", multiple=True, metavar="COL", shell_complete=complete_columns,
        help="A column to ignore (repeatable).",
    ),
    click.option(
        "--target-kind", type=click.Choice(TARGETS), default="auto", show_default=True,
        help="Classification or regression; auto: continuous for fractions or many integers.",
    ),
    click.option(
        "--time-limit", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS",
        help="Time limit of the solver.",
    ),
    click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Random seed."),
    click.option(
        "--json", "as_json", is_flag=True, help="Print JSON to stdout."
    ),
    click.option("-q", "--quiet", is_flag=True, help="Print no progress and no notes."),
    debug_option,
)  # fmt: skip


def shared_options(command: Any, options: tuple[Decorator, ...] = SHARED) -> Any:
    """Add the options of every command that reads a table."""
    for option in reversed(options):
        command = option(command)
    return command
