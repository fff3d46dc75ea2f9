"""Packed files: what is written is read, in few bits, and nothing else is taken for one."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from bestk import SelectBestK, encode, mutual_information, open_packed, pack, select
from bestk.cli import main

LEVELS = (2, 1, 3, 5, 300, 2, 17)


def made_up(levels=LEVELS, m=77, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, top, m) for top in levels], axis=1), rng.integers(0, 2, m)


@given(
    levels=st.lists(st.integers(1, 600), min_size=1, max_size=12),
    m=st.integers(1, 70),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_packed_table_holds_the_codes_of_the_table(levels, m, seed, tmp_path_factory):
    X, _ = made_up(levels, m, seed)
    packed, codes = pack(X, tmp_path_factory.getbasetemp() / "law.packed"), encode(X)
    np.testing.assert_array_equal(packed[:], codes.values.T)
    np.testing.assert_array_equal(packed.levels, codes.levels)
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, m, 3), rng.integers(0, len(levels), 3)
    np.testing.assert_array_equal(packed[rows, columns[0]], codes.values.T[rows, columns[0]])
    np.testing.assert_array_equal(packed[:, columns], codes.values.T[:, columns])
    np.testing.assert_array_equal(packed[rows], codes.values.T[rows])
    np.testing.assert_array_equal(encode(packed).values, codes.values)


def test_two_levels_are_one_bit_each_worked_by_hand(tmp_path):
    pack([[0, 9], [1, 9], [1, 7], [0, 9]], tmp_path / "t.packed")
    assert (tmp_path / "t.packed").read_bytes()[-2:] == bytes([0b0110, 0b1011])


def test_planes_are_mapped_and_not_read(tmp_path):
    X, _ = made_up()
    assert isinstance(pack(X, tmp_path / "t.packed")._bits, np.memmap)


def test_selection_from_a_packed_table_is_that_from_its_levels(tmp_path):
    X, y = made_up()
    packed = pack(X, tmp_path / "t.packed", y)
    wanted = SelectBestK(3, "tpower", discretizer=None).fit(X, y)
    found = SelectBestK(3, "tpower").fit(
        packed, packed.y
    )  # the default discretiser leaves levels alone
    np.testing.assert_array_equal(found.solution_.support, wanted.solution_.support)
    np.testing.assert_array_equal(found.scores_, wanted.scores_)
    np.testing.assert_array_equal(select(packed, y, 3, "tpower").support, wanted.solution_.support)
    np.testing.assert_array_equal(mutual_information(packed, y), mutual_information(X, y))
    np.testing.assert_array_equal(found.transform(packed), packed[:, found.get_support(True)])


def test_names_and_targets_of_every_kind_come_back(tmp_path):
    frame = pd.DataFrame(
        {"colour": ["red", "blue", None, "red"], "sure": [True, False, True, True]}
    )
    for y in (["no", "yes", "no", "no"], [3, 1, 3, 1], [0.5, 0.25, 1.0, 2.0], [True, False] * 2):
        packed = pack(frame, tmp_path / "t.packed", y, label="goal")
        assert list(packed.names) == ["colour", "sure"]
        assert packed.label == "goal"
        assert packed.y.tolist() == y
    np.testing.assert_array_equal(packed[:], [[1, 1], [0, 0], [2, 1], [1, 1]])
    assert pack(frame, tmp_path / "t.packed").y is None


def test_the_command_selects_from_a_packed_file_and_writes_one(tmp_path):
    X, y = made_up()
    pack(X, tmp_path / "t.packed", np.where(y, "yes", "no"), label="goal")
    options = ["--target", "goal", "-k", "2", "--exclude", "x4", "-m", "tpower", "--json"]
    out = tmp_path / "best.packed"
    done = CliRunner().invoke(
        main, ["select", str(tmp_path / "t.packed"), *options, "-o", str(out)]
    )
    assert done.exit_code == 0, done.output
    names = [feature["name"] for feature in json.loads(done.stdout)["features"]]
    best = select(np.delete(X, 4, axis=1), y, 2, "tpower", discretizer=None).support
    assert names == [f"x{np.delete(np.arange(7), 4)[place]}" for place in best]
    cut = open_packed(out)
    assert list(cut.names) == names
    np.testing.assert_array_equal(cut.y == "yes", y == 1)
    np.testing.assert_array_equal(cut[:, 0], encode(X).values[int(names[0][1:])])


def test_what_is_no_packed_table_is_refused(tmp_path):
    path = tmp_path / "t.packed"
    np.save(tmp_path / "t.npy", np.zeros(3))
    with pytest.raises(ValueError, match=r"no packed table; write one with bestk\.pack"):
        open_packed(tmp_path / "t.npy")
    X, y = made_up()
    pack(X, path, y)
    whole = path.read_bytes()
    for length in (30, 200, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="damaged packed table"):
            open_packed(path)


def test_a_target_of_objects_is_never_unpickled(tmp_path):
    X, _ = made_up()
    pack(X, tmp_path / "t.packed")
    whole = (tmp_path / "t.packed").read_bytes()
    poison = io.BytesIO()
    np.lib.format.write_array(poison, np.array([{}], object), allow_pickle=True)
    (tmp_path / "t.packed").write_bytes(whole[: whole.index(b"\x93NUMPY")] + poison.getvalue())
    with pytest.raises(ValueError, match="damaged packed table"):
        open_packed(tmp_path / "t.packed")


def test_a_table_that_is_not_discrete_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "t.packed"
    X, y = made_up()
    pack(X, path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="is not discrete"):
        pack(X + 0.5, path)
    with pytest.raises(ValueError, match="y has 3 values but X has 77 rows"):
        pack(X, path, y[:3])
    assert path.read_bytes() == before
