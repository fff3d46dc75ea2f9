"""The options that commands share, and the file that they read."""

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

INFORMATION = ("auto", "discrete", "gaussian", "blend")
DISCRETIZERS = ("auto", "caim", "mdlp", "equal-width", "equal-frequency", "sigma", "none")
CORRECTIONS = ("none", "miller-madow", "chance")
TARGETS = ("auto", "classes", "continuous")
BOUNDS = ("fast", "tight", "none")
AUTO = "auto"  # k chosen by cross-validation
STDIN = Path("-")
STDIN_FOLDER = "bestk-stdin-"  # prefix of the folder of the copy of standard input
SUFFIXES = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x1f\x8b": ".csv.gz"}  # by first bytes
URL = re.compile(r"(https?|ftp|s3|gs):/")
Decorator = Callable[[Any], Any]


@dataclass(frozen=True)
class TableOptions:
    """The options of a command that reads a table."""

    file: Path
    target: str
    exclude: tuple[str, ...] = ()
    target_kind: str = "auto"
    seed: int | None = None
    as_json: bool = False
    quiet: bool = False
    k: float | str | None = None  # None: 10, or all columns where there are fewer
    information: str = "auto"
    discretizer: str = "auto"
    correction: str = "none"
    include: tuple[str, ...] = ()
    time_limit: float | None = None
    method: str = "auto"
    bound: str = "fast"
    threshold: float | None = None
    column_groups: str | None = None
    k_counts: str = "groups"
    groups: str | None = None
    weights: str | None = None
    scoring: str | None = None

    @property
    def aside(self) -> dict[str, str]:
        """Columns that describe the rows, by the argument of ``fit`` that takes their values."""
        found = {"groups": self.groups, "sample_weight": self.weights}
        return {argument: name for argument, name in found.items() if name is not None}

    def options(self) -> dict[str, Any]:
        """Keyword arguments of :class:`bestk.SelectBestK`."""
        return {
            "information": self.information,
            "discretizer": None if self.discretizer == "none" else self.discretizer,
            "correction": None if self.correction == "none" else self.correction,
            "target": self.target_kind,
            "include": list(self.include) or None,
            "bound": None if self.bound == "none" else self.bound,
            "time_limit": self.time_limit,
            "random_state": self.seed,
            "threshold": self.threshold,
            "column_groups": self.column_groups,
            "k_counts": self.k_counts,
            "scoring": self.scoring,
        }


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


def copy_stdin(ctx: Any, param: Any, path: Path) -> Path:
    """The path of a file, or of the copy of standard input, which is read twice."""
    if path != STDIN or ctx.resilient_parsing:
        return path
    if sys.stdin is None or sys.stdin.isatty():
        raise click.BadParameter(
            "- is standard input, but nothing is piped into it; pass the name of a file"
        )
    from shutil import copyfileobj
    from tempfile import TemporaryDirectory

    start = sys.stdin.buffer.read(8)
    suffix = next((SUFFIXES[kind] for kind in SUFFIXES if start.startswith(kind)), ".csv")
    folder = ctx.find_root().with_resource(TemporaryDirectory(prefix=STDIN_FOLDER))
    copy = Path(folder, f"stdin{suffix}")
    with copy.open("wb") as file:
        file.write(start)
        copyfileobj(sys.stdin.buffer, file)
    return copy


def shown(path: Path) -> str:
    """A path as the user wrote it."""
    return str(STDIN if path.parent.name.startswith(STDIN_FOLDER) else path)


def is_piped_in(path: Path, source: Path) -> bool:
    """Whether a file is the one that standard input reads from (``bestk select - < table.csv``)."""
    try:
        piped = os.path.samestat(os.fstat(sys.stdin.fileno()), path.stat())
    except (OSError, ValueError, AttributeError):  # standard input is not a file
        return False
    return piped and shown(source) == str(STDIN)


def refuse_missing(path: Path) -> None:
    """Raise an error for a file that does not exist, with the nearest name."""
    if path.exists():
        return
    if URL.match(str(path)):
        raise ValueError(f"{path} is a URL; download it first, for example with curl -LO")
    from difflib import get_close_matches

    folder = path.parent
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    near = get_close_matches(path.name, names, n=1, cutoff=0.7)
    advice = f"; did you mean {str(folder / near[0])!r}?" if near else ""
    raise ValueError(f"{path}: No such file or directory{advice}")


