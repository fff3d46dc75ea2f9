"""Values far away from the others, which a few rows should not decide by."""

import numpy as np

from bestk._typing import Floats, Indices

# Values farther than so many interquartile ranges from the quartiles are moved to that distance.
OUTLIER_REACH = 3.0


def move_outliers(values: Floats, train: Indices) -> Floats:
    """Limit columns to three interquartile ranges beyond the quartiles of the training rows.

    Parameters
    ----------
    values : array of shape (n_samples, n_columns)
        Numbers, NaN where they are missing.
    train : array of int
        The rows whose quartiles count.
    """
    low, high = np.nanquantile(values[train], (0.25, 0.75), axis=0)
    reach = np.where(high > low, OUTLIER_REACH * (high - low), np.inf)
    return np.clip(values, low - reach, high + reach)
