"""Errors and warnings that a caller can catch or silence; text that is safe to print."""

import re
from collections.abc import Iterable, Mapping
from typing import NoReturn, TypeVar

T = TypeVar("T")
MAX_NAMES_SHOWN = 50
# what moves, hides or turns around other text: control characters, ends of lines and paragraphs,
# directions of writing, and halves of characters; joiners belong to words and emoji, and stay
HOSTILE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


class BestKError(Exception):
    """Base class of the errors of this package."""


class DataError(BestKError, ValueError):
    """A table, a target or a file that cannot be used as it is."""


class ParameterError(BestKError, ValueError):
    """A parameter with a value that is not accepted."""


class UnknownNameError(ParameterError):
    """A name that is not among the known ones; the message suggests the nearest."""

    def __init__(
        self, kind: str, name: object, known: Iterable[object], where: object = None
    ) -> None:
        super().__init__(kind, name, tuple(known), where)  # these also rebuild a pickled error

    def __str__(self) -> str:
        from difflib import get_close_matches

        kind, name, known, where = self.args
        problem = f"unknown {kind} {name!r}" if where is None else f"{where} has no {kind} {name!r}"
        texts = [each for each in known if isinstance(each, str)]
        own = name if isinstance(name, str) else ""
        near = [each for each in texts if each.lower() == own.lower()]
        if near := near or get_close_matches(own, texts, n=1, cutoff=0.5):
            return f"{problem}; did you mean {near[0]!r}?"
        more = ", ..." if len(known) > MAX_NAMES_SHOWN else ""
        shown = ", ".join(map(repr, known[:MAX_NAMES_SHOWN])) + more
        return f"{problem}; choose one of {shown}"


class Registry(dict[str, T]):
    """What has a name, such as methods; the error for an unknown name suggests the nearest."""

    def __init__(self, kind: str, known: Mapping[str, T]) -> None:
        super().__init__(known)
        self.kind = kind

    def __missing__(self, name: str) -> NoReturn:
        raise UnknownNameError(self.kind, name, self)

    def get_any(self, wanted: str | T) -> T:
        """What has that name, or what is given."""
        return self[wanted] if isinstance(wanted, str) else wanted


class SelectionWarning(UserWarning):
    """What to know before trusting a selection, one sentence per line.

    The sentences are also in ``solution_.warnings``.

    Examples
    --------
    >>> import warnings
    >>> warnings.filterwarnings("ignore", category=SelectionWarning)  # to silence them
    """


def counted(n: int, noun: str) -> str:
    """A number of things, such as "1 row" and "2 rows"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def printable(text: str) -> str:
    """One line in which control characters are spelled out, as Python writes them."""
    return HOSTILE.sub(lambda found: ascii(found[0])[1:-1], text)


def cut_middle(text: str, longest: int) -> str:
    """A text of at most so many characters, with an ellipsis in place of its middle."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"
