"""What "auto" stands for, case by case."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from bestk import MDLP, METHODS, Greedy, Quadratic, SelectBestK, SelectBestKCV
from bestk.errors import ParameterError
from bestk.methods.forward import BlockForward
from bestk.methods.quadratic import Balanced
from bestk.selectors.joint_selector import resolve_options

OWN = MDLP()
PAPER = ("discrete", "caim", None)
CORRECTED = ("discrete", "caim", "chance")
BLEND = ("blend", "auto", None)
BLOCKS = ("blocks", "auto", None)


def settled(selector=None, **options):
    """What is estimated, in which bins, and how estimates are corrected."""
    estimator = resolve_options(SelectBestK(**options) if selector is None else selector).estimator
    return estimator.name, estimator.settings.discretizer, estimator.settings.correction


def test_the_default_reads_blocks_of_numbers():
    assert settled() == settled(method=BlockForward()) == BLOCKS
    assert settled(SelectBestKCV(GaussianNB())) == BLOCKS


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"auto"}))
def test_every_other_method_reads_what_the_paper_does(name):
    assert settled(method=name) == settled(method=METHODS[name]) == PAPER


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"method": Quadratic("balanced", "search")}, BLEND),
        ({"method": Quadratic(Balanced(), "exact")}, BLEND),
        ({"method": Quadratic("mrmr", "swap")}, PAPER),
        ({"method": Greedy("jmi")}, PAPER),
        ({"information": "blend", "method": "tpower"}, BLEND),
        ({"information": "discrete", "method": Quadratic("balanced")}, CORRECTED),
        ({"information": "gaussian", "method": "mrmr"}, ("gaussian", "caim", None)),
        (
            {"discretizer": "sigma", "method": Quadratic("balanced")},
            ("blend", "sigma", None),
        ),
        ({"discretizer": OWN, "method": "jmi"}, ("discrete", OWN, None)),
        ({"discretizer": None, "method": "jmi"}, ("discrete", None, None)),
        (
            {"correction": "chance", "method": "jmi"},
            ("discrete", "caim", "chance"),
        ),
    ],
    ids=repr,
)
def test_what_is_asked_for_stands_and_the_rest_is_filled_in(options, wanted):
    assert settled(**options) == wanted


@pytest.mark.parametrize("information", ["discrete", "gaussian", "blend"])
def test_other_information_does_not_go_with_the_default(information):
    with pytest.raises(ParameterError, match=r"does not go with method='auto'.*method='mrmr'"):
        settled(information=information)


@pytest.mark.parametrize(
    "option",
    [
        {"discretizer": "caim"},
        {"discretizer": None},
        {"discretizer": OWN},
        {"correction": "chance"},
    ],
    ids=repr,
)
def test_settings_of_counts_are_refused_by_the_default_with_a_method_that_takes_them(option):
    X = np.arange(40).reshape(20, 2)
    with pytest.raises(ParameterError, match="method='jmi'"):
        SelectBestK(1, **option).fit(X, np.arange(20) % 2)


def test_a_method_of_ones_own_without_an_objective_reads_counts():
    class Own:
        def select(self):
            """Nothing."""

        select_path = select

    assert settled(method=Own()) == PAPER


def test_an_unknown_method_is_refused_with_the_nearest():
    with pytest.raises(ValueError, match="unknown method 'outo'; did you mean 'auto'"):
        settled(method="outo")


def test_the_options_of_the_selector_are_left_as_they_were():
    selector = SelectBestK()
    resolve_options(selector)
    assert (selector.information, selector.discretizer, selector.correction) == ("auto",) * 2 + (
        None,
    )
