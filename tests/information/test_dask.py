"""The backend for clusters gives what native's gives, to the last bit, whoever dies meanwhile."""

import os
import pickle
import signal
import subprocess
import sys
from contextlib import contextmanager
from threading import Timer

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

from bestk import EqualFrequency, SelectBestK, cmi_matrix, encode, joint_mi_matrix, pair_scan
from bestk.information import Entropies, Measure, Query, measures
from bestk.tables.target import read_classes

from .conftest import tables

WHY = "dask is not installed: pip install 'bestk[dask]'"
distributed = pytest.importorskip("distributed", reason=WHY)
dask = pytest.importorskip("dask", reason=WHY)
da = pytest.importorskip("dask.array", reason=WHY)
dd = pytest.importorskip("dask.dataframe", reason=WHY)


from bestk.information.backends import _reductions, get_backend  # noqa: E402
from bestk.information.backends import dask_cluster as cluster  # noqa: E402
from bestk.information.scan import scan_pairs  # noqa: E402
from bestk.tables.blocks import PARTS_AT_ONCE, read_blocks  # noqa: E402

CORRECTIONS = [None, "miller-madow", "chance"]
MEASURES = [value for value in vars(measures).values() if isinstance(value, Measure)]
LOCAL = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "silence_logs": 60}
seeds = st.integers(0, 2**32 - 1)


@contextmanager
def start_workers():
    """Two workers, who get even the smallest table."""
    with (
        distributed.LocalCluster(n_workers=2, **LOCAL) as workers,
        distributed.Client(workers) as client,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(cluster, "MIN_CLUSTER_SECONDS", 0.0)
        yield client


@pytest.fixture(scope="module")
def client():
    """The workers of all tests that kill none: on a busy machine killed ones may not come back."""
    with start_workers() as client:
        yield client


@pytest.fixture
def mortal():
    """The workers of one test."""
    with start_workers() as client:
        yield client


def count(X, y, backend="dask", correction=None):
    return Entropies.count(encode(X), read_classes(y, len(y)), backend, correction)


def made_up(n=200, m=300, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, rng.integers(1, 6, n), (m, n)), rng.integers(0, 3, m)


def after(n_tiles, act):
    """Do something when so many tiles have come home."""
    paste, home = cluster._paste, []

    def act_once(*arguments):
        home.append(1)
        if len(home) == n_tiles:
            act()
        paste(*arguments)

    return act_once


@pytest.mark.parametrize("correction", CORRECTIONS)
@settings(max_examples=5)
@given(table=tables(max_features=6, max_samples=60, max_levels=70))
def test_every_measure_is_that_of_the_reference(client, correction, table):
    h, reference = count(*table, correction=correction), count(*table, "numpy", correction)
    for own, wanted in zip(h.source.singles, reference.source.singles, strict=True):
        np.testing.assert_allclose(own, wanted, rtol=0, atol=1e-12)
    for name in ("joint_mi", "cmi", "pair_mi", "pair_cmi"):
        values, wanted = getattr(h, name)(), getattr(reference, name)()
        np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-12)


@settings(max_examples=12)
@given(table=tables(max_levels=20, max_features=60), seed=seeds)
def test_no_bit_differs_from_the_default(client, table, seed):
    X, y = table
    rng, n = np.random.default_rng(seed), X.shape[1]
    correction, measure = rng.choice(CORRECTIONS), MEASURES[rng.integers(len(MEASURES))]
    rows, columns = rng.integers(0, n, 20), rng.permutation(n)[: rng.integers(1, n + 1)]
    how = {"dtype": rng.choice([np.float32, np.float64]), "signed": bool(rng.integers(2))}
    native, h = (count(X, y, backend, correction) for backend in ("native", "dask"))
    np.testing.assert_array_equal([h.x, h.xy], [native.x, native.xy])
    for wanted in ((None, None), (rows, None), (None, columns), (rows, columns)):
        values = h.measure(measure, *wanted, **how)
        np.testing.assert_array_equal(values, native.measure(measure, *wanted, **how))


@pytest.mark.parametrize("shape", [(6, 9), (3, 5)])
def test_a_scan_finds_what_the_default_finds(client, shape, monkeypatch):
    monkeypatch.setattr(_reductions, "TILE_ROWS", shape[0])
    monkeypatch.setattr(_reductions, "TILE_COLUMNS", shape[1])
    X, y = made_up(40, 25)
    groups = np.unique(encode(X).levels, return_inverse=True)[1]
    found = [scan_pairs(count(X, y, backend), groups, top=20) for backend in ("native", "dask")]
    for own, wanted in zip(*found, strict=True):
        np.testing.assert_array_equal(own, wanted)
    near, away = (pair_scan(X, y, top=20, backend=backend) for backend in ("native", "dask"))
    np.testing.assert_array_equal(away.pairs, near.pairs)
    np.testing.assert_array_equal(away.information, near.information)


