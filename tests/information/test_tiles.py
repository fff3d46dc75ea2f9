"""Tiles cover a matrix once, and threads leave none of them out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk.information._gaussian import cut, part_of
from bestk.native.threads import _blas, run_blas_tiles, threads

sides = st.integers(0, 9)


@given(shape=st.tuples(sides, sides), side=st.integers(1, 9))
def test_tiles_cover_every_entry_once_and_none_is_larger_than_asked(shape, side):
    covered = np.zeros(shape, int)
    for top, bottom, first, last in cut(shape, side, mirror=False):
        assert 0 < (bottom - top) * (last - first) <= side**2
        covered[top:bottom, first:last] += 1
    assert (covered == 1).all()


@given(n=sides, side=st.integers(1, 9))
def test_tiles_of_a_matrix_that_mirrors_itself_cover_its_upper_half_once(n, side):
    covered = np.zeros((n, n), int)
    for top, bottom, first, last in cut((n, n), side, mirror=True):
        assert last > top  # it touches the upper half
        covered[top:bottom, first:last] += 1
    assert (covered[np.triu_indices(n)] == 1).all()
    assert covered.max(initial=0) <= 1


def test_a_part_of_all_features_is_a_slice_and_of_some_their_numbers():
    assert np.arange(9)[part_of(None, 2, 5)].tolist() == [2, 3, 4]
    assert part_of(np.array([7, 1, 4, 3]), 1, 3).tolist() == [1, 4]


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_every_item_is_worked_on_once_by_any_number_of_threads(n_threads):
    done = []
    with threads(n_threads):
        run_blas_tiles(done.append, range(20))
    assert sorted(done) == list(range(20))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_in_a_thread_is_raised(n_threads):
    with threads(n_threads), pytest.raises(ZeroDivisionError):
        run_blas_tiles(lambda item: 1 // item, [1, 0])


def test_a_thread_finds_a_blas_that_starts_none_itself():
    seen = []
    with threads(2):
        run_blas_tiles(lambda _: seen.extend(_blas().info()), range(2))
    assert {lib["num_threads"] for lib in seen if lib["user_api"] == "blas"} <= {1}
