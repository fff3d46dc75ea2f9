"""Tables of many columns: every form gives the same codes, and none is expanded to float64."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from bestk import SelectBestK, encode
from bestk.tables.files import load
from bestk.tables.sources import open_source

ROWS, COLUMNS = 200, 4000


@pytest.fixture(scope="module", name="X")
def make_table():
    tosses = np.random.default_rng(0).random((ROWS, COLUMNS))
    return np.digitize(tosses, [0.8, 0.9]).astype(np.uint8)


@pytest.fixture(scope="module")
def y():
    return np.arange(ROWS) % 2


def forms(X, folder):
    np.save(folder / "X.npy", X)
    return {
        "memmap": np.load(folder / "X.npy", mmap_mode="r"),
        "columns together": np.asfortranarray(X),
        "csc": sparse.csc_array(X),
        "csr": sparse.csr_matrix(X),
        "arrow": pa.Table.from_arrays(list(X.T), [f"x{j}" for j in range(X.shape[1])]),
    }


NAMES = ("memmap", "columns together", "csc", "csr", "arrow")


@pytest.mark.parametrize("name", NAMES)
def test_every_form_gives_the_same_selection(name, X, y, tmp_path):
    table = forms(X[:, :300], tmp_path)[name]
    for method in ("jmi", "tpower"):
        wanted = SelectBestK(5, method, discretizer=None).fit(X[:, :300], y)
        found = SelectBestK(5, method, discretizer=None).fit(table, y)
        np.testing.assert_array_equal(found.solution_.support, wanted.solution_.support)
        np.testing.assert_array_equal(found.scores_, wanted.scores_)


@pytest.mark.parametrize("name", NAMES)
def test_no_form_is_expanded_to_float64(name, X, tmp_path):
    table = forms(X, tmp_path)[name]
    tracemalloc.start()
    try:
        codes = encode(table)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(codes.values, encode(X).values)
    assert peak < 6 * X.nbytes  # the codes, a strip and, of some forms, an array of their dtype


def test_a_wide_parquet_file_is_read_by_columns_to_the_same_table(tmp_path, monkeypatch):
    rng, m = np.random.default_rng(0), 60
    columns = {f"n{j}": rng.integers(0, 3, m) for j in range(7)}
    columns |= {"real": rng.normal(size=m), "text": rng.choice(["a", "b"], m)}
    columns |= {"key": [f"row {r}" for r in range(m)], "yes": rng.random(m) < 0.5}
    columns["y"] = [None, *rng.integers(0, 2, m - 1).tolist()]
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=25)
    monkeypatch.setattr("bestk.tables.files.MAX_LEVELS", 20)
    narrow = load(open_source(tmp_path / "t.parquet"), "y")
    monkeypatch.setattr("bestk.tables.files.MAX_COLUMNS", 3)
    wide = load(open_source(tmp_path / "t.parquet"), "y")
    assert list(wide.table.names) == list(narrow.table.names)
    assert "key" not in wide.table.names
    assert sorted(wide.notes) == sorted(narrow.notes)
    assert len(wide.notes) == 2
    np.testing.assert_array_equal(wide.y, narrow.y)
    assert wide.table.kinds.tolist() == narrow.table.kinds.tolist()
    left = narrow.table.keep(np.array([0, 1, 2, 3, 4, 5, 6, 8, 9]))
    again = wide.table.keep(np.array([0, 1, 2, 3, 4, 5, 6, 8, 9]))
    np.testing.assert_array_equal(encode(again).values, encode(left).values)
