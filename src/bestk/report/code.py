"""Python code that repeats a selection."""

import ast
import builtins
from inspect import signature
from typing import Any

import numpy as np

import bestk
from bestk.report.records import ReportRequest, format_text

FRAMES = {".csv": "read_csv", ".parquet": "read_parquet", ".feather": "read_feather"}


def list_settings(options: Any) -> dict[str, str]:
    """All parameters of a selector as Python code."""
    return {name: _repr(value) for name, value in options.get_params(deep=False).items()}


def write_code(request: ReportRequest, *, in_memory: bool = True) -> str:
    """Python code that selects the same features; the table comes from a file if it is known.

    Parameters that need more than bestk to write are left as variables.
    """
    kind, path, target = type(request.selected), request.path, request.target
    plain = {name: _repr(each.default) for name, each in signature(kind).parameters.items()}
    given = {n: text for n, text in list_settings(request.selected).items() if text != plain[n]}
    used = {name: _names_in(text) - set(dir(builtins)) for name, text in given.items()}
    foreign = [name for name in given if used[name] - set(bestk.__all__)]
    imported = {kind.__name__}.union(*(used[name] for name in given if name not in foreign))
    lines, data = [f"from bestk import {', '.join(sorted(imported))}", ""], "X, y"
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
    lines += [f"# {name}, which you defined: {format_text(given[name])}" for name in foreign]
    arguments = (f"{name}={name if name in foreign else text}" for name, text in given.items())
    lines.append(f"selector = {kind.__name__}({', '.join(arguments)}).fit({data})")
    return "\n".join([*lines, "print(selector.solution_)"])


def _repr(value: Any) -> str:
    """A value as Python code; scikit-learn would cut long ones."""
    if hasattr(value, "get_params"):
        return str(value.__repr__(N_CHAR_MAX=10**6))
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


def _names_in(text: str) -> set[str]:
    """The names that a piece of code uses; an impossible one if it is no code."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return {""}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
