"""Tables that are measured in one pass have the information of each by itself, to the last bit."""

import numpy as np
import pandas as pd
import pytest

from bestk.information.backends._packed import LANES, order_features
from bestk.information.entropy_reader import EntropyReader
from bestk.information.side_by_side import join_subsamples, measure_parts
from bestk.tables.frames import read_table
from bestk.tables.target import parse_target

RNG = np.random.default_rng(0)
ROWS, CLASSES = 240, np.repeat(["a", "b", "c"], 80)
NUMBERS = RNG.normal(size=(3 * ROWS, 5)) + np.tile(np.arange(ROWS) // 80, 3)[:, np.newaxis]


def mixed():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(NUMBERS, columns=list("abcde"))
    frame.loc[::7, "b"] = np.nan
    frame["word"] = pd.Categorical(np.array(list("uvwx"))[rng.integers(0, 4, 3 * ROWS)])
    frame.loc[ROWS:, "word"] = frame["word"].where(frame["word"] != "u")
    frame["flag"] = NUMBERS[:, 0] > 0.3
    frame["code"] = rng.integers(0, 5, 3 * ROWS)
    return frame


@pytest.mark.parametrize(
    ("information", "numbers", "correction"),
    [
        ("discrete", False, None),
        ("discrete", False, "chance"),
        ("blend", False, None),
        ("blend", False, "chance"),
        ("blend", True, None),
        ("blend", True, "chance"),
        ("gaussian", True, None),
    ],
)
def test_parts_equal_tables_that_are_measured_alone(information, numbers, correction):
    table = read_table(NUMBERS if numbers else mixed())
    categorical = np.arange(0) if numbers else np.array([7])
    cut = "caim" if information == "discrete" else "auto"
    reading = EntropyReader(information, cut, correction, categorical)
    rows = [np.arange(i * ROWS, (i + 1) * ROWS) for i in range(3)]
    target = parse_target(CLASSES, ROWS)
    parts = measure_parts(reading, join_subsamples(table, rows), table.n_features, target)
    for part, own in zip(parts, map(table.take, rows), strict=True):
        found, alone = part.entropies, reading.measure(own, target).entropies
        for name in ("mi", "copy_mi", "cmi", "pair_mi", "pair_cmi"):
            np.testing.assert_array_equal(getattr(found, name)(), getattr(alone, name)())
        some = [3, 0], [4, 1, 2]
        np.testing.assert_array_equal(found.cmi(*some), alone.cmi(*some))


@pytest.mark.parametrize("width", [1, 15, 16, 17, 40])
def test_features_of_several_tables_share_no_tile(width):
    levels = np.random.default_rng(width).integers(1, 9, 3 * width)
    order = order_features(levels, width)
    assert sorted(order[order >= 0]) == list(range(3 * width))
    for tile in order.reshape(-1, LANES):
        assert len({feature // width for feature in tile if feature >= 0}) == 1
    highest = [levels[tile[tile >= 0]].max() for tile in order.reshape(-1, LANES)]
    assert highest == sorted(highest)
    assert order_features(levels).tolist() == np.argsort(levels, kind="stable").tolist()
