"""Small valid files of each format, to start from."""

import gzip
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

SUFFIXES = (".csv", ".tsv", ".csv.gz", ".parquet", ".feather", ".arrow")
LINES = (
    "y,x,name\n0,1.5,a\n1,,b\n0,2.5,a\n1,nan,\n",
    'y,"x,1","na""me"\nno,1e308,"two\nlines"\nyes,-1,"?"\n',
    ",y,y2\r\n0,true,2020-01-01\r\n1,false,2021-02-03\r\n",
    "y\n0\n1\n",
    "\ufeffy,x\n1,99999999999999999999\n0,0x10\n",
)


def make_seeds() -> list[bytes]:
    """A byte that says of which kind it is, and the file."""
    table = pa.table(
        {
            "y": [0, 1, 0, None],
            "x": [1.5, None, float("nan"), 2.0],
            "word": pa.array(["a", "b", None, "a"]).dictionary_encode(),
            "truth": [True, False, None, True],
        }
    )
    seeds = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, suffix in enumerate(SUFFIXES):
            contents = _contents(suffix, table, Path(folder, f"t{suffix}"))
            seeds += [bytes([kind]) + content for content in contents]
    return seeds


def _contents(suffix: str, table: pa.Table, path: Path) -> list[bytes]:
    if suffix in (".csv", ".tsv"):
        return [(text if suffix == ".csv" else text.replace(",", "\t")).encode() for text in LINES]
    if suffix == ".csv.gz":
        return [gzip.compress(text.encode()) for text in LINES[:2]]
    if suffix == ".parquet":
        pq.write_table(table, path, compression="none")
    elif suffix == ".feather":
        feather.write_feather(table, path, compression="uncompressed")
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    return [path.read_bytes()]
