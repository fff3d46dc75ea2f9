"""The backend for GPUs gives what native's gives, to the last bit; on a CPU it runs the same."""

import subprocess
import sys
from contextlib import contextmanager
from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk import cmi_matrix, encode
from bestk.bqp.solvers import Effort
from bestk.information import Entropies, Measure, Query, measures
from bestk.information.backends import get_backend
from bestk.information.scan import informative_pairs, scan_pairs
from bestk.methods.registry import METHODS
from bestk.tables.target import read_classes

from .conftest import tables

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch")

from bestk.information.backends import (  # noqa: E402
    _torch,
    _torch_kernels,
    _torch_pairs,
    _torch_sides,
    _torch_table,
    _torch_tiles,
)

CORRECTIONS = [None, "miller-madow", "chance"]
MEASURES = [value for value in vars(measures).values() if isinstance(value, Measure)]
NEAR = {"rtol": 0, "atol": 1e-12}
no_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
every_device = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=no_gpu)])
seeds = st.integers(0, 2**32 - 1)


def count(X, y, backend="torch:cpu", correction=None):
    return Entropies.count(encode(X), read_classes(y, len(y)), backend, correction)


def fill(h, measure, rows=None, columns=None, dtype=np.float64, lowest=-np.inf):
    """The measure of some pairs, on paper that shows what was not written."""
    sizes = [h.n_features if some is None else len(some) for some in (rows, columns)]
    out = np.full(sizes, np.nan, dtype)
    h.source.fill(Query(measure, rows, columns, lowest), out)
    return out


@contextmanager
def tiny_tiles(tiny):
    """Tiles, windows of samples and buffers so small that a table of any size needs many."""
    with pytest.MonkeyPatch.context() as patch:
        if tiny:
            patch.setattr(_torch_table, "COUNT_BYTES", dict.fromkeys(("cpu", "cuda"), 2**14))
            patch.setattr(_torch_table, "PLANE_BYTES", 2**12)
            patch.setattr(_torch_table, "UPLOAD_BYTES", 2**10)
            patch.setattr(_torch_pairs, "SUMMED_CELLS", 2**7)
            patch.setattr(_torch_pairs, "SAMPLE", 32)
            patch.setattr(_torch, "BUFFER_BYTES", 2**8)
            patch.setattr(_torch, "RESULT_BYTES", 2**12)
            patch.setattr(_torch, "STRIP_BYTES", 2**10)
            patch.setattr(_torch, "MAX_CANDIDATES", 7)
            patch.setattr(_torch_tiles, "MAX_FOUND", 9)
        yield


def test_features_are_cut_where_planes_exceed_the_most_and_at_the_bands():
    cuts = _torch_sides.cut_by_levels(np.array([1, 2, 3, 3, 300]), 5, (2, 64))
    assert list(cuts) == [(0, 2), (2, 3), (3, 4), (4, 5)]


@every_device
def test_xor_has_no_marginal_information_but_one_bit_jointly(device):
    h = count([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], f"torch:{device}")
    np.testing.assert_allclose(h.mi(), [0, 0], **NEAR)
    np.testing.assert_allclose(h.joint_mi(), np.log(2) * (1 - np.eye(2)), **NEAR)


@pytest.mark.parametrize("correction", CORRECTIONS)
@settings(max_examples=15)
@given(table=tables(max_features=6, max_samples=60, max_levels=70))
def test_every_measure_is_that_of_the_reference(correction, table):
    h, reference = count(*table, correction=correction), count(*table, "numpy", correction)
    np.testing.assert_allclose(h.source.copies, reference.source.copies, **NEAR)
    for own, wanted in zip(h.source.singles, reference.source.singles, strict=True):
        np.testing.assert_allclose(own, wanted, **NEAR)
    for measure in MEASURES:
        np.testing.assert_allclose(fill(h, measure), fill(reference, measure), **NEAR)


