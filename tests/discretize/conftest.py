"""The whole archive of a data set, with its states and missing entries."""

import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def paper_archive(paper_set):
    def load(name):
        paper_set(name)
        folder = Path(os.environ.get("BESTK_DATA") or "data")
        with np.load(folder / f"{name}.npz", allow_pickle=False) as archive:
            return dict(archive)

    return load
