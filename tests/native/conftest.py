"""Tests of kernels run on every instruction set of the machine."""

import pytest

from bestk.native import cpu_levels, kernels


@pytest.fixture(scope="module", params=cpu_levels(), autouse=True)
def cpu(request):
    """Use the kernels of one instruction set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BESTK_CPU", request.param)
        vars(kernels).clear()  # those of another library
        yield request.param
    vars(kernels).clear()
