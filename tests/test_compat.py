"""Where another package has lost a private name, a plain substitute does."""

import importlib.util
import sys

import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator

from bestk import _compat


@pytest.fixture
def without_private_names(monkeypatch):
    """The module of private names as it is where scikit-learn has no more than it must have."""
    for name in ("_user_interface", "_set_output", "_metadata_requests"):
        monkeypatch.setitem(sys.modules, f"sklearn.utils.{name}", None)
    spec = importlib.util.spec_from_file_location("compat_without_names", _compat.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_name_is_there():
    assert all(hasattr(_compat, name) for name in _compat.__all__)


def test_time_is_printed(capsys):
    with _compat.print_elapsed_time("Selector", "counting"):
        pass
    assert capsys.readouterr().out.startswith("[Selector] ")


def test_without_the_private_timer_no_time_is_printed(without_private_names, capsys):
    with without_private_names.print_elapsed_time("Selector", "counting"):
        pass
    assert not capsys.readouterr().out


def test_the_container_is_that_of_the_configuration(without_private_names):
    for module in (_compat, without_private_names):
        assert module.output_container(BaseEstimator()) == "default"
        with config_context(transform_output="pandas"):
            assert module.output_container(BaseEstimator()) == "pandas"


def test_parameters_that_nothing_hands_on_are_refused(without_private_names):
    for module in (_compat, without_private_names):
        module.refuse_unrouted_params({}, BaseEstimator(), "fit")
        with pytest.raises(ValueError, match="enable_metadata_routing"):
            module.refuse_unrouted_params({"groups": [1]}, BaseEstimator(), "fit")
