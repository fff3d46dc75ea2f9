"""The kernel that picks features gives what a few lines of numpy give, on every instruction set."""

import numpy as np
import pytest

from bestk.information import Entropies, Query, measures
from bestk.information.backends import PickRule
from bestk.native.threads import threads
from bestk.tables.codes import encode
from bestk.tables.target import read_classes

pytestmark = pytest.mark.usefixtures("cpu")
SHAPES = {  # samples, features, levels of the columns, classes
    "two levels": (300, 40, (2,), 2),
    "few samples": (70, 50, (3, 2, 1, 6), 2),
    "three classes": (900, 35, (2, 3, 1, 5), 3),
    "histograms": (200, 20, (2, 70, 150), 2),
}


def rule(**fields):
    """A rule that adds up what picks say, but for some fields."""
    defaults = {
        "relevance_weight": 0.0,
        "pair_weight": 1.0,
        "largest_pair": np.inf,
        "smallest_divisor": 1e-12,
        "takes_mean": False,
        "takes_quotient": False,
        "takes_minimum": False,
    }
    return PickRule(**(defaults | fields))


RULES = {
    "sum": (measures.JOINT_MI, rule()),
    "least": (measures.CMI, rule(takes_minimum=True)),
    "capped": (measures.INTERACTION, rule(relevance_weight=1.0, largest_pair=0.0)),
    "difference": (
        measures.PAIR_MI,
        rule(relevance_weight=1.0, pair_weight=-0.5, takes_mean=True),
    ),
    "quotient": (measures.PAIR_MI, rule(takes_mean=True, takes_quotient=True)),
}


def slow_picks(pairs, relevance, rule, k, given):
    """Picks and scores from the measure of all pairs."""
    picked, scores, gathered = [], [], None
    for step in range(k):
        worth = relevance
        if step:
            value = gathered / step if rule.takes_mean else gathered
            worth = rule.relevance_weight * relevance + rule.pair_weight * value
            if rule.takes_quotient:
                worth = relevance / np.maximum(value, rule.smallest_divisor)
        worth = worth.copy()
        worth[picked] = -np.inf
        picked.append(given[step] if step < len(given) else int(np.argmax(worth)))
        scores.append(worth[picked[-1]])
        row = np.minimum(pairs[picked[-1]], rule.largest_pair)
        if not step:
            gathered = row
        else:
            gathered = np.minimum(row, gathered) if rule.takes_minimum else gathered + row
    return picked, scores


@pytest.mark.parametrize("given", [[], [7, 3]], ids=["none given", "some given"])
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("shape", SHAPES)
def test_picks_and_scores_are_those_of_numpy(shape, name, given):
    m, n, levels, n_classes = SHAPES[shape]
    rng = np.random.default_rng(0)
    y = np.arange(m) % n_classes
    X = np.stack([rng.integers(0, levels[j % len(levels)], m) for j in range(n)], axis=1)
    X[:, ::3] = np.where(rng.random((m, len(range(0, n, 3)))) < 0.4, y[:, None], X[:, ::3])
    X[:, 5] = X[:, 9] = X[:, 12]  # ties
    entropies, k = Entropies.count(encode(X), read_classes(y, m)), min(n, 20)
    measure, rule_of_picks = RULES[name]
    query, relevance = (
        Query(measure, lowest=0.0 if name != "capped" else -np.inf),
        entropies.mi(),
    )
    pairs = entropies.measure(measure, signed=name == "capped")
    with threads(1):
        picked, scores = entropies.source.pick(query, rule_of_picks, relevance, k, given)
    slow, slow_scores = slow_picks(pairs, relevance, rule_of_picks, k, given)
    assert picked.tolist() == slow
    np.testing.assert_array_equal(scores, slow_scores)
