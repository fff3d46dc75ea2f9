"""What a misspelt name was meant to be."""

from collections.abc import Sequence


def suggest(name: str, names: Sequence[str]) -> str:
    """The nearest of the names, in words."""
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=1, cutoff=0.5)
    shown = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
    return f"did you mean {near[0]!r}?" if near else f"the columns are {shown}"
