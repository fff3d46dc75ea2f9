"""The exact selections of every method on every data set."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk import METHODS, select
from hardening.golden.sets import SHIPPED, read

FILE = Path(__file__).parents[2] / "tests" / "golden" / "selections.json"
SLOW = {"search", "exact", "mrmr-global", "jmi-global", "lowrank"}  # on thousands of columns
Record = dict[str, dict[str, dict[str, Any]]]


def chosen(X: NDArray[Any], y: NDArray[Any], method: str, **options: Any) -> dict[str, Any]:
    """The features, best first, and the objective in hexadecimal: each bit of it."""
    k = min(8, X.shape[1] // 2)
    target = "continuous" if y.dtype.kind == "f" else "auto"
    solution = select(X, y, k, method, random_state=0, bound=None, target=target, **options)
    value = float(solution.objective)
    return {"support": solution.support.tolist(), "objective": value.hex()}


def selections(name: str) -> dict[str, dict[str, Any]]:
    """What each method selects of one set."""
    X, y = read(name)
    few = X.shape[1] <= 1000
    return {method: chosen(X, y, method) for method in METHODS if few or method not in SLOW}


def stored() -> Record:
    """The record that is kept."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def compute(names: Iterable[str]) -> Record:
    """What these sets give now."""
    found = {}
    for name in names:
        print(f"selecting from {name}", file=sys.stderr)
        found[name] = selections(name)
    return found


def write(record: Record) -> None:
    """Keep a record; sets that are not in it stay as they were."""
    kept = (stored() if FILE.exists() else {}) | record
    lines = [
        f'  "{name}": {{\n'
        + ",\n".join(f'    "{key}": {json.dumps(value)}' for key, value in methods.items())
        + "\n  }"
        for name, methods in kept.items()
    ]
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def differences(before: Record, after: Record) -> Iterator[str]:
    """A line for each selection that is not as it was."""
    for name, methods in after.items():
        for method, now in methods.items():
            was = before.get(name, {}).get(method)
            if was is None:
                yield f"{name}, {method}: new"
            elif was != now:
                yield f"{name}, {method}: {_change(was, now)}"
        for method in sorted(set(before.get(name, {})) - set(methods)):
            yield f"{name}, {method}: no longer there"


def _change(was: dict[str, Any], now: dict[str, Any]) -> str:
    value, other = (float.fromhex(record["objective"]) for record in (was, now))
    worth = f"objective {value:.12g} -> {other:.12g} ({other - value:+.2g})"
    gone = sorted(set(was["support"]) - set(now["support"]))
    come = sorted(set(now["support"]) - set(was["support"]))
    if gone:
        return f"features {gone} gave way to {come}; {worth}"
    order = "the order of the features changed; " if was["support"] != now["support"] else ""
    return order + worth


def differing(before: Record, after: Record, closeness: float) -> list[tuple[str, str]]:
    """Sets and methods with other features, or an objective further off than ``closeness``."""
    return [
        (name, method)
        for name, methods in after.items()
        for method, now in methods.items()
        if not _alike(before.get(name, {}).get(method), now, closeness)
    ]


def _alike(was: dict[str, Any] | None, now: dict[str, Any], closeness: float) -> bool:
    if was is None or set(was["support"]) != set(now["support"]):
        return False
    values = [float.fromhex(record["objective"]) for record in (was, now)]
    return bool(np.isclose(*values, rtol=closeness, atol=closeness))


__all__ = ["SHIPPED", "compute", "differences", "differing", "selections", "stored", "write"]