@every_device
@pytest.mark.parametrize("correction", CORRECTIONS)
@settings(max_examples=25)
@given(table=tables(max_levels=20, max_features=40), seed=seeds, tiny=st.booleans())
def test_no_bit_differs_from_the_default(device, correction, table, seed, tiny):
    X, y = table
    rng, n = np.random.default_rng(seed), X.shape[1]
    X = np.where(rng.random(X.shape) < rng.choice([0, 0.1]), np.nan, X)  # a level of its own
    halves = Measure(*rng.integers(-2, 3, len(fields(Measure))) / 2)
    measure = [*MEASURES, halves, halves][rng.integers(len(MEASURES) + 2)]
    rows, columns = rng.integers(0, n, 5), rng.permutation(n)[: rng.integers(1, n + 1)]
    how = rng.choice([np.float32, np.float64]), float(rng.choice([0, -np.inf]))
    native = count(X, y, "native", correction)
    whole = fill(native, measure, None, None, *how)
    with tiny_tiles(tiny):
        h = count(X, y, f"torch:{device}", correction)
        np.testing.assert_array_equal([h.x, h.xy], [native.x, native.xy])
        for wanted in ((None, None), (rows, None), (None, columns), (rows, columns)):
            i, j = (slice(None) if some is None else some for some in wanted)
            np.testing.assert_array_equal(fill(h, measure, *wanted, *how), whole[i][:, j])


@every_device
def test_a_query_may_have_more_rows_than_there_are_features(device):
    X, y = np.array([[1, 1], *[[0, 1]] * 6, [2, 1]]), np.array([0, 0, 1, 1, 1, 1, 1, 0])
    every, rows = (np.float64, -np.inf), np.array([0, 0, 0, 0, 1])
    found = fill(count(X, y, f"torch:{device}"), measures.CMI, rows, None, *every)
    np.testing.assert_array_equal(found, fill(count(X, y), measures.CMI, rows, None, *every))


@every_device
@settings(max_examples=15)
@given(table=tables(max_levels=9, max_features=99), seed=seeds, tiny=st.booleans())
def test_no_bit_of_row_sums_differs_from_the_default(device, table, seed, tiny):
    rng, (X, y) = np.random.default_rng(seed), table
    X = np.minimum(X, 1) if rng.random() < 0.5 else X
    measure, lowest = MEASURES[rng.integers(len(MEASURES))], float(rng.choice([0, -np.inf]))
    with tiny_tiles(tiny):
        found = count(X, y, f"torch:{device}").source.row_sums(Query(measure, lowest=lowest))
    expected = count(X, y, "native").source.row_sums(Query(measure, lowest=lowest))
    np.testing.assert_array_equal(found, expected)


@every_device
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_matrix_left_on_the_device_is_the_one_that_comes_home(device, dtype):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, rng.integers(1, 5, 150), (90, 150)), rng.integers(0, 3, 90)
    left = count(X, y, f"torch:{device}").source.matrix(
        Query(measures.CMI, lowest=0.0), getattr(torch, dtype)
    )
    np.testing.assert_array_equal(
        left.cpu().numpy(), fill(count(X, y, "native"), measures.CMI, dtype=dtype, lowest=0.0)
    )


@every_device
@pytest.mark.parametrize("method", ["linear", "tpower", "forward", "jmi", "mrmr"])
def test_methods_that_ask_for_columns_pick_the_same_as_by_default(device, method):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, rng.integers(2, 4, 120), (90, 120)), rng.integers(0, 2, 90)
    effort = Effort(bound=None, memory=2**12)
    picks = (METHODS[method].select(count(X, y, backend), 9, effort=effort)
             for backend in (f"torch:{device}", "native"))  # fmt: skip
    own, wanted = (solution.support.tolist() for solution in picks)
    assert own == wanted


@no_gpu
@pytest.mark.parametrize("shape", [(50, 3000), (3000, 70), (64, 4128), (9000, 300), (40_000, 140)])
@pytest.mark.parametrize("classes", [2, 3, 9])
def test_two_level_columns_of_any_odds_give_the_same_bits_on_a_gpu(shape, classes):
    rng = np.random.default_rng(0)
    X = rng.random(shape) < rng.random(shape[1])
    y = np.arange(len(X)) % classes
    for correction in CORRECTIONS:
        own, found = (count(X, y, backend, correction) for backend in ("native", "torch:cuda"))
        for measure in (measures.CMI, measures.JOINT_MI, measures.PAIR_MI, measures.PAIR_CMI):
            for dtype in (np.float32, np.float64):
                expected = fill(own, measure, dtype=dtype)
                np.testing.assert_array_equal(fill(found, measure, dtype=dtype), expected)
            sums = (h.source.row_sums(Query(measure, lowest=0.0)) for h in (own, found))
            np.testing.assert_array_equal(*sums)


