"""How to repeat a selection: code, settings and versions."""

import ast
import builtins
import sys
from importlib.metadata import version
from inspect import signature
from typing import Any

import numpy as np

import bestk
from bestk.report.records import ReportRequest
from bestk.report.text import format_text

PACKAGES = ("bestk", "numpy", "scipy", "scikit-learn")
FRAMES = {".csv": "read_csv", ".parquet": "read_parquet", ".feather": "read_feather"}


def list_settings(options: Any) -> dict[str, str]:
    """All parameters of a selector as Python code."""
    return {name: _repr(value) for name, value in options.get_params(deep=False).items()}


def list_versions() -> dict[str, str]:
    """The versions of Python and of the packages that matter."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"Python": python} | {name: version(name) for name in PACKAGES}


def write_code(request: ReportRequest, *, in_memory: bool = True) -> str:
    """Python code that selects the same features; the table comes from a file if it is known.

    Parameters that need more than bestk to write are left as variables.

    Examples
    --------
    >>> from bestk import SelectBestK
    >>> print(write_code(ReportRequest(SelectBestK(k=5, method="exact"))))
    from bestk import SelectBestK
    <BLANKLINE>
    # X is the table, y the target
    selector = SelectBestK(k=5, method='exact').fit(X, y)
    print(selector.solution_)
    """
    kind, path, target = type(request.selected), request.path, request.target
    plain = {name: _repr(each.default) for name, each in signature(kind).parameters.items()}
    settings = list_settings(request.selected).items()
    given = {name: (text, _names_in(text)) for name, text in settings if text != plain[name]}
    ours, plain_names = set(bestk.__all__), set(dir(builtins))
    foreign = [name for name, (_, names) in given.items() if names - ours - plain_names]
    used = (given[name][1] for name in given if name not in foreign)
    known = {kind.__name__}.union(*used) - plain_names
    arguments = ", ".join(f"{name}={name if name in foreign else text}"
                          for name, (text, _) in given.items())  # fmt: skip
    lines, data = [f"from bestk import {', '.join(sorted(known))}", ""], "X, y"
    reader = next((read for end, read in FRAMES.items() if path and path.endswith(end)), None)
    if path is not None and not in_memory:
        data = f"{path!r}, {target!r}"
    elif reader is None:
        lines.append("# X is the table, y the target")
    else:
        lines = ["import pandas as pd", *lines, f"table = pd.{reader}({path!r})"]
        lines.append(f"table = table.dropna(subset=[{target!r}])")
        columns = [target, *request.dropped]
        lines.append(f"X, y = table.drop(columns={columns!r}), table[{target!r}]")
    lines += [f"# {name}, which you defined: {format_text(given[name][0])}" for name in foreign]
    lines.append(f"selector = {kind.__name__}({arguments}).fit({data})")
    return "\n".join([*lines, "print(selector.solution_)"])


def _repr(value: Any) -> str:
    """A value as Python code; scikit-learn would cut long ones."""
    if hasattr(value, "get_params"):
        return str(value.__repr__(N_CHAR_MAX=10**6))
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


def _names_in(text: str) -> set[str]:
    """The names that a piece of code uses; an impossible one if it is no code.

    Examples
    --------
    >>> sorted(_names_in("Quadratic('mrmr', [1, None])")), _names_in("<odd>")
    (['Quadratic'], {''})
    """
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return {""}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
