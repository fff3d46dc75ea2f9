"""Entropies shared by several methods: the same numbers, counted once."""

import numpy as np
import pytest

from bestk import encode
from bestk.data.target import read_target
from bestk.information import Entropies, measures
from bestk.information import entropies as module

rng = np.random.default_rng(0)
X, Y = rng.integers(0, 3, (80, 6)), rng.integers(0, 2, 80)


@pytest.fixture
def plain():
    return Entropies.count(encode(X), read_target(Y, len(Y)))


@pytest.mark.parametrize("measure", [measures.CMI, measures.INTERACTION])
@pytest.mark.parametrize(
    "options", [{}, {"signed": True}, {"dtype": np.float32}, {"rows": [4, 1]}, {"columns": [0, 5]}]
)
def test_every_matrix_is_the_one_of_its_own_that_plain_entropies_give(plain, measure, options):
    shared = plain.shared()
    shared.measure(measures.JOINT_MI)
    for _ in range(2):
        found = shared.measure(measure, **options)
        np.testing.assert_array_equal(found, plain.measure(measure, **options))
        found += 1.0  # nobody else's


def test_a_matrix_is_kept_while_it_is_no_larger_than_the_room_for_it(plain, monkeypatch):
    shared, size = plain.shared(), 8 * X.shape[1] ** 2
    monkeypatch.setattr(module, "MAX_KEPT_BYTES", size - 1)
    shared.measure(measures.CMI)
    assert not shared.kept
    monkeypatch.setattr(module, "MAX_KEPT_BYTES", size)
    shared.measure(measures.CMI)
    assert len(shared.kept) == 1
