"""Words that commands are made of, and how to run a command."""

import io
from contextlib import redirect_stderr, redirect_stdout

import click

WORDS = [
    "select", "--dry-run", "methods", "t.csv", "e.csv", "none.csv", "t.tsv", "-t", "--target", "y",
    "x", "name", "Y", "-k", "1", "2", "3", "0", "-1", "0.5", "1.0", "auto", "nan", "inf", "1e9",
    "99999999999999999999", "--information", "discrete", "gaussian", "blend",
    "none", "--correction", "chance", "miller-madow", "--include",
    "--exclude", "--target-kind", "classes", "continuous", "--time-limit", "0.01", "--seed", "7",
    "--json", "-q", "--quiet", "-m", "--method", "jmi", "tpower", "exact", "mrmr", "forward",
    "--bound", "fast", "tight", "-o", "out.csv", "out.parquet", "t.csv.gz", "--help",
    "-h", "--version", "--", "-", "", " ", "--target=y", "-ty", "-k1", "-k=1", "ä", "日本", "\n",
    "'", "--inform", "--no-such", "--debug", "@", "[bold]", "{x}", "%s",
]  # fmt: skip
STARTS = (
    [],
    ["select", "t.csv", "-t", "y"],
    ["select", "t.tsv", "-t", "y"],
    ["select", "t.csv", "-t", "y", "--dry-run"],
    ["methods"],
)
TABLES = {
    "t.csv": "x,name,w,y\n1.5,a,1,no\n2.5,b,2,yes\n0.5,a,3,no\n3.5,b,,yes\n2.5,a,1,no\n",
    "t.tsv": "x\ty\n1\t0\n2\t1\n3\t0\n",
    "e.csv": "y,x\n",
}


def spell(data: bytes) -> list[str]:
    """A command: the first byte says how it begins, each other one is a word of it or a letter."""
    words = [WORDS[byte % len(WORDS)] if byte < 240 else chr(byte - 200) for byte in data[1:24]]
    return [*STARTS[data[0] % len(STARTS)], *words]


def run_command(words: list[str]) -> None:
    """Run a command in this process; what it would tell as a fault of bestk is raised."""
    from bestk.cli import main
    from bestk.cli._terminal import FAULT, explain

    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            click.Group.main(main, words, "bestk", standalone_mode=False)
    except Exception as error:
        if not isinstance(error, click.Abort) and explain(error)[1] == FAULT:
            error.add_note(f"bestk {words}")
            raise
