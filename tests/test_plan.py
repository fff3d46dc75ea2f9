"""The plan says what fit then does."""

from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk import METHODS, SelectBestK
from bestk.methods import Effort
from bestk.objectives import Objective
from bestk.planning import Pace, Shape, make_plan
from bestk.planning import _path as paths
from bestk.planning._memory import in_words
from bestk.planning._pace import make_up
from bestk.planning._path import Path, choose_path
from bestk.planning._shape import levels_made
from bestk.planning._work import columns_made, pair_cost, pairs_counted
from bestk.reading import Reading
from bestk.streaming import _measure as streams

PACE = Pace(pair=1e-9, value=1e-8, bandwidth=1e10, threads=2)
LAZY = ("auto", "tpower", "forward", "linear", "search")
WHOLE = ("exact", "spectral", "qpfs")


def plan(shape, *args, workers=None, **options):
    return make_plan(shape, SelectBestK(*args, **options), workers=workers, pace=PACE)


@pytest.fixture
def asked(monkeypatch):
    """Which matrices the objectives were asked for."""
    found = []
    for name, word in (("pairs", "matrix"), ("lazy_pairs", "columns")):
        real = getattr(Objective, name)

        def spy(self, *args, _real=real, _word=word, **more):
            found.append(_word)
            return _real(self, *args, **more)

        monkeypatch.setattr(Objective, name, spy)
    return found


def limit_matrix(monkeypatch, columns):
    """Let a matrix of so many columns be the largest that is held."""
    small = partial(Effort, memory=8 * columns**2)
    monkeypatch.setattr("bestk.task.Effort", small)
    monkeypatch.setattr("bestk.planning._path.Effort", small)


@pytest.mark.parametrize("n", [11, 12, 13])
@pytest.mark.parametrize("method", LAZY)
def test_fit_asks_for_the_matrix_or_for_columns_as_planned(method, n, asked, monkeypatch):
    limit_matrix(monkeypatch, 12)
    shape = Shape(40, n, numeric=n)
    told = plan(shape, 3, method, time_limit=0.5).path.pairs
    X = np.random.default_rng(0).normal(size=(40, n))
    SelectBestK(3, method, time_limit=0.5, random_state=0).fit(X, np.arange(40) % 2)
    assert set(asked) == {told} == {"columns" if n > 12 else "matrix"}


@pytest.mark.parametrize("bound", [None, "fast"])
@pytest.mark.parametrize("n", [15, 16, 17])
def test_without_a_bound_a_frugal_method_asks_for_columns_earlier(n, bound, asked, monkeypatch):
    monkeypatch.setattr("bestk.methods.LARGE", 16)
    told = plan(Shape(40, n), 3, "forward", bound=bound).path.pairs
    X = np.random.default_rng(0).integers(0, 2, (40, n)).astype(str)
    SelectBestK(3, "forward", bound=bound).fit(X, np.arange(40) % 2)
    assert asked == [told]
    assert told == ("columns" if n > 16 and bound is None else "matrix")


@pytest.mark.parametrize("method", WHOLE)
def test_a_solver_that_needs_the_matrix_gets_it_and_the_plan_says_so(method, monkeypatch):
    limit_matrix(monkeypatch, 4)
    made = plan(Shape(40, 9), 3, method)
    assert made.path.pairs == "matrix"
    assert "needs all pairs" in made.reason
    assert any("is left out" in note for note in made.notes)


def test_a_matrix_that_no_machine_holds_does_not_fit():
    assert not plan(Shape(100, 10_000_000), 10, "exact").fits
    assert plan(Shape(100, 100), 10, "exact").fits


@pytest.mark.parametrize("numeric", [0, 3, 8])
@pytest.mark.parametrize("largest", [319, 320])
def test_the_blend_averages_the_estimates_that_are_planned(numeric, largest, monkeypatch):
    monkeypatch.setattr("bestk.reading.LARGEST_BLEND", largest)
    monkeypatch.setattr(paths, "LARGEST_BLEND", largest)
    ways = []
    real = Reading._counted

    def spy(self, *args):
        ways.append(self.discretizer)
        return real(self, *args)

    monkeypatch.setattr(Reading, "_counted", spy)
    shape = Shape(40, 8, numeric=numeric)
    table, y = make_up(shape)
    path = choose_path(shape, SelectBestK(2))
    source = Reading("blend", "auto").measure(table, y).entropies.source
    assert path.counted == tuple(ways)
    assert path.covariances == (getattr(source, "_partial", None) is not None)


@pytest.fixture
def kept(monkeypatch):
    """What was kept of the rows, each time that it was tried."""
    found = []
    for name, word in (("_by_counts", "counts"), ("_by_codes", "codes")):
        real = getattr(streams.Counting, name)

        def spy(self, parts, _real=real, _word=word):
            found.append(_word)
            return _real(self, parts)

        monkeypatch.setattr(streams.Counting, name, spy)
    return found


