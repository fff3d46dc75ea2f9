"""Names of backends."""

import pytest

from bestk.information.backends import get_backend


def test_the_old_name_of_the_default_backend_still_works_and_warns():
    with pytest.warns(DeprecationWarning, match="'native'"):
        old = get_backend("numba")
    assert old is get_backend("native") is get_backend("auto")