def require_target(ctx: Any, param: Any, value: str | None) -> str | None:
    """Require a target; the error lists the last columns of the file."""
    if value is not None or ctx.resilient_parsing:
        return value
    message, path = "missing option --target COL, the column to predict", ctx.params.get("file")
    if path is not None:
        from bestk.data.files import open_source

        refuse_missing(path)
        names = list(open_source(path).types)
        some = ", ".join(map(repr, names[-8:]))
        message += f"; the {'last ' if len(names) > 8 else ''}columns of {path} are {some}"
    raise click.UsageError(message, ctx)


def complete_columns(ctx: Any, param: Any, incomplete: str) -> list[str]:
    """The columns of the file that start with the typed text."""
    from bestk.data.files import open_source
    from bestk.data.printable import printable

    files = [ctx.params.get("file"), *ctx.args]  # in args where the option has no value yet
    try:
        names = list(open_source(next(filter(None, files))).types)
    except (StopIteration, ValueError, OSError, ImportError):
        return []
    return [name for name in names if name == printable(name) and name.startswith(incomplete)]


def complete_methods(ctx: Any, param: Any, incomplete: str) -> list[str]:
    """The methods that start with the typed text."""
    from bestk.selection.methods import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON to stdout.")


def _choice(name: str, values: tuple[str, ...], default: str, help_: str) -> Decorator:
    return click.option(
        name, type=click.Choice(values), default=default, show_default=True, help=help_
    )


def _columns(name: str, help_: str) -> Decorator:
    return click.option(
        name, multiple=True, metavar="COL", shell_complete=complete_columns, help=help_
    )


def _all(*options: Decorator) -> Decorator:
    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


# the file and its target, and how results are printed
file_options = _all(
    click.argument(
        "file", type=click.Path(path_type=Path, allow_dash=True), callback=copy_stdin
    ),
    click.option(
        "-t", "--target", metavar="COL", shell_complete=complete_columns,
        callback=require_target, help="The column to predict.  [required]",
    ),
    _columns("--exclude", "A column to ignore (repeatable)."),
    _choice("--target-kind", TARGETS, "auto",
            "Classification or regression; auto: continuous for fractions or many integers."),
    click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Random seed."),
    json_option,
    click.option("-q", "--quiet", is_flag=True, help="Print no progress and no notes."),
    debug_option,
)  # fmt: skip


def table_options(k_help: str) -> Decorator:
    """The options of every command that selects."""
    return _all(
        file_options,
        click.option(
            "-k", callback=parse_k, show_default="10", metavar="N",
            help=f"Number of features, or a fraction of the features in (0, 1]{k_help}.",
        ),
        _choice("--information", INFORMATION, "auto",
                "How mutual information is estimated; auto: the choice of the method."),
        _choice("--discretizer", DISCRETIZERS, "auto",
                "How numeric columns are binned; none: the columns already contain integer codes."),
        _choice("--correction", CORRECTIONS, "none",
                "Subtract the small-sample bias from the estimates."),
        _columns("--include", "A feature that must be selected (repeatable)."),
        click.option(
            "--time-limit", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS",
            help="Time limit of the solver.",
        ),
        click.option(
            "--column-groups", metavar="SEPARATOR",
            help="Select columns together whose names agree up to the last SEPARATOR.",
        ),
        _choice("--k-counts", ("groups", "columns"), "groups",
                "Whether -k is a number of column groups, or the most columns."),
        click.option(
            "--groups", metavar="COL", shell_complete=complete_columns,
            help="A column of groups of rows that no cross-validation fold separates.",
        ),
        click.option(
            "--scoring", metavar="NAME",
            help="A scorer of scikit-learn for cross-validation, such as roc_auc.",
        ),
    )  # fmt: skip


weights_option = click.option(
    "--weights", metavar="COL", shell_complete=complete_columns,
    help="A column of weights: how often each row counts.",
)  # fmt: skip
# the options of a command that selects by one method
method_options = _all(
    table_options(", or auto: chosen by cross-validation"),
    click.option(
        "-m", "--method", default="auto", show_default=True, shell_complete=complete_methods,
        help="Selection method; see `bestk methods`.",
    ),
    _choice("--bound", BOUNDS, "fast", "Effort for the upper bound on the objective."),
    click.option(
        "--threshold", type=click.FloatRange(min=0), metavar="X",
        help="Minimum new information of every selected feature, in nats; -k is the most features.",
    ),
)  # fmt: skip
