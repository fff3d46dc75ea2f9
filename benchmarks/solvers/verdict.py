"""A claim, what was measured, and whether it holds."""

from collections.abc import Iterable
from dataclasses import dataclass

WORDS = {True: "holds", False: "DOES NOT HOLD", None: "not measured"}


@dataclass(frozen=True)
class Verdict:
    """A claim with its measurement; ``holds`` is None where nothing was measured."""

    claim: str
    measured: str
    holds: bool | None

    def __str__(self) -> str:
        return f"[{WORDS[self.holds]}] {self.claim}\n    {self.measured}"


def verdict(claim: str, measured: str, holds: bool, any_rows: object) -> Verdict:
    """A verdict, unless there are no rows to judge by."""
    return Verdict(claim, measured, holds) if any_rows else Verdict(claim, "no rows", None)


def listing(items: Iterable[str], most: int = 6) -> str:
    """Some items, and how many more there are."""
    texts = list(items)
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more
