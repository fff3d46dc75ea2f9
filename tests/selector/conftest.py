"""A table such as people have."""

import numpy as np
import pandas as pd
import pytest

from bestk.selectors.joint_selector import resolve_options
from bestk.selectors.steps import measure, read_dataset


def mixed_frame(
    m: int = 120, seed: int = 0, flips: int = 5, noises: int = 6
) -> tuple[pd.DataFrame, np.ndarray]:
    """Strings, categories, booleans, numbers, gaps and a constant; five columns say something."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, m)
    noise = rng.random((m, flips)) < 0.2
    colour = np.where(y ^ noise[:, 0], "red", "blue").astype(object)
    colour[rng.random(m) < 0.1] = None
    frame = pd.DataFrame(
        {
            "colour": colour,
            "size": pd.Categorical(np.where(y ^ noise[:, 1], "L", "S"), ["S", "M", "L"]),
            "member": (y ^ noise[:, 2]).astype(bool),
            "age": np.where(rng.random(m) < 0.1, np.nan, 40 + 9 * y + rng.normal(0, 5, m)),
            "visits": rng.poisson(2 + 3 * y),
            "constant": np.ones(m),
            **{f"noise {j}": rng.normal(size=m) for j in range(noises)},
        }
    )
    return frame, np.array(["no", "yes"])[y]


@pytest.fixture
def mixed():
    return mixed_frame()


def estimates_of(selector, X, y):
    """What the estimator of a selector measures of a table."""
    options = resolve_options(selector)
    return measure(read_dataset(X, y, options), options).estimates
