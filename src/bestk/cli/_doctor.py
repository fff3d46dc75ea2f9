"""``bestk doctor``: whether all that selecting needs is here, and works."""

import os
import platform
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click

from bestk.cli._child import ask, guarded
from bestk.cli._options import debug_option
from bestk.cli._versions import find_packages, python_minimum

MACHINE = "bestk.cli._machine"
PROBES = ("cpu", "memory", "blas", "cache", "select", "gpu")
LIMIT = 600.0  # seconds for all probes: kernels may have to be compiled
EXAMPLES = """\b
Examples:
  bestk doctor
  bestk doctor --bench
  bestk doctor --json | jq .problems
"""


@click.command(epilog=EXAMPLES, short_help="Whether all that selecting needs is here, and works.")
@click.option("--bench", is_flag=True, help="Time the kernels on made-up tables, too.")
@click.option(
    "--seconds", type=click.FloatRange(min=1), default=10.0, show_default=True, metavar="N",
    help="For --bench at the most, compiling included.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON; all else goes to stderr.")
@debug_option
@click.pass_context
def doctor(ctx: click.Context, bench: bool, seconds: float, as_json: bool) -> None:
    """Tell what bestk finds on this machine, what is wrong with it, and what to do.

    Versions are compared with those that bestk asks for, and features are selected from a small
    table. The exit code is 1 if that does not work, and 0 otherwise, whatever else is told.
    """
    from bestk.cli._problems import find_problems

    report = gather()
    problems = find_problems(report)
    report["healthy"] = not any(problem.serious for problem in problems)
    report["problems"] = [problem.to_dict() for problem in problems]
    if bench:
        from bestk.cli._bench import NAMES

        with stage(f"timing the kernels for {seconds:.0f} s at the most"):
            report["bench"] = ask("bestk.cli._bench", NAMES, seconds)
    if as_json:
        from bestk.cli._show import print_json

        print_json(report)
    else:
        from bestk.cli._doctor_text import lines_of

        click.echo("\n".join(lines_of(report)))
    ctx.exit(0 if report["healthy"] else 1)


def gather() -> dict[str, Any]:
    """All that can be found out; what cannot has an "error"."""
    from bestk import __version__

    with stage("looking at the machine (a first run compiles)"):
        found = ask(MACHINE, PROBES, LIMIT)
    return {
        "bestk": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "python_minimum": guarded(python_minimum),
        "packages": guarded(_packages),
        **found,
        "data": guarded(_data),
    }


def _packages() -> dict[str, Any]:
    return {package.name: package.to_dict() for package in find_packages()}


def _data() -> dict[str, Any]:
    """The folder of the paper's data sets."""
    folder = os.environ.get("BESTK_DATA") or None
    exists = folder is not None and Path(folder).is_dir()
    sets = sorted(path.stem for path in Path(folder or "").glob("*.npz")) if exists else []
    return {"folder": folder, "exists": exists, "sets": sets}


def stage(text: str) -> AbstractContextManager[Any]:
    """A bar while something is done, if that can be drawn."""
    try:
        import rich  # noqa: F401
    except ImportError:
        return nullcontext()
    from bestk.cli._progress import Talk

    return Talk(quiet=False).stage(text)
