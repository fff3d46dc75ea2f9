"""Text from a table, made fit to be shown: cut, and without characters that cannot be seen."""

from collections.abc import Sequence
from math import floor, log10
from typing import Any

LONGEST = 120  # characters of a name
UNSEEN = "\ufffd"
NONE = "\u2013"  # where there is no value


def shown(value: Any, longest: int = LONGEST) -> str:
    r"""A value as text, control characters as their pictures, too long ones cut in the middle.

    Examples
    --------
    >>> shown("a\tb"), shown("x" * 9, longest=5), shown("")
    ('a␉b', 'xx…xx', '(empty)')
    """
    text = "".join(map(_visible, str(value)))
    if len(text) > longest:
        head = longest // 2
        text = f"{text[:head]}…{text[len(text) - (longest - head - 1) :]}"
    return text if text.strip() else f"(blank) {text}".strip() if text else "(empty)"


def _visible(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    unseen = 0x80 <= code < 0xA0 or 0xD800 <= code < 0xE000 or code & 0xFFFE == 0xFFFE
    return UNSEEN if unseen or 0xFDD0 <= code < 0xFDF0 else character


def listing(texts: Sequence[str], most: int, between: str = ", ", what: str = "") -> str:
    """Some texts in a row, and how many more there are.

    Examples
    --------
    >>> listing(["a", "b", "c", "d"], 2), listing(["a", "b"], 2)
    ('a, b and 2 more', 'a, b')
    """
    rest = len(texts) - most
    more = f" and {rest:,} more{' ' * bool(what)}{what}" if rest > 0 else ""
    return between.join(texts[:most]) + more


def number(value: float, digits: int = 4) -> str:
    """A number as it is read: a few digits, never minus zero, a dash where there is none.

    Examples
    --------
    >>> number(0.123456), number(-0.00001), number(float("nan")), number(3)
    ('0.1235', '0.0000', '–', '3')
    """
    if value != value:
        return NONE
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) == float("inf"):
        return "∞" if value > 0 else "-∞"
    return f"{round(value, digits) + 0.0:.{digits}f}"


def rounded(value: float, *, share: bool = False) -> str:
    """An error to four digits, or in percent where it is a share of rows.

    Examples
    --------
    >>> rounded(0.04567, share=True), rounded(2987.51), rounded(0.0123456), rounded(0.0)
    ('4.6%', '2,988', '0.01235', '0')
    """
    if value != value:
        return NONE
    if share:
        return f"{100 * value:.1f}%"
    if value == 0 or abs(value) == float("inf"):
        return number(value) if value else "0"
    if abs(value) >= 1e9 or abs(value) < 1e-6:
        return f"{value:.3e}"
    return f"{value:,.{max(0, 3 - floor(log10(abs(value))))}f}"
