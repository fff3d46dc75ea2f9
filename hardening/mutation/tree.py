"""A copy of the repository to put faults into, with no kernel left that a fault would change."""

import ast
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from hardening.mutation.sample import Mutant

PARTS = ("src", "tests", "pyproject.toml")


class Tree:
    """A worker's copy of a tree whose tests have run, compiled kernels included.

    Numba looks for a change in a kernel's own file alone, so a kernel that another file calls
    would stay as it was: every kernel whose file imports the changed one is forgotten.
    """

    def __init__(self, base: Path, folder: Path) -> None:
        self.base, self.folder = base, folder
        shutil.rmtree(folder, ignore_errors=True)
        copy_parts(base, folder)

    @contextmanager
    def fault(self, mutant: Mutant, keep: bool = False) -> Iterator[None]:
        """Hold the fault while the tests run, then put all back; ``keep`` what callers compiled."""
        stale = [mutant.module] if keep else self.stale(mutant.module)
        self._forget(stale)
        (self.folder / "src" / mutant.module).write_text(mutant.source)
        try:
            yield
        finally:
            shutil.copy2(self.base / "src" / mutant.module, self.folder / "src" / mutant.module)
            self._forget(stale)
            for kernel in [k for module in stale for k in compiled(self.base, module)]:
                shutil.copy2(kernel, self.folder / kernel.relative_to(self.base))

    def stale(self, module: str) -> list[str]:
        """The files with kernels that hold code or constants of ``module``."""
        return [name for name in self._kernels if module in self._reached(name)]

    def _forget(self, modules: list[str]) -> None:
        for module in modules:
            for kernel in compiled(self.folder, module):
                kernel.unlink()

    @cached_property
    def _imports(self) -> dict[str, set[str]]:
        src = self.base / "src"
        return {str(p.relative_to(src)): imports(src, p) for p in src.rglob("*.py")}

    @cached_property
    def _kernels(self) -> list[str]:
        return [module for module in self._imports if compiled(self.base, module)]

    def _reached(self, module: str) -> set[str]:
        """The module and all that it imports, however far."""
        reached, ahead = set(), [module]
        while ahead:
            name = ahead.pop()
            if name not in reached:
                reached.add(name)
                ahead += self._imports[name]
        return reached


def copy_parts(source: Path, target: Path) -> None:
    """Source, tests and settings; times of files are kept, because kernels are dated by them."""
    target.mkdir(parents=True)
    for part in PARTS:
        copy = shutil.copytree if (source / part).is_dir() else shutil.copy2
        copy(source / part, target / part)


def compiled(root: Path, module: str) -> list[Path]:
    """The stored kernels of a file."""
    path = root / "src" / module
    return list((path.parent / "__pycache__").glob(f"{path.stem}.*.nb[ic]"))


def imports(src: Path, path: Path) -> set[str]:
    """The files of the package that a file imports from."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    stems = [name.replace(".", "/") for name in found]
    files = [f"{stem}{end}" for stem in stems for end in (".py", "/__init__.py")]
    return {name for name in files if (src / name).exists()}
