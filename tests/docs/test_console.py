"""Every command that the documents show prints what they say.

A document shows commands in blocks of the kind ``console``: a command after ``$ ``, its lines
that end with a backslash going on in the next, and below it what it prints, stderr included.
The commands of a document run in order in one new folder. Output is compared as in doctests:
white space counts as one space, and ``...`` stands for anything. Blocks of another kind, such as
``sh``, are not run.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALLOWED = ("bestk", "python -m bestk", "python -c", "cat", "head", "tail", "ls", "echo", "wc")
LIMIT = 300  # seconds for a command
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
RST = re.compile(r"^( *)\.\. code-block:: console *\n((?:(?:\1 +.*)?\n)+)", re.M)
MARKDOWN = re.compile(r"^( *)```console *\n(.*?)^\1```", re.M | re.S)


@dataclass(frozen=True)
class Shown:
    """A command, what a document says that it prints, and the line where it stands."""

    command: str
    output: str
    line: int


def documents():
    """The files that show commands."""
    built = ("_build", "generated")
    found = [ROOT / "README.md", *ROOT.glob("docs/**/*.rst"), *ROOT.glob("docs/**/*.md")]
    found = [path for path in found if path.exists() and not set(path.parts) & set(built)]
    return sorted(path for path in found if list(blocks_in(path.read_text("utf-8"), path.suffix)))


def blocks_in(text, suffix):
    """The blocks of commands, in order."""
    return (RST if suffix == ".rst" else MARKDOWN).finditer(text)


def shown_in(text, suffix):
    """The commands of all blocks, in order."""
    return [
        shown
        for block in blocks_in(text, suffix)
        for shown in commands_of(block[2], 1 + text.count("\n", 0, block.start(2)))
    ]


def commands_of(block, first):
    """The commands of one block, whose first line is at a given place."""
    found = []
    for place, line in enumerate(block.splitlines(), first):
        line = line.strip()
        if found and found[-1].command.endswith("\\"):
            last = found.pop()
            found.append(Shown(f"{last.command[:-1].rstrip()} {line}", "", last.line))
        elif line.startswith("$ "):
            found.append(Shown(line[2:], "", place))
        elif found:
            last = found.pop()
            found.append(Shown(last.command, f"{last.output}{line}\n", last.line))
        elif line and not line.startswith(":"):  # an option of the block
            raise ValueError(f"line {place}: output without a command, which begins with '$ '")
    return found


def refused(command):
    """The first part of a command that may not be run, or None."""
    words = list(shlex.shlex(command, posix=True, punctuation_chars=True))
    part = []
    for word in [*words, ";"]:
        if word in ("|", ";", "&&", "||"):
            if not any(f"{' '.join(part)} ".startswith(f"{name} ") for name in ALLOWED):
                return " ".join(part)
            part = []
        else:
            part.append(word)
    return None


class Shell:
    """A folder in which commands run one after the other."""

    def __init__(self, folder):
        self.folder, self.code = folder / "work", 0
        tools = folder / "bin"
        self.folder.mkdir()
        tools.mkdir()
        python = shlex.quote(sys.executable)
        for name, call in (("bestk", f"{python} -m bestk"), ("python", python)):
            (tools / name).write_text(f'#!/bin/sh\nexec {call} "$@"\n')
            (tools / name).chmod(0o755)
        self.env = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
        self.env |= {"NO_COLOR": "1", "TERM": "dumb", "PYTHONWARNINGS": "default"}

    def run(self, command):
        """What a command prints, its errors included."""
        if part := refused(command):
            raise ValueError(f"{part!r} is not run: allowed are {', '.join(ALLOWED)}; other "
                             "commands go into a block of the kind sh")  # fmt: skip
        done = subprocess.run(
            ["bash", "-c", f"(exit {self.code}); {command}"],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=LIMIT,
            check=False,
        )
        self.code = done.returncode
        return done.stdout


def differences(text, suffix, folder):
    """What a document says otherwise than its commands."""
    shell, checker, found = Shell(folder), doctest.OutputChecker(), []
    for shown in shown_in(text, suffix):
        printed = shell.run(shown.command)
        expected = shown.output.strip("\n")
        if not checker.check_output(expected, printed.strip("\n"), FLAGS):
            example = doctest.Example("", expected)
            told = checker.output_difference(example, printed, FLAGS)
            found.append(f"line {shown.line}: $ {shown.command}\n{told}")
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of a Unix shell")
@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_every_command_prints_what_the_document_says(path, tmp_path):
    found = differences(path.read_text("utf-8"), path.suffix, tmp_path)
    assert not found, f"{path.relative_to(ROOT)}\n" + "\n".join(found)


RST_SAMPLE = """
Text.

.. code-block:: console

    $ echo one \\
        two
    one   two

    $ echo "a $ b"
    a ... b

.. code-block:: sh

    $ make demo

.. code-block:: console

    $ ls nothing.csv
    ls: ...
    $ echo $?
    2
"""
MARKDOWN_SAMPLE = "Text\n\n```console\n$ echo one\none\n```\n\n```sh\n$ pip install x\n```\n"


def test_blocks_of_the_kind_console_are_found_and_others_are_not():
    found = shown_in(RST_SAMPLE, ".rst")
    assert [s.command for s in found] == [
        "echo one two", 'echo "a $ b"', "ls nothing.csv", "echo $?",
    ]  # fmt: skip
    assert found[0].output.split() == ["one", "two"]
    assert [s.line for s in found] == [6, 10, 19, 21]
    assert shown_in(MARKDOWN_SAMPLE, ".md") == [Shown("echo one", "one\n", 4)]


def test_what_differs_is_told_with_its_line(tmp_path):
    (tmp_path / "right").mkdir()
    assert differences(RST_SAMPLE, ".rst", tmp_path / "right") == []
    (tmp_path / "wrong").mkdir()
    (told,) = differences(RST_SAMPLE.replace("one   two", "one"), ".rst", tmp_path / "wrong")
    assert told.startswith("line 6: $ echo one two\n")


@pytest.mark.parametrize("command", ["pip install x", "echo a | sh", "bestkx", "python x.py"])
def test_other_commands_are_refused(command, tmp_path):
    with pytest.raises(ValueError, match="go into a block of the kind sh"):
        Shell(tmp_path).run(command)


def test_output_without_a_command_is_refused():
    with pytest.raises(ValueError, match="line 4: output without a command"):
        shown_in("```console\n\n\nlost\n```\n", ".md")
