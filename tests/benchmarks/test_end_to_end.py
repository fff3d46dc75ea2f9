"""The benchmark of time by stage."""

from time import perf_counter

import numpy as np

from benchmarks.end_to_end.__main__ import STAGES, stopwatch
from bestk import SelectBestK


def test_all_functions_of_the_stages_are_found_and_their_times_add_up():
    rng = np.random.default_rng(0)
    start = perf_counter()
    with stopwatch(perf_counter) as seconds:
        SelectBestK(2).fit(rng.normal(size=(300, 5)), rng.integers(0, 2, 300))
    assert set(seconds) == {*STAGES, "rest"}
    assert 0 < sum(seconds.values()) <= perf_counter() - start
    assert all(seconds[stage] > 0 for stage in ("cut", "scores", "count", "solve", "describe"))