@every_device
@settings(max_examples=10)
@given(seed=seeds, tiny=st.booleans())
def test_no_bit_differs_where_columns_have_too_many_levels_for_the_device(device, seed, tiny):
    rng = np.random.default_rng(seed)
    levels = rng.choice([1, 2, 3, 60, 64, 65, 255, 257, 2000], 6)
    X, y = rng.integers(0, levels, (600, 6)), rng.integers(0, 4, 600)
    with tiny_tiles(tiny):
        Q = cmi_matrix(X, y, correction="chance", backend=f"torch:{device}")
    np.testing.assert_array_equal(Q, cmi_matrix(X, y, correction="chance"))


@every_device
def test_many_classes_take_the_place_of_many_levels(device, monkeypatch):
    monkeypatch.setattr(_torch_table, "MAX_PAIR_CELLS", 30)  # some columns are left to the CPU
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, [2, 2, 3, 7, 9], (90, 5)), np.arange(90) % 6
    np.testing.assert_array_equal(cmi_matrix(X, y, backend=f"torch:{device}"), cmi_matrix(X, y))


@no_gpu
@pytest.mark.parametrize("n_levels", [2, 5])
def test_large_counts_are_exact_on_a_gpu(n_levels):
    rng = np.random.default_rng(0)
    X = (rng.random((70_000, 300)) < 0.001) * rng.integers(1, n_levels, (70_000, 300))
    y = rng.random(70_000) < 0.1
    np.testing.assert_array_equal(cmi_matrix(X, y, backend="torch:cuda"), cmi_matrix(X, y))


@no_gpu
def test_results_too_large_for_the_gpu_come_in_strips(monkeypatch):
    monkeypatch.setattr(_torch, "RESULT_BYTES", 2**17)
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (200, 500)), rng.integers(0, 2, 200)
    np.testing.assert_array_equal(cmi_matrix(X, y, backend="torch:cuda"), cmi_matrix(X, y))


@no_gpu
def test_without_kernels_of_our_own_a_gpu_gives_the_same(monkeypatch):
    monkeypatch.setattr(_torch_kernels, "available", lambda device: False)
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, rng.integers(1, 6, 200), (150, 200)), rng.integers(0, 3, 150)
    np.testing.assert_array_equal(cmi_matrix(X, y, backend="torch:cuda"), cmi_matrix(X, y))


@no_gpu
@pytest.mark.parametrize("levels", [2, 5])
@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_bits_of_many_tiles_are_counted_exactly(levels, n_classes):
    rng = np.random.default_rng(levels)
    X, y = rng.integers(0, levels, (1500, 700)), rng.integers(0, n_classes, 1500)
    assert _torch_kernels.available(torch.device("cuda:0"))
    np.testing.assert_array_equal(cmi_matrix(X, y, backend="torch:cuda"), cmi_matrix(X, y))
    own, found = (count(X, y, backend).source for backend in ("native", "torch:cuda"))
    query = Query(measures.SYMMETRIC_CMI, lowest=0.0)
    np.testing.assert_array_equal(found.row_sums(query), own.row_sums(query))


