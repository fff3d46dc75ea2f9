"""Which version of the GPU code a figure belongs to."""

import ast
import csv
import tokenize
from hashlib import sha256
from io import StringIO
from pathlib import Path

from benchmarks.machine import RESULTS

BACKENDS = Path(__file__).parents[2] / "src" / "bestk" / "information" / "backends"
FILE = RESULTS / "gpu_sources.csv"


def hash_of_sources(folder: Path = BACKENDS) -> str:
    """A hash of the code for GPUs: of Python without docstrings and comments, and of kernels.

    It is that of the text, so that every version of Python gives the same.
    """
    code = sha256()
    for path in sorted(folder.glob("_torch*.py")):
        text = _without_comments(path.read_text(encoding="utf-8"))
        code.update(f"{path.name}\n{text}\n".encode())
    for path in sorted(folder.glob("*.cu")):
        code.update(f"{path.name}\n{path.read_text(encoding='utf-8')}\n".encode())
    return code.hexdigest()[:16]


def _without_comments(source: str) -> str:
    """The lines of a module without docstrings, comments and blank lines."""
    lines = source.splitlines()
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        is_documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if is_documented and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            for row in range(docstring.lineno, docstring.end_lineno + 1):
                lines[row - 1] = ""
    return "\n".join(line.rstrip() for line in lines if line.strip())


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
