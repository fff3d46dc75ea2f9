"""Errors that a caller can catch."""

import pickle

import pytest

from bestk.errors import BestKError, DataError, ParameterError, UnknownNameError, counted


@pytest.mark.parametrize("error", [DataError, ParameterError])
def test_errors_can_be_caught_as_of_this_package_and_as_value_errors(error):
    assert issubclass(error, BestKError)
    assert issubclass(error, ValueError)


def test_an_unknown_name_lists_the_known_ones_or_the_nearest():
    error = UnknownNameError("method", "mrrm", ["auto", "mrmr"])
    assert str(error) == "unknown method 'mrrm'; did you mean 'mrmr'?"
    error = UnknownNameError("column", "OUT", ["OUTER", "out"])
    assert str(error) == "unknown column 'OUT'; did you mean 'out'?"
    error = UnknownNameError("method", 42, ["auto", "mrmr"])
    assert str(error) == "unknown method 42; choose one of 'auto', 'mrmr'"


def test_one_thing_is_counted_in_the_singular():
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]


def test_an_unknown_name_survives_the_way_back_from_a_worker():
    error = UnknownNameError("column", "agee", iter(["age"]), "people.csv")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
