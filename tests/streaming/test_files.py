"""Files, folders and data sets are read in blocks as if they were read whole."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from bestk import SelectBestK, select
from bestk.cli import main
from bestk.data import files, sources
from bestk.data.files import load, quick_sample
from bestk.data.sources import open_source
from bestk.information import blocks

Select = partial(SelectBestK, method="tpower")  # blocks are counted, and so are whole tables


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


def test_the_command_streams_to_the_same_features(tmp_path, small_pieces):
    path = write(table(), tmp_path, ".parquet")
    found = []
    for more in ([], ["--stream"]):
        options = [
            "-t",
            "answer",
            "-k",
            "3",
            "-m",
            "tpower",
            "--json",
            "--exclude",
            "noise 0",
            *more,
        ]
        result = CliRunner().invoke(main, ["select", str(path), *options])
        assert result.exit_code == 0, result.output
        found.append(json.loads(result.stdout))
    whole, streamed = found
    assert streamed["features"] == whole["features"]
    assert streamed["objective"] == whole["objective"]
    assert streamed["rows"] == whole["rows"] == 294


@pytest.fixture
def few_sampled(monkeypatch):
    """A sample has 500 rows."""
    monkeypatch.setattr(files, "SAMPLE_ROWS", 500)
    monkeypatch.setattr(blocks, "SAMPLE_ROWS", 500)


def grouped_file(path, y, rows_per_group=400):
    """A file in row groups with a relevant column and one of row numbers."""
    x = np.unique(y, return_inverse=True)[1] + np.linspace(0, 1, len(y))
    frame = pa.table({"x": x, "row": np.arange(len(y)), "y": y})
    pq.write_table(frame, path, row_group_size=rows_per_group)
    return open_source(path), ["x", "row", "y"]


def test_a_quick_sample_lies_evenly_over_the_row_groups(tmp_path, few_sampled):
    y = np.random.default_rng(0).integers(0, 3, 4000)
    source, names = grouped_file(tmp_path / "a.parquet", y)
    sample = quick_sample(source, names, seed=0)
    rows = sample.table.blocks[-1].values[:, -1].astype(int)
    np.testing.assert_array_equal(rows, (np.arange(0, 4000, 400)[:, None] + np.arange(50)).ravel())
    np.testing.assert_array_equal(sample.y, y[rows])
    assert sample.n_rows == 4000
    assert not sample.is_whole


def test_short_row_groups_give_as_many_rows(tmp_path, few_sampled):
    y = np.random.default_rng(0).integers(0, 2, 4000)
    source, names = grouped_file(tmp_path / "a.parquet", y, rows_per_group=10)
    assert len(quick_sample(source, names, seed=0).y) == 500


@pytest.mark.parametrize("labels", [np.array([0, 1]), np.array(["no", "yes"])])
def test_no_quick_sample_whose_classes_are_not_those_of_the_file(tmp_path, few_sampled, labels):
    rng = np.random.default_rng(0)
    by_group = np.sort(rng.integers(0, 2, (10, 400)), axis=1).ravel()
    assert quick_sample(*grouped_file(tmp_path / "a.parquet", labels[by_group]), 0) is None
    over_file = np.sort(rng.integers(0, 2, 4000))
    assert quick_sample(*grouped_file(tmp_path / "b.parquet", labels[over_file]), 0) is not None


def test_no_quick_sample_whose_numbers_are_not_those_of_the_file(tmp_path, few_sampled):
    y = np.random.default_rng(0).normal(size=4000)
    assert quick_sample(*grouped_file(tmp_path / "a.parquet", y), 0) is not None
    y = np.sort(y.reshape(10, 400), axis=1).ravel()
    assert quick_sample(*grouped_file(tmp_path / "b.parquet", y), 0) is None


def test_no_quick_sample_without_a_class_of_the_file(tmp_path, few_sampled):
    y = np.random.default_rng(0).integers(0, 2, 4000)
    y[350:355] = 2
    assert quick_sample(*grouped_file(tmp_path / "a.parquet", y), 0) is None


def test_no_quick_sample_of_few_row_groups_or_few_rows(tmp_path, few_sampled):
    y = np.random.default_rng(0).integers(0, 2, 4000)
    assert quick_sample(*grouped_file(tmp_path / "a.parquet", y, 1000), 0) is None
    assert quick_sample(*grouped_file(tmp_path / "b.parquet", y[:500], 10), 0) is None


def test_a_file_in_row_groups_is_read_once(tmp_path, few_sampled, monkeypatch):
    rng = np.random.default_rng(0)
    y, passes = rng.integers(0, 2, 4000), []
    X = rng.normal(size=(4000, 6)) + np.outer(y, [1, 0, 2, 0, 0, 0])
    frame = pd.DataFrame(X).add_prefix("x").assign(y=np.where(np.arange(4000) % 9, y, np.nan))
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=300)
    batches = sources.Source.batches
    monkeypatch.setattr(
        sources.Source, "batches", lambda self, names: passes.append(names) or batches(self, names)
    )
    found = Select(2).fit(tmp_path / "a.parquet", "y")
    assert set(found.get_feature_names_out()) == {"x0", "x2"}
    assert passes == [["y"], [*(f"x{j}" for j in range(6)), "y"]]
    assert found.n_samples_seen_ == frame.y.notna().sum()
