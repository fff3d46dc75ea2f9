"""Numbers that are cut, coded and scored on a device give what the kernels give."""

import numpy as np
import pytest

from bestk import MDLP, EqualFrequency, SelectBestK
from bestk.information import ScoredTable
from bestk.tables.target import NumericTarget, read_classes

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch")

from bestk.information.backends import _torch_columns  # noqa: E402
from bestk.information.backends._torch_columns import DeviceColumns, DeviceScores  # noqa: E402

no_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
every_device = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=no_gpu)])
KINDS = ["numbers", "whole", "ties and gaps"]


def table(kind, seed=0, m=250, n=30, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(m) % n_classes)
    X = rng.normal(size=(m, n)) + 3 * rng.random(n) * (rng.random(n) < 0.5) * y[:, np.newaxis]
    if kind != "numbers":
        X = np.round(2 * X) if kind == "whole" else np.round(2 * X) / 3
        X[:, 0], X[:, 1] = 1.0, np.where(X[:, 1] == 0, -0.0, X[:, 1])
    if kind == "ties and gaps":
        X[rng.random(X.shape) < 0.1] = np.nan
        X[:, 2] = np.nan
    return X, y


def on_device(X, y, device):
    return DeviceColumns.of(X, read_classes(y, len(y)), torch.device(device))


@every_device
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("together", [2**20, 2**12])
def test_cuts_and_codes_are_those_of_the_discretisers(device, kind, together, monkeypatch):
    X, y = table(kind)
    monkeypatch.setattr(_torch_columns, "SORTED_VALUES", {"cpu": together, "cuda": together})
    columns = on_device(X, y, device)
    ways = [MDLP(), EqualFrequency(5), EqualFrequency(2)]
    for way, found in zip(ways, columns.cut([None, 5, 2]), strict=True):
        own, codes = way.fit(X, y), columns.code(found)
        for expected, cuts in zip(own.cut_points_, found.split(), strict=True):
            np.testing.assert_array_equal(cuts, expected)
        expected = own.transform(X)[columns.order].T
        np.testing.assert_array_equal(codes.values.cpu().numpy(), expected)
        np.testing.assert_array_equal(codes.levels, expected.max(axis=1) + 1)


@every_device
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, bool])
def test_columns_of_any_type_and_layout_are_read(device, dtype):
    X = np.random.default_rng(0).integers(0, 2, (40, 3)).astype(dtype)
    for values in (X, np.asfortranarray(X), X[::-1], np.broadcast_to(X[:, :1], X.shape)):
        read = on_device(values, np.arange(40) % 2, device)
        np.testing.assert_array_equal(read.values.cpu().numpy(), values[read.order].T)


@every_device
@pytest.mark.parametrize("kind", KINDS)
def test_no_bit_of_the_scores_differs(device, kind):
    X, y = table(kind)
    columns, numbers = on_device(X, y, device), np.random.default_rng(1).normal(size=len(y))
    for goal in (columns.target, NumericTarget(numbers)):
        own, found = ScoredTable(X, goal, "standard"), DeviceScores(columns, goal)
        order = slice(None) if goal is columns.target else columns.order
        np.testing.assert_array_equal(found.values.cpu().numpy(), own.values[:, order])
        for name in ("sums", "squares", "one"):
            np.testing.assert_array_equal(getattr(found, name), getattr(own, name))
        for mine, theirs in zip(found.explained, own.explained, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@every_device
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_a_blend_selects_the_same_on_a_device(device, kind, target):
    X, y = table(kind, n=60)
    X[:, 7] = X[:, 8] * np.where(y > 0, 1, -1)  # columns that tell more together
    y = y if target == "classes" else y + np.random.default_rng(2).normal(size=len(y))
    own, found = (
        SelectBestK(8, "jmi", information="blend", backend=backend).fit(X, y)
        for backend in ("native", f"torch:{device}")
    )
    assert found.solution_.support.tolist() == own.solution_.support.tolist()
    np.testing.assert_array_equal(found.scores_, own.scores_)
    np.testing.assert_allclose(found.solution_.details["pairs"], own.solution_.details["pairs"])
    for mine, theirs in zip(found.discretizer_.cut_points_, own.discretizer_.cut_points_,
                            strict=True):  # fmt: skip
        np.testing.assert_array_equal(mine, theirs)


@every_device
def test_a_scan_finds_a_pair_among_many_columns(device):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 600)), rng.integers(0, 2, 400)
    X[:, 5] = np.where((X[:, 4] > 0) == (y > 0), 1, -1) * rng.random(400)
    for backend in ("native", f"torch:{device}"):
        assert {4, 5} <= {*SelectBestK(4, backend=backend).fit(X, y).solution_.support}


@every_device
def test_infinite_values_are_refused_by_name(device):
    X, y = table("numbers")
    X[3, 4] = np.inf
    with pytest.raises(ValueError, match="column 'x4' has 1 infinite"):
        SelectBestK(3, "jmi", information="blend", backend=f"torch:{device}").fit(X, y)
