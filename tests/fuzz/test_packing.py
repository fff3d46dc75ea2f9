"""Packed files: what went in comes out, and a damaged one is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk import encode, open_packed, pack, select

from .law import REFUSED, attempt, budget
from .oddities import TABLES, TARGETS, odd_scalars, odd_tables, odd_targets
from .tables import DISCRETE, FRAMES, classes, plains


@pytest.fixture(scope="module", name="path")
def make_path(tmp_path_factory):
    return tmp_path_factory.mktemp("packed") / "t.packed"


@budget(0.5)
@given(plain=plains(kinds=DISCRETE, min_rows=2), form=st.sampled_from(sorted(FRAMES)),
       data=st.data())  # fmt: skip
def test_a_packed_table_is_the_table_that_was_packed(path, plain, form, data):
    y = data.draw(classes(plain.m))
    packed, codes = attempt(pack, FRAMES[form](plain), path, y), encode(plain.objects)
    np.testing.assert_array_equal(packed[:], codes.values.T)
    np.testing.assert_array_equal(packed.levels, codes.levels)
    np.testing.assert_array_equal(packed.y, y)
    found = attempt(select, packed, packed.y, 1, "jmi")
    wanted = attempt(select, codes.values.T, y, 1, "jmi", discretizer=None)
    assert (found is REFUSED) == (wanted is REFUSED)
    if wanted is not REFUSED:
        np.testing.assert_array_equal(found.support, wanted.support)


@budget(0.5)
@given(X=odd_tables(), y=odd_targets(), label=odd_scalars())
def test_what_cannot_be_packed_is_refused_with_advice(path, X, y, label):
    attempt(pack, TABLES[X](), path)
    attempt(pack, np.eye(4, dtype=int), path, TARGETS[y]())
    attempt(pack, [[0], [1]], path, [0, 1], label)


@budget(1.5)
@given(at=st.integers(0, 10**4), byte=st.integers(0, 255), cut=st.booleans())
def test_a_damaged_file_is_read_or_refused_with_advice(path, at, byte, cut):
    pack([[0, 3, 1], [1, 5, 2], [1, 3, 0]], path, ["a", "b", "a"])
    content = bytearray(path.read_bytes())
    at %= len(content)
    content[at] = byte
    path.write_bytes(content[:at] if cut else content)
    packed = attempt(open_packed, path)
    if packed is not REFUSED:
        attempt(select, packed, [0, 1, 0], 1, "jmi")