@pytest.mark.parametrize("memory", [30_000, 400_000, 1e9])
@pytest.mark.parametrize("rows", [300, 3_000, 30_000])
@pytest.mark.parametrize("discretizer", ["equal-width", None])
def test_blocks_are_kept_as_counts_or_as_codes_as_planned(
    rows, memory, discretizer, kept, monkeypatch
):
    monkeypatch.setattr("bestk.streaming._memory.machine_memory", lambda: 2 * memory)
    X = np.random.default_rng(0).integers(0, 5, (rows, 30)).astype(float)
    y, half = np.arange(rows) % 2, rows // 2
    selector = SelectBestK(3, "maxrel", discretizer=discretizer)
    told = choose_path(Shape(rows, 30, numeric=30, levels=5, in_blocks=True), selector).rows
    with suppress(MemoryError):  # neither has room
        selector.fit(lambda: [(X[:half], y[:half]), (X[half:], y[half:])])
    assert kept[-1] == told


def test_both_ways_to_keep_blocks_are_planned_for_some_shape(monkeypatch):
    monkeypatch.setattr("bestk.streaming._memory.machine_memory", lambda: 1e9)
    selector = SelectBestK(3, "tpower", discretizer="equal-width")
    wide = Shape(1000, 2000, numeric=2000, in_blocks=True)
    assert choose_path(wide, selector).rows == "codes"
    assert choose_path(replace(wide, rows=10**7, columns=50, numeric=50), selector).rows == "counts"
    gaussian = SelectBestK(3, "tpower", information="gaussian")
    assert choose_path(wide, gaussian).rows == "sums"


@pytest.mark.parametrize("method", ["jmi", "mrmr", "disr", "maxrel", "forward"])
@given(k=st.integers(2, 11))
def test_columns_are_made_as_often_as_planned(method, k):
    table, y = make_up(Shape(30, 12))
    seen = []
    entropies = Reading("discrete", None).measure(table, y).entropies
    real = type(entropies.source).fill

    class Counted(type(entropies.source)):
        def __init__(self):
            vars(self).update(vars(entropies.source))

        def fill(self, measure, out, rows=None, columns=None, lowest=-np.inf):
            seen.append(out.shape[0])
            real(self, measure, out, rows, columns, lowest)

    watched = replace(entropies, source=Counted())
    effort = Effort(bound=None, memory=8 * 12**2 - 1)
    METHODS[method].select(watched, k, effort=effort)
    assert sum(seen) == columns_made(method, 12, k)


@given(n=st.integers(2, 10**6), k=st.integers(1, 200))
@pytest.mark.parametrize("method", LAZY)
def test_no_more_columns_are_planned_than_twice_all_of_them(method, n, k):
    k = min(k, n)
    assert 0 < columns_made(method, n, k) <= n + 2 * k


def test_pairs_of_a_matrix_are_counted_once_and_those_of_strips_twice():
    whole = Path("discrete", ("caim",), False, "table", "matrix")
    blend = Path("blend", ("mdlp", "equal-frequency"), True, "table", "matrix")
    assert pairs_counted(Shape(10, 100), whole, "tpower", 5) == 4950
    assert pairs_counted(Shape(10, 100), blend, "auto", 5) == 4950
    assert pairs_counted(Shape(10, 10_000), blend, "auto", 5) == 10**8


@given(rows=st.integers(50, 10**6), levels=st.integers(2, 20), classes=st.integers(2, 10))
def test_a_pair_costs_more_with_more_rows_and_more_levels(rows, levels, classes):
    path = Path("discrete", (None,), False, "table", "matrix")
    shape = Shape(rows, 50, levels=levels, classes=classes)
    cost = pair_cost(shape, path)
    assert 0 < cost <= pair_cost(replace(shape, rows=2 * rows), path)
    assert cost <= pair_cost(replace(shape, levels=levels + 1), path)


def test_mixed_columns_cost_between_those_of_one_kind():
    path = Path("discrete", ("equal-frequency",), False, "table", "matrix")
    costs = [pair_cost(Shape(1000, 10, numeric=n), path) for n in (0, 5, 10)]
    assert costs[0] < costs[1] < costs[2]


@pytest.mark.parametrize("name", ["caim", "equal-width", "equal-frequency", "sigma", "mdlp"])
def test_discretisers_make_about_as_many_levels_as_planned(name):
    shape = Shape(500, 20, numeric=20, classes=3)
    table, y = make_up(shape)
    levels = Reading("discrete", name).measure(table, y).levels
    assert abs(np.median(levels) - levels_made(name, shape)) <= 1


def test_memory_holds_the_table_and_the_matrix_or_the_columns():
    whole = plan(Shape(1000, 2000), 10, "tpower").memory
    assert (whole.table, whole.matrix, whole.columns) == (16e6, 32e6, 0)
    lazy = plan(Shape(1000, 100_000), 10, "tpower").memory
    assert lazy.matrix == 0
    assert 0 < lazy.columns < 2**31
    assert plan(Shape(10**8, 100, numeric=100, in_blocks=True), 10).memory.total < 2**31


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_plan_with_a_reason(method):
    made = plan(Shape(200, 60, numeric=40, levels=3), 5, method, workers=4)
    assert made.pairs == (0 if method in ("maxrel", "mim") else pytest.approx(1770, abs=1600))
    assert made.here.total > 0
    assert made.reason
    assert made.to_dict()["path"]["name"] == made.path.name


