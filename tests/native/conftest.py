"""Every kernel on every instruction set that this machine has."""

import pytest

from bestk.native._library import cpu_levels, set_cpu


@pytest.fixture(params=cpu_levels())
def level(request):
    """Run the kernels for one instruction set."""
    set_cpu(request.param)
    yield request.param
    set_cpu(None)
