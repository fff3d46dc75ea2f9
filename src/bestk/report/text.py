"""Names and numbers as text."""

from collections.abc import Sequence
from typing import Any

from bestk.data.printable import printable

MAX_TEXT = 120  # characters of a name
NO_VALUE = "\u2013"


def format_text(value: Any, longest: int = MAX_TEXT) -> str:
    r"""A value as visible text, control characters escaped, cut in the middle if too long.

    Examples
    --------
    >>> print(format_text("a\tb"), format_text("x" * 9, longest=5), format_text(""))
    a\tb xx…xx (empty)
    """
    text = printable(str(value))
    if len(text) > longest:
        head = longest // 2
        text = f"{text[:head]}…{text[len(text) - (longest - head - 1) :]}"
    return text if text.strip() else f"(blank) {text}".strip() if text else "(empty)"


def join_some(texts: Sequence[str], most: int, between: str = ", ", what: str = "") -> str:
    """Some texts, and how many more there are.

    Examples
    --------
    >>> join_some(["a", "b", "c", "d"], 2), join_some(["a", "b"], 2)
    ('a, b and 2 more', 'a, b')
    """
    rest = len(texts) - most
    more = f" and {rest:,} more{' ' * bool(what)}{what}" if rest > 0 else ""
    return between.join(texts[:most]) + more


def format_number(value: float, digits: int = 4) -> str:
    """A number with a few digits, never minus zero; a dash for NaN.

    Examples
    --------
    >>> format_number(0.123456), format_number(-0.00001), format_number(float("nan"))
    ('0.1235', '0.0000', '–')
    >>> format_number(3000)
    '3,000'
    """
    if value != value:
        return NO_VALUE
    if isinstance(value, int):
        return f"{value:,}"
    return f"{round(value, digits) + 0.0:,.{digits}f}"


def format_error(value: float, percent: bool = False) -> str:
    """An error or a score with four digits, or in percent.

    Examples
    --------
    >>> format_error(0.04567, percent=True), format_error(29875.1), format_error(0.0123456)
    ('4.6%', '29,875', '0.01235')
    """
    if value != value:
        return NO_VALUE
    if percent:
        return f"{value:.1%}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
