"""Folders to break: small, full and read-only ones, and a table to work on."""

import csv
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.datasets import load_breast_cancer

COLUMNS = 30


def write_table(path: Path, times: int = 1) -> Path:
    """A table of 569 rows, or some times as many."""
    data = load_breast_cancer()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*data.feature_names, "diagnosis"])
        for _ in range(times):
            for row, label in zip(data.data, data.target, strict=True):
                writer.writerow([*row.tolist(), data.target_names[label]])
    return path


@contextmanager
def small_disk(kilobytes: int) -> Iterator[Path]:
    """A file system of its own with room for so much; needs the right to mount."""
    with TemporaryDirectory() as folder:
        _do("mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", folder)
        try:
            yield Path(folder)
        finally:
            _do("umount", folder)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nothing be written in the folder, which is a file system of its own."""
    _do("mount", "-o", "remount,ro", str(folder))
    try:
        yield
    finally:
        _do("mount", "-o", "remount,rw", str(folder))


def may_mount() -> bool:
    """Whether this process may make file systems."""
    try:
        with small_disk(64):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


def fill(folder: Path) -> None:
    """Take all room that is left."""
    with (folder / "ballast").open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 4096):
            pass


def contents(folder: Path) -> dict[str, bytes]:
    """All files, with what is in them."""
    found = (Path(root) / name for root, _, names in os.walk(folder) for name in names)
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def _do(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)
