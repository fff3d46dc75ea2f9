"""The result of a check: yes, partly or no, with a line of details."""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.peers import tables
from benchmarks.peers.peer import LacksError, Peer, Picks

K = 3
LONGEST = 240  # characters of evidence


@dataclass(frozen=True)
class Answer:
    """What came out."""

    answer: str
    evidence: str = ""


def yes(evidence: str = "") -> Answer:
    """It does."""
    return Answer("yes", evidence)


def no(evidence: str) -> Answer:
    """It does not."""
    return Answer("no", evidence)


def ask(probe: Callable[[Peer], Answer], peer: Peer) -> Answer:
    """Try it; an error is an answer too."""
    try:
        with warnings.catch_warnings(action="ignore"):
            found = probe(peer)
    except LacksError as reason:
        found = no(str(reason))
    except Exception as error:
        found = no(f"{type(error).__name__}: {error}")
    return Answer(found.answer, one_line(found.evidence))


def one_line(text: str) -> str:
    """The text without line breaks, cut where it is long."""
    line = re.sub(r" at 0x[0-9a-f]+", "", " ".join(text.split()))
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."


def judge(picks: Picks, note: str = "") -> Answer:
    """Whether both telling columns are among the picks, given by name or by number."""
    numbers = {tables.NAMES.index(p) if p in tables.NAMES else int(p) for p in picks}
    missed = sorted(set(tables.TELLING) - numbers)
    if len(numbers) > K and tables.NOISE in numbers:
        return no(f"it ran and kept {sorted(numbers)}: more than {K}, with what it did not judge")
    if missed:
        some = "partly" if len(missed) < len(tables.TELLING) else "no"
        return Answer(some, f"it picked {sorted(numbers)}, without the telling {missed}")
    kind = "names" if any(p in tables.NAMES for p in picks) else "numbers of columns"
    return yes(note or f"gives {kind}")
