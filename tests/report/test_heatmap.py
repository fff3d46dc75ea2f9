"""The data of the heat map, and the pairs that share most."""

import numpy as np
import pytest

from bestk.report.page import as_json, most_redundant


def test_the_pairs_that_share_most_come_first():
    pairs = np.array([[0.6, 0.1, 0.4], [0.2, 0.5, 0.3], [0.5, 0.3, 0.5]])
    (i, j, share), *_ = most_redundant(pairs, 2)
    assert (i, j) == (0, 1)
    assert share == pytest.approx((0.4 + 0.4) / 2)


def test_numbers_that_json_does_not_have_are_null():
    assert as_json([[0.1234567, np.nan], [np.inf, 1.0]]) == [[0.123457, None], [None, 1.0]]
