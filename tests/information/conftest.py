"""Random discrete tables, and the definition of information spelled out."""

from collections import Counter
from math import log

import numpy as np
from hypothesis import strategies as st


def brute_entropy(*columns):
    """H of columns taken together, straight from the definition, in pure Python."""
    rows = list(zip(*columns, strict=True))
    return -sum(n / len(rows) * log(n / len(rows)) for n in Counter(rows).values())


def brute_joint_mi(a, b, y):
    return brute_entropy(a, b) + brute_entropy(y) - brute_entropy(a, b, y)


def brute_cmi_matrix(X, y):
    """``Q[i, i] = I(Xi; Y)``, ``Q[i, j] = I(Xj; Y | Xi)`` from sums over p log p ratios."""
    n = X.shape[1]
    Q = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            Q[i, j] = _brute_mi(X[:, i], y) if i == j else _brute_cmi(X[:, j], y, X[:, i])
    return Q


def _brute_mi(a, y):
    return _brute_cmi(a, y, np.zeros(len(y), int))


def _brute_cmi(a, y, given):
    m = len(y)
    abz, az, yz, z = (
        Counter(zip(*columns, strict=True))
        for columns in ((a, y, given), (a, given), (y, given), (given,))
    )
    return sum(n / m * log(n * z[(g,)] / (az[(v, g)] * yz[(c, g)])) for (v, c, g), n in abz.items())


@st.composite
def tables(draw, max_levels=12, max_classes=10, max_features=20, max_samples=120):
    """A table of integer columns and its classes; constant columns and lone samples included."""
    m = draw(st.integers(2, max_samples))
    n = draw(st.integers(1, max_features))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    levels = rng.integers(1, draw(st.integers(2, max_levels)) + 1, n)
    X = np.column_stack([rng.integers(0, k, m) for k in levels])
    n_classes = min(m, draw(st.integers(2, max_classes)))
    y = rng.permutation(np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, m)])[:m])
    if draw(st.booleans()):  # the last class has a single sample
        y[(y == n_classes - 1) & (np.arange(m) != np.argmax(y == n_classes - 1))] = 0
    return X, y
