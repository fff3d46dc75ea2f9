"""Tests of kernels run on every instruction set of the machine."""

import os

import pytest

from bestk.native._library import cpu_levels, set_cpu


@pytest.fixture(scope="module", params=cpu_levels(), autouse=True)
def cpu(request):
    """Use the kernels of one instruction set."""
    set_cpu(request.param)
    yield request.param
    set_cpu(os.environ.get("BESTK_CPU") or None)
