"""Values far away from the others, which a few rows should not decide by."""

import numpy as np

from bestk._typing import Floats, Indices

# Values that lie more than so many interquartile ranges beyond a quartile are moved there.
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
    quartiles = (0.25, 0.75)
    low, high = np.nanquantile(values[train], quartiles, axis=0)
    range_of_quartiles = high - low
    # Where half of the values are equal, quartiles do not show which values are far away.
    reach = np.where(high > low, OUTLIER_REACH * range_of_quartiles, np.inf)
    return np.clip(values, low - reach, high + reach)
