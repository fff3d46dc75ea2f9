"""How to get the same selection again: code, settings and versions."""

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from importlib.metadata import version
from inspect import signature
from typing import Any

from bestk.report._text import shown

PACKAGES = ("bestk", "numpy", "scipy", "scikit-learn")
FRAMES = {".csv": "read_csv", ".parquet": "read_parquet", ".feather": "read_feather"}


def settings(options: Any) -> dict[str, str]:
    """All parameters of a selector as they are written in Python."""
    return {name: _repr(value) for name, value in options.get_params(deep=False).items()}


def changed(options: Any) -> dict[str, Any]:
    """The parameters that are not as they are by default."""
    plain = {name: each.default for name, each in signature(type(options)).parameters.items()}
    given = options.get_params(deep=False)
    return {name: value for name, value in given.items() if _repr(plain[name]) != _repr(value)}


def snippet(
    options: Any, path: str | None = None, target: str = "y", dropped: Sequence[str] = (),
    *, in_memory: bool = True,
) -> str:  # fmt: skip
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
    given = {name: (value, _repr(value)) for name, value in changed(options).items()}
    odd = [name for name, (_, text) in given.items() if not _is_code(text)]
    arguments = ", ".join(f"{name}={name if name in odd else text}"
                          for name, (_, text) in given.items())  # fmt: skip
    values = [value for name, (value, _) in given.items() if name not in odd]
    lines = _imports([type(options), *(each for value in values for each in _classes(value))])
    if "array(" in arguments:
        lines.append("from numpy import array")
    reader = next((read for end, read in FRAMES.items() if path and path.endswith(end)), None)
    given_to = "X, y" if in_memory or path is None else f"{path!r}, {target!r}"
    if given_to != "X, y":
        lines.append("")
    elif reader is None:
        lines += ["", "# X is the table, y the target"]
    else:
        lines = ["import pandas as pd", *lines, "", f"table = pd.{reader}({path!r})"]
        lines.append(f"table = table.dropna(subset=[{target!r}])")
        lines.append(f"X, y = table.drop(columns={[target, *dropped]!r}), table[{target!r}]")
    lines += [f"# {name} is yours: {shown(given[name][1])}" for name in odd]
    lines.append(f"selector = {type(options).__name__}({arguments}).fit({given_to})")
    return "\n".join([*lines, "print(selector.solution_)"])


def _repr(value: Any) -> str:
    """A value as it is written in Python; scikit-learn would cut long ones."""
    if hasattr(value, "get_params"):
        return str(value.__repr__(N_CHAR_MAX=10**6))
    return repr(value)


def _is_code(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def _classes(value: Any) -> Iterator[type]:
    """The classes that are named where a value is written in Python."""
    if isinstance(value, list | tuple | set):
        for item in value:
            yield from _classes(item)
    elif isinstance(value, dict):
        yield from _classes([*value.keys(), *value.values()])
    elif _repr(value).startswith(f"{type(value).__name__}("):
        yield type(value)
        if hasattr(value, "get_params"):
            yield from _classes(list(value.get_params(deep=False).values()))
        elif is_dataclass(value):
            yield from _classes([getattr(value, each.name) for each in fields(value)])


def _imports(classes: Sequence[type]) -> list[str]:
    """A line for each module that classes are imported from."""
    homes: dict[str, set[str]] = {}
    for each in classes:
        if each.__module__ not in ("builtins", "numpy"):
            homes.setdefault(_home(each), set()).add(each.__name__)
    return [f"from {home} import {', '.join(sorted(homes[home]))}" for home in sorted(homes)]


def _home(each: type) -> str:
    """The module that a class is known by: the first of its parents that has it.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> StandardScaler.__module__, _home(StandardScaler)
    ('sklearn.preprocessing._data', 'sklearn.preprocessing')
    """
    parts = each.__module__.split(".")
    for end in range(1, len(parts)):
        home = ".".join(parts[:end])
        if getattr(import_module(home), each.__name__, None) is each:
            return home
    return each.__module__


def versions() -> dict[str, str]:
    """What the report was made with."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"Python": python} | {name: version(name) for name in PACKAGES}
