"""The results of mutation testing: a row for each change; the last one counts."""

import csv
from collections import Counter
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results" / "mutation.csv"
EQUIVALENT = HERE / "equivalent.txt"
COLUMNS = ("module", "line", "operator", "before", "after", "outcome", "tests", "seconds")
OUTCOMES = ("killed", "timeout", "survived", "equivalent")
Key = tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """A fault and its outcome."""

    module: str
    line: str
    operator: str
    before: str
    after: str
    outcome: str
    tests: str  # "nearest" to the module, or all "related" ones
    seconds: str

    @property
    def key(self) -> Key:
        """What names the fault."""
        return astuple(self)[:5]


def append(key: Key, outcome: str, tests: str, seconds: float, path: Path = RESULTS) -> None:
    """Add a row; one write, so that workers do not mix theirs."""
    path.parent.mkdir(exist_ok=True)
    with path.open("a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow([*key, outcome, tests, f"{seconds:.1f}"])


def read(path: Path = RESULTS) -> dict[Key, Row]:
    """The last row of every fault; survivors that change nothing are called equivalent."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        rows = [Row(*cells) for cells in csv.reader(file) if tuple(cells) != COLUMNS]
    same = equivalents()
    return {row.key: _judged(row, same) for row in rows}


def tidy(line_now: Callable[[Key], str | None], path: Path = RESULTS) -> None:
    """One row for a fault, in the order of the code; none for code that is no longer there."""
    found = [(row, line_now(row.key)) for row in read(path).values()]
    moved = [replace(row, line=line) for row, line in found if line is not None]
    once = {row.key: row for row in moved}.values()
    rows = sorted(once, key=lambda row: (row.module, int(row.line), row.operator))
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *map(astuple, rows)])


def equivalents(path: Path = EQUIVALENT) -> set[tuple[str, str, str]]:
    """(module, before, after) of faults that no test can or need see.

    The file has a reason on its own line, ``# why``, above the faults that it is for.
    """
    lines = path.read_text().splitlines() if path.exists() else []
    faults = [line.split(" || ") for line in lines if line and not line.startswith("#")]
    return {(module, before, after) for module, before, after in faults}


def report(path: Path = RESULTS) -> str:
    """Outcomes by module, and the survivors."""
    rows = list(read(path).values())
    lines = [f"{'module':48}" + "".join(f"{word:>11}" for word in OUTCOMES)]
    for module in [*sorted({row.module for row in rows}), "all"]:
        seen = Counter(row.outcome for row in rows if module in (row.module, "all"))
        lines.append(f"{module:48}" + "".join(f"{seen[word]:11}" for word in OUTCOMES))
    survivors = [row for row in rows if row.outcome == "survived"]
    shown = [f"{r.module}:{r.line}\n  - {r.before}\n  + {r.after}" for r in survivors]
    return "\n".join([*lines, *sorted(shown)])


def _judged(row: Row, same: set[tuple[str, str, str]]) -> Row:
    if row.outcome not in ("survived", "equivalent"):
        return row
    known = (row.module, row.before, row.after) in same
    return replace(row, outcome="equivalent" if known else "survived")
