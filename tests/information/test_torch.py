"""The backend for GPUs gives what numba's gives, to the last bit; its CPU build runs these."""

import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk import cmi_matrix, encode, mutual_information
from bestk.codes import read_target
from bestk.information import Entropies, Measure, _measures
from bestk.information.backends import BACKENDS, get_backend

from .conftest import tables

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch")

from bestk.information.backends import _torch_pairs, _torch_sheet, _torch_table  # noqa: E402

MEASURES = [value for value in vars(_measures).values() if isinstance(value, Measure)]
CORRECTIONS = [None, "miller-madow", "chance"]
NEAR = {"rtol": 0, "atol": 1e-12}
seeds = st.integers(0, 2**32 - 1)
DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
    ),
]


def count(X, y, backend="torch:cpu", correction=None):
    return Entropies.count(encode(X), read_target(y, len(y)), backend, correction)


def filled(h, measure, rows=None, columns=None, dtype=np.float64, lowest=-np.inf):
    n = h.n_features
    shape = n if rows is None else len(rows), n if columns is None else len(columns)
    out = np.full(shape, np.nan, dtype)
    h.source.fill(measure, out, rows, columns, lowest)
    return out


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles, windows of samples and buffers so small that every table needs many of each."""
    monkeypatch.setattr(_torch_pairs, "COUNT_BYTES", {"cpu": 2**12, "cuda": 2**12})
    monkeypatch.setattr(_torch_table, "PLANE_BYTES", 2**9)
    monkeypatch.setattr(_torch_table, "UPLOAD_BYTES", 2**8)
    monkeypatch.setattr(_torch_table, "SORTED_AT_ONCE", 2**8)
    monkeypatch.setattr(_torch_sheet, "BUFFER_BYTES", 2**8)


@pytest.mark.parametrize("device", DEVICES)
def test_xor_has_no_marginal_information_but_one_bit_jointly(device):
    h = count([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], f"torch:{device}")
    np.testing.assert_allclose(h.mi(), [0, 0], **NEAR)
    np.testing.assert_allclose(h.joint_mi(), np.log(2) * (1 - np.eye(2)), **NEAR)


@pytest.mark.parametrize("correction", CORRECTIONS)
@settings(max_examples=20)
@given(table=tables(max_features=6, max_samples=60, max_levels=70))
def test_every_measure_is_that_of_the_reference(correction, table):
    h, reference = count(*table, correction=correction), count(*table, "numpy", correction)
    np.testing.assert_allclose(h.source.copies(), reference.source.copies(), **NEAR)
    for field in ("x", "xy", "y"):
        np.testing.assert_allclose(getattr(h, field), getattr(reference, field), **NEAR)
    for measure in MEASURES:
        np.testing.assert_allclose(filled(h, measure), filled(reference, measure), **NEAR)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("correction", CORRECTIONS)
@settings(max_examples=25)
@given(table=tables(max_levels=20, max_features=40), seed=seeds)
def test_no_bit_differs_from_numba(device, correction, table, seed):
    X, y = table
    rng, n = np.random.default_rng(seed), X.shape[1]
    X = np.where(rng.random(X.shape) < 0.1 * rng.integers(0, 2), np.nan, X)  # a level of its own
    h, numba = (count(X, y, name, correction) for name in (f"torch:{device}", "numba"))
    weights = Measure(*rng.integers(-2, 3, len(fields(Measure))) / 2)
    rows, columns = rng.integers(0, n, 5), rng.permutation(n)[: rng.integers(1, n + 1)]
    np.testing.assert_array_equal(h.x, numba.x)
    np.testing.assert_array_equal(h.xy, numba.xy)
    for measure in (_measures.CMI, _measures.PAIR_MI, weights):
        for dtype in (np.float64, np.float32):
            lowest = float(rng.choice([0.0, -np.inf]))
            whole = filled(numba, measure, dtype=dtype, lowest=lowest)
            asked = {
                (): whole,
                (rows,): whole[rows],
                (None, columns): whole[:, columns],
                (rows, columns): whole[np.ix_(rows, columns)],
            } if False else [
                ((None, None), whole),
                ((rows, None), whole[rows]),
                ((None, columns), whole[:, columns]),
                ((rows, columns), whole[np.ix_(rows, columns)]),
            ]
            for chosen, wanted in asked:
                found = filled(h, measure, *chosen, dtype, lowest)
                np.testing.assert_array_equal(found, wanted)