def test_numbers_of_real_columns_give_the_same_selection_and_matrix(client):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    codes = EqualFrequency(9).fit_transform(X)
    np.testing.assert_array_equal(cmi_matrix(codes, y, backend="dask"), cmi_matrix(codes, y))
    for method in ("tpower", "jmi", "mrmr"):
        near, away = (SelectBestK(5, method, backend=b).fit(X, y) for b in ("native", "dask"))
        assert near.solution_.support.tolist() == away.solution_.support.tolist()
        assert near.solution_.objective == away.solution_.objective


@pytest.mark.data
@pytest.mark.parametrize("name", ["colon", "lymphoma", "madelon"])
def test_the_papers_data_sets_give_the_same_from_every_backend(client, paper_set, name):
    X, y = paper_set(name)
    codes = EqualFrequency(5).fit_transform(X)
    Q = cmi_matrix(codes, y, dtype=np.float32, backend="dask")
    np.testing.assert_array_equal(Q, cmi_matrix(codes, y, dtype=np.float32))


def test_a_worker_killed_in_the_middle_costs_only_its_tiles(mortal, monkeypatch):
    X, y = made_up()
    victim = next(iter(mortal.run(os.getpid).values()))
    monkeypatch.setattr(cluster, "_paste", after(3, lambda: os.kill(victim, signal.SIGKILL)))
    np.testing.assert_array_equal(joint_mi_matrix(X, y, backend="dask"), joint_mi_matrix(X, y))


def test_a_table_lost_with_all_its_workers_is_sent_again(mortal, monkeypatch):
    X, y = made_up()

    def kill_all():
        for victim in mortal.run(os.getpid).values():
            os.kill(victim, signal.SIGKILL)

    monkeypatch.setattr(cluster, "_paste", after(3, kill_all))
    np.testing.assert_array_equal(cmi_matrix(X, y, backend="dask"), cmi_matrix(X, y))


def test_an_interrupt_leaves_no_tile_behind(client, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(cluster, "_paste", after(2, interrupt))
    submitted, submit = [], client.submit
    monkeypatch.setattr(
        client, "submit", lambda *a, **o: submitted.append(submit(*a, **o)) or submitted[-1]
    )
    with pytest.raises(KeyboardInterrupt):
        cmi_matrix(*made_up(), backend="dask")
    assert len(submitted) > 2
    left = [future for future in submitted if future.status != "cancelled"]
    assert len(left) == 3  # the table, and the two tiles that came home


def test_tiles_on_their_way_are_few(client, monkeypatch):
    sent, home, submit, paste = [], [], client.submit, cluster._paste

    def send(*arguments, **options):
        sent.append(len(home))
        return submit(*arguments, **options)

    monkeypatch.setattr(client, "submit", send)
    monkeypatch.setattr(cluster, "_paste", lambda *a: (home.append(1), paste(*a)))
    count(*made_up()).joint_mi()
    assert len(sent) - 1 == len(home) == 13 * 14 / 2  # the table, and tiles of 16 features
    assert all(number - came <= 1 + 2 * cluster.TILES_UNDER_WAY for number, came in enumerate(sent))


def test_little_work_is_not_sent(client, monkeypatch):
    h, native = count(*made_up()), count(*made_up(), "native")
    monkeypatch.setattr(cluster, "MIN_CLUSTER_SECONDS", 0.5)
    monkeypatch.setattr(client, "submit", None)
    np.testing.assert_array_equal(h.cmi(rows=[7]), native.cmi(rows=[7]))


def test_within_a_task_its_worker_counts(client):
    X, y = made_up(30)
    Q = client.submit(cmi_matrix, X, y, backend="dask").result(timeout=20)
    np.testing.assert_array_equal(Q, cmi_matrix(X, y))


def test_a_table_that_has_travelled_counts_the_same():
    X, y = np.random.default_rng(0).integers(0, [2, 5, 30, 300] * 16, (900, 64)), np.arange(900) % 2
    here = get_backend("native")(encode(X), read_classes(y, len(y)), None)
    away = pickle.loads(pickle.dumps(here, protocol=5))
    out, again = np.empty((2, 64, 64))
    here.fill(Query(measures.CMI), out)
    away.fill(Query(measures.CMI), again)
    np.testing.assert_array_equal(out, again)


def test_what_is_missing_is_named():
    code = """if True:
        import sys, bestk
        assert not {"dask", "distributed"} & set(sys.modules)
        for missing in ({"distributed": None}, {}):
            sys.modules |= missing
            try:
                bestk.cmi_matrix([[0, 1], [1, 1]], [0, 1], backend="dask")
            except (ModuleNotFoundError, RuntimeError) as error:
                print(error)
            sys.modules.pop("distributed", None)
        """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    no_package, no_client = done.stdout.splitlines()
    assert "pip install 'bestk[dask]'" in no_package
    assert "from distributed import Client; client = Client()" in no_client


COUNTED = {"information": "discrete", "discretizer": "caim", "method": "tpower"}


def numbers(m=600, n=12):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, n))
    return X, (X[:, 3] + X[:, 7] + rng.normal(size=m) > 0) * 1 + (X[:, 9] > 1)


