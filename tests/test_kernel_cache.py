"""A kernel runs where nothing can be kept on disk, and where what was kept is damaged."""

import numpy as np
import pytest

from bestk._kernel_cache import ForgivingCache, open_cache
from bestk._kernels import kernel


def add(x):
    return x + 1.0


def test_a_kernel_is_compiled_where_no_folder_can_be_written_to(monkeypatch, tmp_path):
    monkeypatch.setattr(ForgivingCache, "__init__", _refuse)
    assert open_cache(add).cache_path is None
    assert kernel(add)(1.0) == 2.0


def _refuse(self, function):
    raise RuntimeError("cannot cache function 'add': no locator available")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), EOFError()])
def test_a_kernel_runs_on_a_full_disk(monkeypatch, error):
    def fail(*arguments):
        raise error

    compiled = kernel(add)
    monkeypatch.setattr(type(compiled._cache._cache_file), "save", fail)
    assert compiled(1.0) == 2.0
    np.testing.assert_array_equal(compiled(np.zeros(2)), [1.0, 1.0])
