"""``python -m hardening.arguments --seconds 300``: commands with odd options on tiny tables."""

import os
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["bestk.cli"]):
    import bestk.cli  # noqa: F401

from hardening.arguments.words import STARTS, TABLES, WORDS, run_command, spell
from hardening.fuzzing import fuzz


def main() -> None:
    """Run commands where there are some tables."""
    folder = Path(tempfile.mkdtemp())
    for name, text in TABLES.items():
        (folder / name).write_text(text)
    more = [WORDS.index(word) for word in ("-k", "2", "-m", "jmi", "--json")]
    seeds = [bytes([start, *more]) for start in range(len(STARTS))]
    os.chdir(folder)
    what = "commands select and methods"
    fuzz("arguments", what, lambda data: run_command(spell(data or b"\0")), seeds)


if __name__ == "__main__":
    main()
