"""The picture of the pairs: a PNG that others can read, colours in order, orders of features."""

import io

import numpy as np
import pytest

from bestk.report._heatmap import alike_together, draw_map, limits, png, ramp
from bestk.report._pairs import shared


def test_the_heat_map_is_a_picture_that_others_can_read():
    image = pytest.importorskip("matplotlib.image")
    pixels = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
    seen = image.imread(io.BytesIO(png(pixels)), format="png")
    np.testing.assert_array_equal((seen[..., :3] * 255).round(), ramp()[pixels])


def test_colours_rise_in_brightness():
    brightness = ramp() @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(brightness[::5]) > 0).all()


def test_colours_reach_from_the_least_to_the_most_and_hold_nothing():
    assert limits(np.array([[0.2, 0.5], [0.3, 0.4]])) == (0.0, 0.5)
    assert limits(np.array([[-0.1, np.nan], [-0.3, -0.2]])) == (-0.3, 0.0)


def test_what_two_features_share_is_the_same_both_ways_where_information_is_exact():
    pairs = np.array([[0.6, 0.1, 0.4], [0.2, 0.5, 0.3], [0.5, 0.3, 0.5]])
    both = shared(pairs)
    np.testing.assert_allclose(np.diag(both), np.diag(pairs))
    np.testing.assert_allclose(both[0, 1], 0.5 - 0.1)
    np.testing.assert_allclose(both[1, 0], 0.6 - 0.2)


@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_an_order_holds_every_feature_once(n):
    values = np.random.default_rng(n).normal(size=(n, n))
    values[0, -1] = np.nan
    assert sorted(alike_together(values)) == list(range(n))


def test_features_that_share_much_stand_side_by_side():
    values = np.zeros((6, 6))
    for i, j in [(0, 3), (1, 4), (2, 5)]:
        values[i, j] = values[j, i] = 1.0
    order = alike_together(values)
    assert {frozenset(order[i : i + 2]) for i in (0, 2, 4)} == {
        frozenset(pair) for pair in [(0, 3), (1, 4), (2, 5)]
    }


@pytest.mark.parametrize("n", [1, 30, 400])
def test_labels_of_the_picture_do_not_overlap(read_page, n):
    names = [f"f{i}" for i in range(n)]
    page = read_page(draw_map(names, names, np.eye(n)))
    ys = [float(value) for name, value in page.attributes if name == "y" and value != "26"]
    rows = sorted({value for value in ys if value > 26})
    assert len(rows) >= min(n, 40)
    assert n == 1 or np.diff(rows).min() >= 13.9
