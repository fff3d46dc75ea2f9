"""Errors that a caller can catch."""

import pickle

import numpy as np
import pytest

from bestk import BQP, CAIM, SelectBestK, cmi_matrix, select, solve
from bestk.errors import BestKError, DataError, ParameterError, UnknownNameError, counted

X = np.arange(40.0).reshape(20, 2)
Y = np.arange(20) % 2


@pytest.mark.parametrize("error", [DataError, ParameterError])
def test_errors_can_be_caught_as_of_this_package_and_as_value_errors(error):
    assert issubclass(error, BestKError)
    assert issubclass(error, ValueError)


@pytest.mark.parametrize(
    "call",
    [
        lambda: select(X[:1], Y[:1], 1, target="continuous"),
        lambda: CAIM().fit(X, np.zeros(20)),
        lambda: BQP([[1.0, 2.0]], 1),
        lambda: SelectBestK(1).fit([], None),
        lambda: SelectBestK(1, "mrmr").fit(iter([]), "y"),
    ],
)
def test_what_is_wrong_with_data_is_a_data_error(call):
    with pytest.raises(DataError):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: BQP(np.eye(3), 4),
        lambda: solve(np.eye(3)),
        lambda: solve(np.eye(3), 1, time_limit=-1),
        lambda: select(X, Y, 1, include=[5]),
        lambda: select(X, Y, 1, exclude=[True]),
        lambda: select(X, Y, 1, include=[0], exclude=[0]),
        lambda: select(X, Y, 1, method="mrmr", information="gaussian", correction="chance"),
        lambda: cmi_matrix(X.astype(int), Y, dtype="int32"),
    ],
)
def test_what_is_wrong_with_a_parameter_is_a_parameter_error(call):
    with pytest.raises(ParameterError):
        call()


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
