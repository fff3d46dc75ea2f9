"""Kernels on every instruction set that this machine has."""

import pytest

from bestk.native._library import cpu_levels, set_cpu


@pytest.fixture(params=cpu_levels())
def cpu(request):
    set_cpu(request.param)
    yield request.param
    set_cpu(None)
