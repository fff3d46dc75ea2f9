"""How fast the kernels are, as a table of text."""

from collections.abc import Iterator
from typing import Any

from bestk.cli._child import OVER, failed
from bestk.cli._progress import busy

HEAD = ("timed", "size", "first call", "then", "each", "speed")
FIRST = "first call: with what it takes to compile kernels, or to load them once they are compiled"
AGAIN = "run it again, as what is compiled is kept, or give it more --seconds"


def bench_lines(bench: dict[str, Any]) -> Iterator[str]:
    """A line for each thing that was timed."""
    rows = [HEAD, *(_row(name, told) for name, told in bench.items() if not failed(told))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells in rows:
        padded = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        yield "  ".join([name.ljust(widths[0]), *padded])
    yield FIRST
    if note := busy():
        yield note
    errors = {name: told["error"] for name, told in bench.items() if failed(told)}
    yield from (f"{name}: {error}" for name, error in errors.items() if error != OVER)
    if late := [name for name, error in errors.items() if error == OVER]:
        yield f"the time was up before: {'; '.join(late)}"
        yield AGAIN


def _row(name: str, told: dict[str, Any]) -> tuple[str, ...]:
    unit, speed = told["unit"], told["per_second"]
    each = f"{in_digits(1e9 / speed)} ns a {unit}" if unit in ("pair", "value") else ""
    return (name, told["size"], in_units(told["first_seconds"]), in_units(told["seconds"]), each,
            f"{in_thousands(speed)}{'FLOP' if unit == 'flop' else f' {unit}s'}/s")  # fmt: skip


def in_digits(number: float) -> str:
    """Three digits, or all of those before the point.

    Examples
    --------
    >>> in_digits(1.2345), in_digits(2345.6)
    ('1.23', '2,346')
    """
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def in_units(seconds: float) -> str:
    """Seconds as people read them.

    Examples
    --------
    >>> in_units(2.345), in_units(0.0123)
    ('2.35 s', '12.3 ms')
    """
    return f"{in_digits(seconds)} s" if seconds >= 1 else f"{in_digits(1000 * seconds)} ms"


def in_thousands(number: float) -> str:
    """A number of things as people read it.

    Examples
    --------
    >>> in_thousands(12.3), in_thousands(45_600_000), in_thousands(9.99e10)
    ('12.3', '45.6 M', '99.9 G')
    """
    for letter, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{in_digits(number / size)} {letter}"
    return in_digits(number)
