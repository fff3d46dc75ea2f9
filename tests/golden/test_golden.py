"""Selections do not change by accident."""

import pytest

from bestk import METHODS
from hardening.golden import selections
from hardening.golden.sets import SETS, SHIPPED

# scikit-learn's own classifier is in one of them, and warns of every other version of itself
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
CLOSE = 1e-9  # products of matrices differ in their last bits between machines


@pytest.mark.parametrize("name", SETS)
def test_every_method_selects_what_it_did(name, paper_set):
    if name not in SHIPPED:
        paper_set(name)
    found = {name: selections.selections(name)}
    changed = selections.differing(selections.stored(), found, CLOSE)
    told = "\n".join(selections.differences(selections.stored(), found))
    assert changed == [], f"{told}\nif this is meant: python -m hardening.golden --rewrite"


def test_the_record_has_every_set_and_every_method():
    record = selections.stored()
    assert tuple(record) == SETS
    for name, methods in record.items():
        assert set(METHODS) - set(methods) <= (selections.SLOW if name == "colon" else set())


def test_a_change_is_told_with_the_features_that_came_and_went():
    before = {"iris": {"jmi": {"support": [2, 3], "objective": (1.5).hex()}}}
    after = {"iris": {"jmi": {"support": [2, 1], "objective": (1.25).hex()}}}
    (line,) = selections.differences(before, after)
    assert line == "iris, jmi: features [3] gave way to [1]; objective 1.5 -> 1.25 (-0.25)"
    assert selections.differing(before, after, CLOSE) == [("iris", "jmi")]
    assert selections.differing(before, before, CLOSE) == []
