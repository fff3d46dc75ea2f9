"""Files, folders and data sets are read in blocks as if they were read whole."""

from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from bestk import SelectBestK, select
from bestk.cli import main
from bestk.errors import SelectionWarning
from bestk.tables import files, rows, sources
from bestk.tables.files import load
from bestk.tables.sources import open_source

Select = partial(SelectBestK, method="tpower")


def table(m=300, seed=0):
    """What files hold: numbers, text, truths and gaps, and rows without a target."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, m)
    answer = np.array(["no", "yes"], dtype=object)[y]
    answer[::50] = None
    colour = np.where(y ^ (rng.random(m) < 0.2), "red", "blue").astype(object)
    colour[rng.random(m) < 0.1] = None
    return pd.DataFrame(
        {
            "colour": colour,
            "member": (y ^ (rng.random(m) < 0.3)).astype(bool),
            "age": np.where(rng.random(m) < 0.1, np.nan, 40 + 9 * y + rng.normal(0, 5, m)),
            "visits": rng.poisson(2 + 3 * y),
            **{f"noise {j}": rng.normal(size=m) for j in range(3)},
            "answer": answer,
        }
    )


@pytest.fixture
def small_pieces(monkeypatch):
    """Make files come in many blocks."""
    monkeypatch.setattr(sources, "PIECE", 300)
    monkeypatch.setattr(sources, "BLOCK", 2000)


def write(frame, folder, suffix):
    path = folder / f"rows{suffix}"
    if suffix.startswith(".csv"):
        frame.to_csv(path, index=False)
    elif suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_feather(path)
    return path


def same(found, path, **options):
    """As the table that is read whole, whose rows without a target are left out."""
    loaded = load(open_source(path), "answer")
    expected = select(loaded.table, loaded.y, 3, "tpower", **options)
    np.testing.assert_array_equal(found.solution_.support, expected.support)
    np.testing.assert_array_equal(found.scores_[expected.support], expected.details["relevance"])
    assert found.solution_.objective == expected.objective
    assert list(found.feature_names_in_) == list(loaded.table.names)
    assert found.n_samples_seen_ == loaded.table.n_samples


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".feather", ".arrow"])
def test_a_file_is_read_as_if_whole(tmp_path, small_pieces, suffix):
    path = write(table(), tmp_path, suffix)
    same(Select(k=3).fit(path, "answer"), path)
    same(Select(k=3, exclude="age").fit(str(path), "answer"), path, exclude="age")


def test_a_folder_is_all_its_files(tmp_path, small_pieces):
    frame, folder = table(), tmp_path / "folder"
    whole = write(frame, tmp_path, ".parquet")
    folder.mkdir()
    for number, first in enumerate(range(0, 300, 120)):
        pq.write_table(
            pa.Table.from_pandas(frame[first : first + 120]), folder / f"{number}.parquet"
        )
    same(Select(k=3).fit(folder, "answer"), whole)


def test_text_far_down_a_column_of_numbers_is_text_throughout(tmp_path, small_pieces):
    frame = table().astype({"visits": object})
    frame.loc[290, "visits"] = "many"
    path = write(frame, tmp_path, ".csv")
    same(Select(k=3).fit(path, "answer"), path)


def test_columns_to_exclude_are_not_read(tmp_path):
    frame = table().assign(lists=[[1, 2]] * 300, weight=np.arange(300) % 3)
    path = write(frame[["weight", "lists", *table().columns]], tmp_path, ".parquet")
    expected = SelectBestK(3).fit(write(table(), tmp_path, ".feather"), "answer")
    found = SelectBestK(3, exclude=["lists", 0]).fit(path, "answer")
    assert found.feature_names_in_.tolist() == ["weight", "lists", *expected.feature_names_in_]
    np.testing.assert_array_equal(found.solution_.support, 2 + expected.solution_.support)
    np.testing.assert_array_equal(found.scores_, [np.nan, np.nan, *expected.scores_])
    weighted = SelectBestK(3, exclude=0).fit(path, "answer", sample_weight="weight")
    assert weighted.feature_names_in_.tolist() == ["lists", *expected.feature_names_in_]


def test_numbers_to_predict_may_be_written_as_text(tmp_path):
    path = tmp_path / "t.csv"
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 3)), columns=list("aby"))
    frame.to_csv(path, index=False, sep=";", decimal=",")
    found = SelectBestK(1).fit(path, "y")
    assert any("'y': numbers written as text" in each for each in found.solution_.warnings)
    expected = SelectBestK(1).fit(frame[["a", "b"]], frame.y)
    assert found.solution_.objective == expected.solution_.objective


def test_a_number_to_predict_is_read_from_a_file(tmp_path, small_pieces):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    frame["answer"] = frame["b"] + rng.normal(size=200)
    path = write(frame, tmp_path, ".parquet")
    for information in ("discrete", "gaussian"):
        same(Select(k=3, information=information).fit(path, "answer"), path,
             information=information)  # fmt: skip


def test_a_column_that_is_not_there_is_refused(tmp_path):
    path = write(table(), tmp_path, ".parquet")
    with pytest.raises(ValueError, match="has no column 'anser'; did you mean 'answer'"):
        Select().fit(path, "anser")


@pytest.mark.parametrize("width", [2, 2048])
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather"])
def test_the_sample_of_a_large_file_is_that_of_the_table(
    tmp_path, small_pieces, monkeypatch, suffix, width
):
    monkeypatch.setattr(files, "MAX_COLUMNS", width)
    monkeypatch.setattr(rows, "MIN_LONG_ROWS", 100)
    monkeypatch.setattr(rows, "MAX_VALUES", 1)
    path = write(table(), tmp_path, suffix)
    with pytest.warns(SelectionWarning, match="a random sample of 100 of 294 rows is used"):
        found = SelectBestK(3, random_state=1).fit(path, "answer")
    whole = table().dropna(subset="answer")
    with pytest.warns(SelectionWarning, match="a random sample of 100 of 294 rows is used"):
        expected = SelectBestK(3, random_state=1).fit(whole.drop(columns="answer"), whole["answer"])
    np.testing.assert_array_equal(found.scores_, expected.scores_)
    np.testing.assert_array_equal(found.solution_.support, expected.solution_.support)
    options = [
        "-t",
        "answer",
        "-k",
        "3",
        "-m",
        "jmi",
        "--seed",
        "1",
        "--json",
        "--correction",
        "chance",
    ]
    result = CliRunner().invoke(main, ["select", str(path), *options])
    assert result.exit_code == 0, result.output
    assert "note: a random sample of 100 of 294 rows is used" in result.stderr


def test_columns_that_are_read_in_turn_have_the_same_rows(tmp_path, small_pieces, monkeypatch):
    monkeypatch.setattr(files, "MAX_COLUMNS", 2)
    monkeypatch.setattr(rows, "MIN_HELD_ROWS", 50)
    monkeypatch.setattr(rows, "machine_memory", lambda: 8 * 100 * 6 * 5)
    number = np.arange(250)
    frame = pd.DataFrame({f"small {j}": number for j in range(4)})
    frame = frame.assign(large=number + 0.1, larger=number + 0.2, y=number % 2)
    loaded = load(open_source(write(frame, tmp_path, ".parquet")), "y")
    values, _ = loaded.table.numeric()
    assert 50 <= len(values) < 100
    np.testing.assert_array_equal(np.floor(values), values[:, :1] * np.ones(6))
    np.testing.assert_array_equal(loaded.y, values[:, 0] % 2)
