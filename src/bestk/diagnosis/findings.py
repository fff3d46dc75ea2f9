"""Findings: what a person should know of the selected columns, in one sentence each."""

from collections.abc import Sequence
from dataclasses import dataclass

# Columns that a sentence names; of more it says how many there are.
MAX_NAMES = 8

# Categories of a column from which on it is reported, as each has few rows.
MAX_CATEGORIES = 50


@dataclass(frozen=True)
class Finding:
    """Columns with the same problem."""

    kind: str
    """"constant", "leak", "identifier", "chance", "cardinality" or "copy"."""

    places: tuple[int, ...]
    """The columns, by their places in the table."""

    sentence: str
    """What the problem is, and what can be done about it."""


def constant_columns(places: Sequence[int], names: Sequence[object], k: int) -> Finding:
    """Columns of one value that were selected because no others were left."""
    who = quote(places, names)
    return Finding(
        "constant",
        tuple(places),
        f"{who}: constant, and selected because k={k} is more than the columns that vary; use a "
        "smaller k",
    )


def leaking_columns(places: Sequence[int], names: Sequence[object]) -> Finding:
    """Columns that nearly determine the target."""
    who = quote(places, names)
    if len(places) == 1:
        advice = "nearly determines the target alone, a possible leak; exclude it if it is not"
    else:
        advice = (
            "each nearly determines the target alone, a possible leak; exclude them if they are not"
        )
    return Finding("leak", tuple(places), f"{who}: {advice} known at the time of prediction")


def identifiers(places: Sequence[int], names: Sequence[object]) -> Finding:
    """Columns that name rows."""
    who = quote(places, names)
    if len(places) == 1:
        advice = "exclude it if it only names rows"
    else:
        advice = "exclude them if they only name rows"
    return Finding(
        "identifier",
        tuple(places),
        f"{who}: a different value in most rows, as an identifier has; {advice}",
    )


def columns_at_chance(places: Sequence[int], names: Sequence[object], *, chose_k: bool) -> Finding:
    """Columns that tell no more than chance; ``chose_k``: whether k="auto" was used."""
    advice = "use a smaller k" if chose_k else "use a smaller k, or k='auto'"
    return Finding(
        "chance",
        tuple(places),
        f"{quote(places, names)}: selected, but no more related to the target than chance would "
        f"give; {advice}",
    )


def many_categories(places: Sequence[int], names: Sequence[object]) -> Finding:
    """Columns of many categories."""
    return Finding(
        "cardinality",
        tuple(places),
        f"{quote(places, names)}: more than {MAX_CATEGORIES} categories, so that each has few rows "
        "to learn from; group rare ones",
    )


def copied_columns(places: Sequence[int], names: Sequence[object]) -> Finding:
    """Columns of which one is enough."""
    return Finding(
        "copy",
        tuple(places),
        f"{quote(places, names)}: copies of each other, up to scale and shift, or the names of "
        "categories; one of them is enough",
    )


def quote(places: Sequence[int], names: Sequence[object]) -> str:
    """The names of some columns, and how many more there are."""
    quoted = [repr(str(names[place])) for place in places]
    n_unnamed = len(quoted) - MAX_NAMES
    ending = f" and {n_unnamed} more" if n_unnamed > 0 else ""
    return ", ".join(quoted[:MAX_NAMES]) + ending
