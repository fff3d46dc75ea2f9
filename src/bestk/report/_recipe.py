"""How to get the same selection again: code, settings and versions."""

import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

PACKAGES = ("bestk", "numpy", "scipy", "scikit-learn", "numba")
FRAMES = {".csv": "read_csv", ".parquet": "read_parquet", ".feather": "read_feather"}


def settings(options: Any) -> dict[str, str]:
    """All parameters of a selector as they are written in Python."""
    return {name: repr(value) for name, value in options.get_params(deep=False).items()}


def changed(options: Any) -> dict[str, str]:
    """The parameters that are not as they are by default."""
    plain = settings(type(options)())
    return {name: value for name, value in settings(options).items() if plain[name] != value}


def snippet(
    options: Any, path: str | None = None, target: str = "y", dropped: Sequence[str] = ()
) -> str:
    """Python that selects the same features; the table is read from a file, if that is known.

    Examples
    --------
    >>> from bestk import SelectBestK
    >>> print(snippet(SelectBestK(k=5, method="exact")))
    from bestk import SelectBestK
    <BLANKLINE>
    # X is the table, y the target
    selector = SelectBestK(k=5, method='exact').fit(X, y)
    print(selector.solution_)
    """
    import bestk

    given = changed(options)
    used = {"SelectBestK"} | {name for name in bestk.__all__
                              if any(f"{name}(" in value for value in given.values())}  # fmt: skip
    arguments = ", ".join(f"{name}={value}" for name, value in given.items())
    lines = [f"from bestk import {', '.join(sorted(used))}"]
    if arguments.find("array(") >= 0:
        lines.append("from numpy import array")
    reader = next((read for end, read in FRAMES.items() if path and path.endswith(end)), None)
    if reader is None:
        lines += ["", "# X is the table, y the target"]
    else:
        lines = ["import pandas as pd", *lines, "", f"table = pd.{reader}({path!r})"]
        lines.append(f"table = table.dropna(subset=[{target!r}])")
        lines.append(f"X, y = table.drop(columns={[target, *dropped]!r}), table[{target!r}]")
    lines.append(f"selector = SelectBestK({arguments}).fit(X, y)")
    return "\n".join([*lines, "print(selector.solution_)"])


def versions() -> dict[str, str]:
    """What the report was made with."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"Python": python} | {name: version(name) for name in PACKAGES}
