"""Shared fixtures: the data sets of the paper, if they are present."""

import os
from functools import partialmethod
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import settings

from bestk.information.backends import BACKENDS

from .information.reference import NumpyCounter

BACKENDS["numpy"] = NumpyCounter
settings.register_profile("ci", deadline=None, max_examples=20, derandomize=True)
settings.load_profile("ci")

if "mix_stderr" in signature(CliRunner).parameters:  # before click 8.2, errors went among results
    CliRunner.__init__ = partialmethod(CliRunner.__init__, mix_stderr=False)


def load_paper_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """X and y of a data set of the paper, or skip the test."""
    folder = Path(os.environ.get("BESTK_DATA") or "data")
    path = folder / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"data set {name!r} is not in {folder}; set BESTK_DATA to the folder")
    with np.load(path, allow_pickle=False) as archive:
        return archive["X"], archive["y"]


@pytest.fixture
def paper_set():
    return load_paper_set
