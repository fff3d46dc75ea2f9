"""Text of tables and file names that a terminal shows, and does not obey."""

import re

# what moves, hides or turns around other text: control characters, ends of lines and paragraphs,
# directions of writing, and halves of characters; joiners belong to words and emoji, and stay
HOSTILE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""One line in which control characters are spelled out, as Python writes them.

    Examples
    --------
    >>> print(printable("age\x1b[31m, größe\n"))
    age\x1b[31m, größe\n
    """
    return HOSTILE.sub(lambda found: ascii(found[0])[1:-1], text)


def printable_json(document: str) -> str:
    r"""A document with the same values, whose control characters are spelled out, as JSON does."""
    return HOSTILE.sub(
        lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", document
    )
