"""A file of finished jobs, with a line for each."""

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine

Key = tuple[str, ...]  # part, data set, and what tells a job from the others of the set


class Store:
    """Results by key. The first line of each start says where and when; the others are jobs.

    A job is one line, written at once: it is in the file as a whole or, after a sudden end, cut
    short and cut away at the next start. ``pack`` keeps a compressed copy, from which a missing
    file is made again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results: dict[Key, Any] = {}
        self._starts: list[dict[str, Any]] = []
        self._start_of: dict[Key, dict[str, Any]] = {}
        self._announced = False
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() and self.packed.exists():
            path.write_bytes(gzip.decompress(self.packed.read_bytes()))
        self._cut_unfinished_line()
        for line in self._lines():
            self._keep(json.loads(line))

    @property
    def packed(self) -> Path:
        """The compressed copy."""
        return self.path.with_name(self.path.name + ".gz")

    @property
    def starts(self) -> list[dict[str, Any]]:
        """Machine, date and commit of each start that finished a job."""
        return self._starts

    def __contains__(self, key: Key) -> bool:
        return key in self._results

    def __getitem__(self, key: Key) -> Any:
        return self._results[key]

    def __len__(self) -> int:
        return len(self._results)

    def under(self, *beginning: str) -> Iterator[tuple[Key, Any]]:
        """Keys that begin so, without that beginning, and their results."""
        size = len(beginning)
        for key, result in self._results.items():
            if key[:size] == beginning:
                yield key[size:], result

    def starts_of(self, *beginning: str) -> list[dict[str, Any]]:
        """The starts that made the results whose keys begin so, in their order."""
        size = len(beginning)
        used = {id(start) for key, start in self._start_of.items() if key[:size] == beginning}
        return [start for start in self._starts if id(start) in used]

    def add(self, key: Key, result: Any) -> None:
        """Keep a result, in the file first; the first of equal keys stays."""
        if key in self._results:
            return
        if not self._announced:
            self._append({"start": asdict(describe_machine())})
            self._announced = True
        self._append({"key": list(key), "result": result})

    def pack(self) -> None:
        """Write the compressed copy, the same bytes for the same rows."""
        if self.path.exists():
            packed = gzip.compress(self.path.read_bytes(), mtime=0)
            part = self.packed.with_suffix(".part")
            part.write_bytes(packed)
            part.replace(self.packed)

    def _append(self, entry: dict[str, Any]) -> None:
        line = json.dumps(entry, separators=(",", ":")) + "\n"
        with self.path.open("a") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._keep(json.loads(line))

    def _keep(self, entry: dict[str, Any]) -> None:
        if "start" in entry:
            self._starts.append(entry["start"])
        elif (key := tuple(entry["key"])) not in self._results:
            self._results[key] = entry["result"]
            self._start_of[key] = self._starts[-1]

    def _lines(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.exists() else []

    def _cut_unfinished_line(self) -> None:
        text = self.path.read_bytes() if self.path.exists() else b""
        if text and not text.endswith(b"\n"):
            self.path.write_bytes(text[: text.rfind(b"\n") + 1])
