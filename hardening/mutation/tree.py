"""A copy of the repository to change."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hardening.mutation.sample import Mutant

PARTS = ("src", "tests", "pyproject.toml")


class Tree:
    """A worker's copy of a tree, the compiled library included."""

    def __init__(self, base: Path, folder: Path) -> None:
        self.base, self.folder = base, folder
        shutil.rmtree(folder, ignore_errors=True)
        copy_parts(base, folder)

    @contextmanager
    def fault(self, mutant: Mutant) -> Iterator[None]:
        """Hold the fault while the tests run, then put all back."""
        (self.folder / "src" / mutant.module).write_text(mutant.source)
        try:
            yield
        finally:
            shutil.copy2(self.base / "src" / mutant.module, self.folder / "src" / mutant.module)


def copy_parts(source: Path, target: Path) -> None:
    """Source, tests and settings."""
    target.mkdir(parents=True)
    for part in PARTS:
        copy = shutil.copytree if (source / part).is_dir() else shutil.copy2
        copy(source / part, target / part)
