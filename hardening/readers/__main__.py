"""``python -m hardening.readers --seconds 600``: files that are damaged, odd or no tables."""

import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["bestk.tables.files", "bestk.tables.sources"]):
    import bestk.tables.files
    import bestk.tables.sources

from hardening.fuzzing import fuzz
from hardening.readers.seeds import SUFFIXES, make_seeds


def main() -> None:
    """Read each input as a file of the kind that its first byte says."""
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    paths = [folder / f"table{suffix}" for suffix in SUFFIXES]

    def read(data: bytes) -> None:
        if data:
            path = paths[data[0] % len(paths)]
            path.write_bytes(data[1:])
            read_file(path)

    fuzz("readers", f"files of {', '.join(SUFFIXES)}", read, make_seeds())


def read_file(path: Path) -> None:
    """Load a file, whose first column is the target; what may be wrong with it is said."""
    try:
        source = bestk.tables.sources.open_source(path)
        loaded = bestk.tables.files.load(source, next(iter(source.types)))
    except (ValueError, OSError) as error:
        if len(str(error)) < 20:
            raise AssertionError("no advice") from error
        return
    rows = loaded.table.n_samples
    if len(loaded.y) != rows or any(len(block.values) != rows for block in loaded.table.blocks):
        raise AssertionError(f"{rows} rows, but not in all columns")


if __name__ == "__main__":
    main()