def test_a_time_limit_bounds_the_solver():
    assert plan(Shape(500, 900), 10, "search").here.solve > 1
    assert plan(Shape(500, 900), 10, "search", time_limit=0.5).here.solve == 0.5


def test_workers_share_what_is_worth_sending_and_nothing_else():
    pytest.importorskip("distributed")
    large = plan(Shape(100_000, 20_000, levels=5), 10, "tpower", workers=50)
    assert large.on_workers.pairs < large.here.pairs / 5
    small = plan(Shape(100, 200), 10, "tpower", workers=50)
    assert small.on_workers == small.here
    assert plan(Shape(1000, 10**6), 10, "jmi", workers=50).on_workers.pairs == pytest.approx(
        plan(Shape(1000, 10**6), 10, "jmi").here.pairs
    )


def test_a_gpu_helps_counting_and_not_covariances_nor_counts_of_blocks():
    counted = plan(Shape(10_000, 20_000), 10, "tpower")
    assert counted.gpu.pairs < counted.here.pairs / 5
    assert plan(Shape(500, 500, numeric=500), 10, "tpower", information="gaussian").gpu is None
    assert plan(Shape(10**7, 50, in_blocks=True), 10, "tpower").gpu is None
    assert plan(Shape(10**6, 10**6), 10, "jmi").gpu is None  # a TB does not fit


def test_the_pace_is_measured_on_the_kernels_that_will_run():
    shape = Shape(200, 40, numeric=20)
    made = make_plan(shape, SelectBestK(3))
    assert made.here.prepare > 0
    assert made.here.pairs > 0
    blocks = make_plan(replace(shape, in_blocks=True), SelectBestK(3))
    assert blocks.path.rows in ("counts", "codes")
    assert blocks.here.prepare > 0


@pytest.mark.parametrize("in_blocks", [False, True])
def test_numbers_that_are_levels_already_are_timed_as_such(in_blocks):
    shape = Shape(200, 40, numeric=40, levels=7, in_blocks=in_blocks)
    made = make_plan(shape, SelectBestK(3, "tpower", discretizer=None))
    assert made.path.counted == (None,)
    assert made.here.prepare > 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rows": 1}, "rows must be a whole number from 2 up, not 1"),
        ({"classes": 1}, "classes must be a whole number from 2 up, not 1"),
        ({"numeric": 99}, "columns of numbers are some of the columns, not 99 of 5"),
    ],
)
def test_a_shape_that_no_table_has_is_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        Shape(**({"rows": 10, "columns": 5} | wrong))


def test_more_features_than_columns_are_refused():
    with pytest.raises(ValueError, match="k=9 is more than the 5 columns"):
        plan(Shape(10, 5), 9)


def test_an_unknown_number_of_features_takes_a_selection_in_each_fold():
    known, unknown = (plan(Shape(500, 300), k, "tpower") for k in (100, "auto"))
    assert (unknown.k, unknown.pairs) == (known.k, known.pairs)
    assert unknown.here.pairs == 5 * known.here.pairs
    with pytest.raises(ValueError, match="folds of the rows"):
        plan(Shape(500, 300, in_blocks=True), "auto")


def test_the_picture_marks_the_sizes_at_which_the_path_changes():
    from benchmarks.scale.growth_picture import crossings

    frugal, largest, sampled = (int(size) for size, _ in crossings("n", 1000))
    for size, options in ((frugal, {"bound": None}), (largest, {})):
        selector = SelectBestK(10, "forward", **options)
        told = [choose_path(Shape(100, n), selector).pairs for n in (size, size + 1)]
        assert told == ["matrix", "columns"]
    assert columns_made("tpower", sampled, 10) > 10 * columns_made("tpower", sampled + 1, 10)
    selector = SelectBestK(10, "tpower", discretizer="equal-width")
    (counts, _), (blend, _) = crossings("m", 1000)
    shape = Shape(2, 1000, in_blocks=True)
    for rows, kept in ((int(counts), "codes"), (int(counts) + 1, "counts")):
        assert choose_path(replace(shape, rows=rows), selector).rows == kept
    numbers = Shape(2, 1000, numeric=1000)
    for rows, averaged in ((int(blend), True), (int(blend) + 1, False)):
        assert choose_path(replace(numbers, rows=rows), SelectBestK(10)).covariances == averaged


def test_lines_meet_where_the_second_falls_below_the_first():
    from benchmarks.scale.growth_picture import meeting

    falling, flat = [(10, 4.0), (100, 1.0), (1000, 0.5)], [(10, 2.0), (100, 2.0), (1000, 2.0)]
    assert meeting(flat, falling) == pytest.approx(10**1.5)
    assert meeting(falling, flat) is None


def test_bytes_are_told_in_units_that_people_read():
    assert in_words(999) == "999 B"
    assert in_words(8 * 10**12) == "7.3 TiB"
    assert in_words(1000 * 2**20) == "1.0 GiB"
