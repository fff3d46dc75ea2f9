"""Which version of the GPU code a figure belongs to."""

import ast
import csv
from hashlib import sha256
from pathlib import Path

from benchmarks.machine import RESULTS

BACKENDS = Path(__file__).parents[2] / "src" / "bestk" / "information" / "backends"
FILE = RESULTS / "gpu_sources.csv"


def hash_of_sources(folder: Path = BACKENDS) -> str:
    """A hash of the code for GPUs: of Python without docstrings and comments, and of kernels."""
    known = sha256()
    for path in sorted(folder.glob("_torch*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known.update(f"{path.name}\n{ast.dump(_without_docstrings(tree))}\n".encode())
    for path in sorted(folder.glob("*.cu")):
        known.update(f"{path.name}\n{path.read_text(encoding='utf-8')}\n".encode())
    return known.hexdigest()[:16]


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        is_documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if is_documented and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return tree


def read_record(path: Path = FILE) -> dict[str, str]:
    """By part of the benchmark: the hash of the sources that its figures belong to."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row["part"]: row["sources"] for row in csv.DictReader(file)}


def note_part(part: str, path: Path = FILE) -> None:
    """Note that a part was measured with the sources as they are now."""
    record = {**read_record(path), part: hash_of_sources()}
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["part", "sources"])
        writer.writerows(sorted(record.items()))
