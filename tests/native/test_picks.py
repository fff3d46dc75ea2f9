"""The kernel that picks features gives what a few lines of numpy give, on every instruction set."""

import numpy as np
import pytest

from bestk.information import Entropies, Query, measures
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
WEIGHTS = {  # of relevance, of pairs; the most of a pair; what divides; mean, quotient, minimum
    "sum": (measures.JOINT_MI, (0, 1, np.inf, 1e-12, 0, 0, 0)),
    "least": (measures.CMI, (0, 1, np.inf, 1e-12, 0, 0, 1)),
    "capped": (measures.INTERACTION, (1, 1, 0, 1e-12, 0, 0, 0)),
    "difference": (measures.PAIR_MI, (1, -0.5, np.inf, 1e-12, 1, 0, 0)),
    "quotient": (measures.PAIR_MI, (0, 0, np.inf, 1e-12, 1, 1, 0)),
}


def slow_picks(pairs, relevance, weights, k, given):
    """Picks and scores from the measure of all pairs."""
    own, shared, most, least, mean, quotient, minimum = weights
    picked, scores, gathered = [], [], None
    for step in range(k):
        worth = relevance
        if step:
            value = gathered / step if mean else gathered
            worth = (
                relevance / np.maximum(value, least)
                if quotient
                else own * relevance + shared * value
            )
        worth = worth.copy()
        worth[picked] = -np.inf
        picked.append(given[step] if step < len(given) else int(np.argmax(worth)))
        scores.append(worth[picked[-1]])
        row = np.minimum(pairs[picked[-1]], most)
        gathered = row if not step else np.minimum(row, gathered) if minimum else gathered + row
    return picked, scores


@pytest.mark.parametrize("given", [[], [7, 3]], ids=["none given", "some given"])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_picks_and_scores_are_those_of_numpy(shape, weights, given):
    m, n, levels, n_classes = SHAPES[shape]
    rng = np.random.default_rng(0)
    y = np.arange(m) % n_classes
    X = np.stack([rng.integers(0, levels[j % len(levels)], m) for j in range(n)], axis=1)
    X[:, ::3] = np.where(rng.random((m, len(range(0, n, 3)))) < 0.4, y[:, None], X[:, ::3])
    X[:, 5] = X[:, 9] = X[:, 12]  # ties
    entropies, k = Entropies.count(encode(X), read_classes(y, m)), min(n, 20)
    measure, values = WEIGHTS[weights]
    query, relevance = (
        Query(measure, lowest=0.0 if weights != "capped" else -np.inf),
        entropies.mi(),
    )
    pairs = entropies.measure(measure, signed=weights == "capped")
    with threads(1):
        picked, scores = entropies.source.pick(
            query, np.array(values, np.float64), relevance, k, given
        )
    slow, slow_scores = slow_picks(pairs, relevance, values, k, given)
    assert picked.tolist() == slow
    np.testing.assert_array_equal(scores, slow_scores)