def assert_same(one, other):
    assert one.solution_.support.tolist() == other.solution_.support.tolist()
    assert one.solution_.objective == other.solution_.objective
    np.testing.assert_array_equal(one.scores_, other.scores_)


def selector(**options):
    return SelectBestK(4, **(COUNTED | options))


@pytest.mark.parametrize("backend", ["auto", "dask"])
def test_an_array_in_chunks_is_fitted_as_if_it_were_whole(client, backend):
    X, y = numbers()
    chunked = da.from_array(X, chunks=(130, 5))
    whole = selector().fit(X, y)
    for target in (da.from_array(y, chunks=200), y):
        assert_same(selector(backend=backend).fit(chunked, target), whole)
    unknown = chunked[chunked[:, 0] > -np.inf]
    assert_same(selector(backend=backend).fit(unknown, y), whole)


def test_a_frame_in_partitions_is_fitted_as_if_it_were_whole(client):
    X, y = numbers()
    frame = pd.DataFrame(X).add_prefix("c").assign(y=np.array(["no", "yes", "both"])[y])
    frame["s"] = np.random.default_rng(1).choice(["a", "b", None], len(y))
    parts, features = dd.from_pandas(frame, npartitions=4), frame.drop(columns="y")
    whole = selector().fit(features, frame["y"])
    for rows, target in (
        (parts, "y"),
        (parts[list(features)], parts["y"]),
        (parts[list(features)], frame["y"]),
    ):
        fitted = selector().fit(rows, target)
        assert_same(fitted, whole)
        assert fitted.feature_names_in_.tolist() == features.columns.tolist()


def test_levels_need_no_sample(client):
    X, y = made_up(20)
    chunked, discrete = da.from_array(X, chunks=(90, X.shape[1])), selector(discretizer=None)
    assert_same(discrete.fit(chunked, y), selector(discretizer=None).fit(X, y))


def test_no_client_is_needed():
    X, y = numbers()
    with dask.config.set(scheduler="threads"):
        assert_same(selector().fit(da.from_array(X, chunks=(130, 5)), y), selector().fit(X, y))


def test_a_worker_killed_while_rows_are_read_changes_nothing(mortal):
    X, y = numbers()
    victim = next(iter(mortal.run(os.getpid).values()))
    Timer(0.1, os.kill, (victim, signal.SIGKILL)).start()
    fitted = selector().fit(da.from_array(X, chunks=(100, -1)), y)
    assert_same(fitted, selector().fit(X, y))


def test_parts_under_way_are_few(monkeypatch):
    compute, asked = dask.compute, []
    monkeypatch.setattr(dask, "compute", lambda *a: asked.extend(a) or compute(*a))
    blocks = read_blocks(da.ones((90, 2), chunks=(1, 2)), [0] * 90)
    with dask.config.set(scheduler="synchronous"):
        for number, _ in enumerate(blocks):
            assert len(asked) - number <= PARTS_AT_ONCE
    assert number + 1 == len(asked) == 90


@pytest.mark.parametrize(
    ("y", "advice"),
    [
        (np.zeros(7), "y has 7 values but X has 600 rows"),
        (da.zeros(900, chunks=7), "y has 900 values but X has 600 rows"),
    ],
)
def test_targets_that_do_not_fit_the_rows_are_refused(client, y, advice):
    with pytest.raises(ValueError, match=advice):
        selector().fit(da.from_array(numbers()[0], chunks=(200, -1)), y)
