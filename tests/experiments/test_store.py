import json

import pytest

from experiments.store import Store

pytestmark = pytest.mark.filterwarnings("error")


def test_what_is_added_is_there_in_a_new_store(tmp_path):
    store = Store(tmp_path / "rows.jsonl")
    store.add(("part", "set", "0"), {"wrong": [1, 2]})
    again = Store(tmp_path / "rows.jsonl")
    assert again[("part", "set", "0")] == {"wrong": [1, 2]}
    assert ("part", "set", "1") not in again
    assert again.starts == store.starts
    assert again.starts[0].keys() >= {"cpu", "commit", "date"}


def test_a_line_cut_short_is_forgotten_and_the_rest_is_kept(tmp_path):
    path = tmp_path / "rows.jsonl"
    store = Store(path)
    store.add(("a",), 1)
    store.add(("b",), 2)
    path.write_bytes(path.read_bytes()[:-4])
    again = Store(path)
    assert ("a",) in again
    assert ("b",) not in again
    again.add(("b",), 3)
    assert Store(path)[("b",)] == 3
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_the_first_of_equal_keys_stays(tmp_path):
    store = Store(tmp_path / "rows.jsonl")
    store.add(("a",), 1)
    store.add(("a",), 2)
    assert Store(tmp_path / "rows.jsonl")[("a",)] == 1
    assert (tmp_path / "rows.jsonl").read_text().count('"key"') == 1


def test_a_missing_file_comes_back_from_its_compressed_copy(tmp_path):
    store = Store(tmp_path / "rows.jsonl")
    store.add(("a", "b"), [1])
    store.pack()
    packed = store.packed.read_bytes()
    store.path.unlink()
    again = Store(tmp_path / "rows.jsonl")
    assert again[("a", "b")] == [1]
    again.pack()
    assert again.packed.read_bytes() == packed


def test_looking_into_an_empty_store_writes_nothing(tmp_path):
    assert len(Store(tmp_path / "rows.jsonl")) == 0
    assert list(tmp_path.iterdir()) == []


def test_results_under_a_beginning_lose_it(tmp_path):
    store = Store(tmp_path / "rows.jsonl")
    for key in (("a", "x", "1"), ("a", "y", "1"), ("b", "x", "1")):
        store.add(key, key[0])
    assert dict(store.under("a")) == {("x", "1"): "a", ("y", "1"): "a"}
    assert dict(store.under("a", "y")) == {("1",): "a"}