@every_device
@pytest.mark.parametrize("levels", [2, 4])
@pytest.mark.parametrize("n_groups", [1, 3])
@pytest.mark.parametrize("tiny", [False, True])
def test_a_scan_finds_what_the_default_finds(device, levels, n_groups, tiny):
    rng = np.random.default_rng(levels)
    X, y = rng.integers(0, levels, (60, 90)), rng.integers(0, 2, 60)
    X[:, 40:50] = X[:, :10]  # pairs that are equal: the lowest index wins
    groups = rng.integers(0, n_groups, 90)
    own = scan_pairs(count(X, y, "native"), groups, top=50)
    with tiny_tiles(tiny):
        found = scan_pairs(count(X, y, f"torch:{device}"), groups, top=50)
    for mine, theirs in zip(found, own, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@every_device
@pytest.mark.parametrize("levels", [[2], [4], [2, 3, 9]])
@pytest.mark.parametrize("tiny", [False, True])
def test_the_pairs_that_both_add_most_are_those_of_the_default(device, levels, tiny):
    rng = np.random.default_rng(len(levels))
    X, y = rng.integers(0, np.resize(levels, 45), (60, 45)), rng.integers(0, 2, 60)
    X[:, 30:40] = X[:, :10]  # pairs that are equal: the lowest index wins
    codes, classes = encode(X), read_classes(y, len(y))
    scans = []
    with tiny_tiles(tiny):
        for backend in ("native", f"torch:{device}"):
            entropies = Entropies.count(codes, classes, backend)
            scans.append(informative_pairs(entropies, codes, classes, 50))
    for field in fields(scans[0]):
        native, torch_own = (getattr(scan, field.name) for scan in scans)
        np.testing.assert_array_equal(torch_own, native)


def test_nothing_is_asked_and_nothing_given():
    h, none = count([[0, 1], [1, 1]], [0, 1]), np.array([], int)
    assert h.cmi(rows=none).shape == (0, 2)
    assert h.cmi(columns=none).shape == (2, 0)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_gpu_the_default_warns_and_cuda_is_refused():
    X, y = [[0, 1], [1, 1]], [0, 1]
    with pytest.warns(UserWarning, match=r"no CUDA device.*backend='native' is far faster"):
        cmi_matrix(X, y, backend="torch")
    with pytest.raises(RuntimeError, match="no CUDA device; use backend='native'"):
        cmi_matrix(X, y, backend="torch:cuda")


def test_a_device_is_known_or_refused():
    with pytest.raises(ValueError, match=r"unknown device 'tpu'.*'torch:cuda'"):
        cmi_matrix([[0, 1], [1, 1]], [0, 1], backend="torch:tpu")


def test_torch_is_imported_when_asked_for_and_missed_with_advice():
    code = (
        "import sys, bestk.information; from bestk.information.backends import get_backend;"
        "assert 'torch' not in sys.modules; sys.modules['torch'] = None; get_backend('torch')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'bestk[gpu]'" in done.stderr.splitlines()[-1]


def test_a_name_gives_the_backend_and_its_device():
    assert get_backend("torch:cpu").keywords == {"device": "cpu"}
    assert get_backend("torch").keywords == {"device": "auto"}


@pytest.fixture
def launches(monkeypatch):
    """What would be launched on a GPU, where there is none: kernels and the names of arguments."""
    launched = []

    def launch(name, arguments, *, grid, n_threads=128, shared=0, defines=()):
        launched.append((name, sorted(arguments)))

    processors = SimpleNamespace(multi_processor_count=2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: processors)
    monkeypatch.setattr(_torch_kernels, "available", lambda device: True)
    for module in (_torch_kernels, _torch_tiles):
        monkeypatch.setattr(module, "launch", launch)
        monkeypatch.setattr(module, "shared_bytes", lambda device: 2**17)
    monkeypatch.setattr(_torch_tiles, "is_hopper", lambda device: True)
    return launched


@pytest.mark.parametrize(
    ("levels", "kernels"), [(2, {"high", "pack", "pairs"}), (3, {"pack", "count", "cells"})]
)
def test_kernels_are_given_what_their_source_declares(launches, levels, kernels):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, levels, (90, 40)), rng.integers(0, 2, 90)
    source = count(X, y).source
    source.matrix(Query(measures.CMI))
    source.row_sums(Query(measures.CMI, lowest=0.0))
    source.scan(Query(measures.INTERACTION), np.zeros(40, np.int64), 5)
    assert {name for name, _ in launches} == kernels
    for name, arguments in launches:
        assert arguments == sorted(_torch_kernels.parameters_of(name))


def test_a_kernel_that_is_not_in_the_source_is_named():
    with pytest.raises(ValueError, match=r"pairs\.cu has no kernel 'nothing'"):
        _torch_kernels.parameters_of("nothing")


def test_a_kernel_is_not_launched_without_all_its_arguments():
    with pytest.raises(TypeError, match="the kernel 'high' takes"):
        _torch_kernels.launch("high", {"n": 1}, grid=(1, 1, 1))
