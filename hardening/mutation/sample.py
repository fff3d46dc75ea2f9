"""Which faults are tried: a fixed random sample of every module, in a fixed random order."""

import ast
import random
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from hardening.mutation.operators import operators


@dataclass(frozen=True)
class Mutant:
    """One fault in one line of one file."""

    module: str  # path below src
    line: int
    operator: str
    before: str
    after: str
    source: str  # the whole file with the fault

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """What names it in the record."""
        return self.module, str(self.line), self.operator, self.before, self.after


@dataclass(frozen=True)
class Place:
    """Where an operator can be put to use."""

    line: int
    operator: str
    occurrence: int


def draw(root: Path, modules: list[str], per_module: int, seed: int) -> list[Mutant]:
    """A sample of every module, at most one fault a line, all in random order."""
    chosen = [m for name in modules for m in _of_module(root, name, per_module, seed)]
    random.Random(seed).shuffle(chosen)
    return chosen


def recall(root: Path, key: tuple[str, ...]) -> Mutant | None:
    """The mutant of a row of the record, which may have moved; None where it is no longer there."""
    module, line, operator, before, _ = key
    path = root / "src" / module
    source = path.read_text() if path.exists() else ""
    lines = [text.strip() for text in source.splitlines()]
    here = [p for p in _places(source) if p.operator == operator and lines[p.line - 1] == before]
    nearest = sorted(here, key=lambda place: abs(place.line - int(line)))
    mutants = (_put(module, source, place) for place in nearest)
    return next((m for m in mutants if m is not None and m.key[2:] == key[2:]), None)


def _of_module(root: Path, module: str, per_module: int, seed: int) -> list[Mutant]:
    source = (root / "src" / module).read_text()
    places = list(_places(source))  # not the cached list itself, which is shuffled
    random.Random(seed + zlib.crc32(module.encode())).shuffle(places)
    of_line: dict[int, Mutant] = {}
    for place in places:
        if len(of_line) < per_module and place.line not in of_line:
            mutant = _put(module, source, place)
            of_line |= {} if mutant is None else {place.line: mutant}
    return list(of_line.values())


@lru_cache(maxsize=2)
def _places(source: str) -> list[Place]:
    nodes, places = list(ast_nodes(get_ast(source))), []
    for name, operator in operators().items():
        starts = [start for node in nodes for start, _ in operator.mutation_positions(node)]
        places += [Place(line, name, i) for i, (line, _) in enumerate(starts)]
    return places


def _put(module: str, source: str, place: Place) -> Mutant | None:
    """The file with that fault; None where it changes nothing that the tests are about."""
    line = source.splitlines()[place.line - 1].lstrip()
    if line.startswith(("@", "*,")) or ("def " in line and "Operator" in place.operator):
        return None  # compiled, frozen, by keyword only
    changed = mutate_code(source, operators()[place.operator], place.occurrence)
    if changed is None or _meaning(changed) in (None, _meaning(source)):
        return None
    return Mutant(module, *_difference(source, changed, place.operator), source=changed)


def _difference(source: str, changed: str, operator: str) -> tuple[int, str, str, str]:
    lines = zip(source.splitlines(), changed.splitlines(), strict=False)
    number, (a, b) = next((i, pair) for i, pair in enumerate(lines, 1) if pair[0] != pair[1])
    return number, operator, a.strip(), b.strip()


@lru_cache(maxsize=2)
def _meaning(source: str) -> str | None:
    """The syntax tree without types, which no test can see; None where there is none."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            if hasattr(node, field):
                setattr(node, field, None)
    return ast.dump(tree)
