import os
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from experiments import datasets
from experiments.datasets import DATASETS, load

TABLE_2 = {
    "arrhythmia": (258, 420, 2), "colon": (2000, 62, 2), "leukemia": (7070, 72, 2),
    "lung": (325, 73, 7), "lymphoma": (4026, 96, 9), "madelon": (500, 2000, 2),
    "multifeat": (649, 2000, 10), "musk2": (166, 6598, 2), "optdigits": (62, 3823, 10),
    "promoter": (57, 106, 2), "spambase": (57, 4601, 2), "waveform": (21, 5000, 3),
}  # fmt: skip


def write(folder, name, X=None, y=None):
    """A file of the right shape and classes, unless others are given."""
    entry = DATASETS[name]
    y = np.repeat(np.arange(entry.c), entry.classes) if y is None else y
    X = np.random.default_rng(0).integers(0, 4, (entry.m, entry.n)) if X is None else X
    np.savez(folder / f"{name}.npz", X=X, y=y)


@pytest.mark.data
@pytest.mark.parametrize("name", TABLE_2)
def test_the_real_sets_have_the_features_samples_and_classes_of_table_2(name):
    if not datasets.available(name):
        pytest.skip("set BESTK_DATA to the folder of the data sets")
    found = load(name)
    assert found.shape == TABLE_2[name]
    assert len(found.feature_names) == found.X.shape[1]
    assert not np.isnan(found.X.astype(float)).any()


def test_the_table_lists_the_13_sets_and_one_stand_in():
    real = {name for name, entry in DATASETS.items() if entry.stands_in_for is None}
    assert real == {*TABLE_2, "gisette"}
    assert DATASETS["gisette_like"].stands_in_for == "gisette"
    for name, shape in TABLE_2.items():
        entry = DATASETS[name]
        assert (entry.n, entry.m, entry.c) == shape
        assert (sum(entry.classes), len(entry.classes)) == (entry.m, entry.c)


def test_a_folder_comes_first_and_can_be_named_by_the_environment(tmp_path, monkeypatch):
    write(tmp_path, "promoter")
    monkeypatch.setenv("BESTK_DATA", str(tmp_path))
    found = load("promoter")
    assert found.shape == (57, 106, 2)
    assert found.nominal
    assert found.source == str(tmp_path / "promoter.npz")
    assert load("promoter", tmp_path).X.tolist() == found.X.tolist()


def test_a_file_of_another_shape_is_refused(tmp_path):
    write(tmp_path, "promoter", X=np.zeros((106, 58)))
    with pytest.raises(ValueError, match="another version of the data"):
        load("promoter", tmp_path)


def test_a_file_with_other_numbers_of_rows_in_the_classes_is_refused(tmp_path):
    write(tmp_path, "promoter", y=np.repeat([0, 1], (50, 56)))
    with pytest.raises(ValueError, match=r"\(50, 56\) rows of each class"):
        load("promoter", tmp_path)


@pytest.mark.parametrize("name", ["colon", "gisette_like"])
def test_a_set_that_is_nowhere_says_where_it_was_sought(name, tmp_path):
    with pytest.raises(FileNotFoundError, match=f"no file .*{name}.npz, and OpenML does not"):
        load(name, tmp_path)


def test_no_connection_says_what_to_do(tmp_path, monkeypatch):
    def fail(number):
        raise OSError("no route to host")

    monkeypatch.setattr(datasets, "_fetch", fail)
    monkeypatch.delenv("BESTK_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"OpenML could not be reached .*set BESTK_DATA"):
        load("spambase")


def test_what_openml_has_is_fetched_by_number(monkeypatch, tmp_path):
    from sklearn import datasets as theirs

    asked = []
    monkeypatch.setattr(theirs, "fetch_openml", lambda **options: asked.append(options) or table)
    entry = DATASETS["spambase"]
    X = np.random.default_rng(0).random((entry.m, entry.n))
    table = bunch(X, np.repeat(["0", "1"], entry.classes))
    found = load("spambase", tmp_path)
    assert asked[0]["data_id"] == 44
    assert found.source == "OpenML 44"
    np.testing.assert_array_equal(found.X, X)
    assert os.listdir(tmp_path) == []


def bunch(X, target, columns=None):
    return SimpleNamespace(data=pd.DataFrame(X, columns=columns), target=pd.Series(target))


def test_arrhythmia_drops_attribute_14_and_rows_and_columns_that_say_nothing():
    X = np.arange(4 * 20.0).reshape(4, 20)
    X[:, 13] = np.nan
    X[3, 2] = np.nan
    X[:, 5] = 1.0
    X, y = datasets._arrhythmia([bunch(X, ["1", "2", "16", "1"])])
    assert X.shape == (3, 18)
    assert y.tolist() == [0, 1, 1]


def test_leukemia_drops_59_control_probes():
    X, _ = datasets._leukemia([bunch(np.arange(2 * 61.0).reshape(2, 61), ["ALL", "AML"])])
    assert X.tolist() == [[59, 60], [120, 121]]


def test_lymphoma_puts_missing_values_at_the_mean():
    X, _ = datasets._lymphoma([bunch([[1.0], [np.nan], [3.0]], ["a", "b", "a"])])
    assert X.ravel().tolist() == [1, 2, 3]


def test_musk2_keeps_the_166_measurements_and_promoter_the_57_letters():
    X = np.hstack([np.full((2, 2), 7.0), np.arange(2 * 166.0).reshape(2, 166)])
    assert datasets._musk2([bunch(X, ["0", "1"])])[0].shape == (2, 166)
    letters = np.array([["name", *"acgt" * 14, "a"], ["other", *"ccgg" * 14, "T"]])
    X, y = datasets._promoter([bunch(letters, ["+", "-"])])
    assert X.shape == (2, 57)
    assert X[:, 0].tolist() == [0, 1]
    assert y.tolist() == [0, 1]


def test_multifeat_joins_six_views_of_the_same_numerals_only():
    views = [bunch(np.full((3, width), float(width)), list("011")) for width in (1, 2)]
    assert datasets._multifeat(views)[0].tolist() == [[1, 2, 2]] * 3
    with pytest.raises(ValueError, match="other orders"):
        datasets._multifeat([views[0], bunch(np.zeros((3, 1)), list("101"))])


@pytest.mark.parametrize(
    ("clean", "rows"), [(datasets._madelon, 2000), (datasets._optdigits, 3823)]
)
def test_training_rows_come_first(clean, rows):
    X = np.arange(rows + 5.0).reshape(-1, 1)
    X, y = clean([bunch(X, ["0"] * (rows + 5))])
    assert X.ravel().tolist() == list(range(rows))
    assert len(y) == rows


def test_an_archive_that_holds_a_pickle_is_refused(tmp_path):
    np.savez(tmp_path / "promoter.npz", X=np.array([object()], dtype=object), y=np.zeros(1))
    with pytest.raises(ValueError, match=r"allow_pickle|Object arrays|promoter"):
        load("promoter", tmp_path)
