"""The group of all commands."""

import click

from bestk import __version__
from bestk.cli._compare import compare
from bestk.cli._doctor import doctor
from bestk.cli._errors import CODES, ErrorGroup
from bestk.cli._methods import methods
from bestk.cli._options import debug_option
from bestk.cli._report import report
from bestk.cli._select import select

NEWLINE = "\n"
EPILOG = f"""\b
Exit status:
{NEWLINE.join(f"  {code:<3}  {means}" for code, means in CODES.items())}

\b
Shell completion (commands, options, methods, column names):
  bash  eval "$(_BESTK_COMPLETE=bash_source bestk)"   in ~/.bashrc
  zsh   eval "$(_BESTK_COMPLETE=zsh_source bestk)"    in ~/.zshrc
  fish  _BESTK_COMPLETE=fish_source bestk | source    in ~/.config/fish/completions/bestk.fish

FILE is a CSV or TSV file (also .gz) with a header line, or a Parquet, Feather or Arrow file; - is
standard input.
"""


@click.group(
    cls=ErrorGroup,
    epilog=EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="bestk %(version)s")
@debug_option
@click.pass_context
def main(ctx: click.Context) -> None:
    """Select the k best features of a table jointly."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for command in (select, compare, report, methods, doctor):
    main.add_command(command)
