"""The ``bestk`` command."""

import click

from bestk import __version__
from bestk.cli._compare import compare
from bestk.cli._errors import ErrorGroup
from bestk.cli._methods import methods
from bestk.cli._options import debug_option
from bestk.cli._plan import plan
from bestk.cli._report import report
from bestk.cli._select import select

EPILOG = """\b
Exit codes:
  0    done
  1    a fault in bestk itself, or not enough memory
  2    a wrong option, or a file that cannot be read or written
  130  interrupted; no file is left half written

\b
Completion of commands, options, methods and column names:
  bash  eval "$(_BESTK_COMPLETE=bash_source bestk)"   in ~/.bashrc
  zsh   eval "$(_BESTK_COMPLETE=zsh_source bestk)"    in ~/.zshrc
  fish  _BESTK_COMPLETE=fish_source bestk | source    in ~/.config/fish/completions/bestk.fish

Tables are CSV or TSV (also .gz), Parquet, Feather, Arrow or packed files, told apart by their
suffix. The first line of a text file names its columns.
"""


@click.group(
    cls=ErrorGroup,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="bestk %(version)s")
@debug_option
def main() -> None:
    """Pick the best k features of a table together, and prove how good they are."""


for command in (select, compare, report, plan, methods):
    main.add_command(command)
