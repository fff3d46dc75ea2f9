"""Selecting again from some of the rows: the one way in which folds and subsamples are selected."""

from collections.abc import Mapping, Sequence

from bestk._typing import Indices
from bestk.bqp.solution import Solution
from bestk.information.information import Information
from bestk.selectors.options import Options, is_method
from bestk.selectors.steps import measure, select_path
from bestk.tables.dataset import Dataset


def select_from_rows(
    dataset: Dataset, rows: Indices, options: Options, ks: Sequence[int]
) -> list[Solution]:
    """The best features for every k, found from some rows of a dataset alone.

    Parameters
    ----------
    rows : array of int
        The places of the rows, such as the training rows of a fold; they may repeat.
    """
    information = measure(dataset.take(rows), options)
    return select_path(information, options, ks)


def measure_for_each(
    dataset: Dataset, options_of_name: Mapping[str, Options]
) -> dict[str, Information]:
    """The information for each of several methods; those that read the same estimates share it."""
    information_of_name: dict[str, Information] = {}
    measured: list[tuple[Options, Information]] = []
    for name, options in options_of_name.items():
        # Selectors of other libraries read the table, and any information will do.
        shared = [
            information
            for other, information in measured
            if not is_method(options.method) or other.estimator == options.estimator
        ]
        information = shared[0] if shared else measure(dataset, options)
        if not shared:
            measured.append((options, information))
        information_of_name[name] = information
    return information_of_name
