"""Pictures: what is drawn, where, and what is said when it cannot be."""

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

from bestk import SelectBestK, plots, solve
from bestk.bqp.solution import Solution
from bestk.evaluation import Curves, Row
from bestk.plots import shorten

NAN = np.nan


@pytest.fixture
def plt():
    mpl.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


def selection(k=3, names=None):
    """Features k-1, ..., 0 of k + 2, with pairs that are all different."""
    pairs = np.arange(1.0, k * k + 1).reshape(k, k) / (k * k)
    details = {
        "relevance": np.diag(pairs).copy(),
        "contribution": pairs.mean(axis=0),
        "new_information": pairs.min(axis=0),
        "pairs": pairs,
    }
    names = [f"feature {i}" for i in range(k + 2)] if names is None else names
    return Solution(np.arange(k)[::-1].copy(), 1.0, names=names, details=details)


def table(**errors):
    """Rows of two folds, 0.1 below and above the mean, for k = 1, 2, ..."""
    return [
        Row(method, k, fold, mean + (0.1 if fold else -0.1), 10, 0.0, [0])
        for method, means in errors.items()
        for k, mean in enumerate(means, 1)
        for fold in (0, 1)
    ]


def curves(**errors):
    return Curves(tuple(table(**errors)), ["a", "b", "c", "d", "e"])


def texts(labels):
    return [label.get_text() for label in labels]


def draw(ax):
    """Make the whole picture, as saving does; warnings are errors."""
    ax.figure.canvas.draw()
    return ax


EVERY = {
    "pairs": lambda **o: plots.plot_pairs(selection(), **o),
    "features": lambda **o: plots.plot_features(selection(), **o),
    "errors": lambda **o: plots.plot_error_curves(curves(jmi=[0.4, 0.3]), **o),
}


@pytest.mark.parametrize("name", EVERY)
def test_a_picture_goes_into_the_axes_that_are_given(name, ax, plt):
    before = plt.get_fignums()
    assert draw(EVERY[name](ax=ax)) is ax
    assert plt.get_fignums() == before


@pytest.mark.parametrize("name", EVERY)
def test_a_picture_makes_a_figure_of_its_own_and_leaves_the_style_alone(name, plt):
    before = dict(mpl.rcParams)
    ax = draw(EVERY[name]())
    assert plt.get_fignums() == [ax.figure.number]
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("name", EVERY)
def test_a_dark_style_gets_bright_lines_and_no_black_ones(name, plt):
    with plt.style.context("dark_background"):
        ax = draw(EVERY[name]())
    assert not [line for line in ax.lines if same_color(line.get_color(), "black")]


@pytest.mark.parametrize("name", EVERY)
def test_without_matplotlib_every_picture_says_what_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'bestk\[plots\]'"):
        EVERY[name]()


def test_pairs_show_the_matrix_with_names_on_both_axes_and_numbers(ax):
    solution = selection(3)
    draw(plots.plot_pairs(solution, ax=ax))
    np.testing.assert_array_equal(ax.images[0].get_array(), solution.details["pairs"])
    names = ["feature 2", "feature 1", "feature 0"]
    assert texts(ax.get_xticklabels()) == texts(ax.get_yticklabels()) == names
    assert texts(ax.texts) == [f"{v:.2f}" for v in solution.details["pairs"].ravel()]
    assert "nats" in ax.figure.axes[1].get_ylabel()


def test_pairs_write_small_numbers_with_two_digits_that_count(ax):
    solution = selection(2)
    solution.details["pairs"][:] = [[0.012, 0.003], [-0.00001, 0.007]]
    plots.plot_pairs(solution, ax=ax)
    assert texts(ax.texts) == ["0.012", "0.003", "0.000", "0.007"]


@pytest.mark.parametrize("k", [1, 13, 30])
def test_pairs_and_features_of_any_number_can_be_drawn(k, plt):
    pairs, bars = draw(plots.plot_pairs(selection(k))), draw(plots.plot_features(selection(k)))
    assert len(pairs.texts) == (1 if k == 1 else 0)
    assert len(pairs.get_yticklabels()) == len(bars.get_yticklabels()) == k


def test_names_are_smaller_where_there_is_little_room():
    ax = Figure(figsize=(2, 2)).subplots()
    draw(plots.plot_features(selection(60), ax=ax))
    tops = [label.get_window_extent().y1 for label in ax.get_yticklabels()]
    heights = [label.get_window_extent().height for label in ax.get_yticklabels()]
    assert len(heights) == 60
    assert max(heights) < 1.5 * np.abs(np.diff(tops)).max()


def test_features_show_relevance_contribution_and_what_each_adds(ax):
    solution = selection(4)
    draw(plots.plot_features(solution, ax=ax))
    relevance, contribution = ax.containers
    for bars, name in ((relevance, "relevance"), (contribution, "contribution")):
        assert [bar.get_width() for bar in bars] == solution.details[name].tolist()
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), solution.details["new_information"])
    assert texts(ax.get_legend().get_texts()) == ["relevance", "contribution", "new information"]
    assert texts(ax.get_yticklabels()) == [f"feature {i}" for i in (3, 2, 1, 0)]
    bottom, top = ax.get_ylim()
    assert bottom > top  # the best feature on top


def test_a_fitted_selector_is_as_good_as_its_solution(ax):
    X = np.array([[0, 1], [1, 1], [0, 0], [1, 0]] * 5)
    selector = SelectBestK(2, "jmi", discretizer=None).fit(X, X[:, 0])
    image = plots.plot_pairs(selector, ax=ax).images[0]
    np.testing.assert_array_equal(image.get_array(), selector.solution_.details["pairs"])


def test_names_are_drawn_as_they_are_and_never_as_formulas(ax):
    names = ["$x_1$", "a$b", "größe_µm", "x\n y", "%_{}&#~\\alpha"]
    draw(plots.plot_features(selection(5, [*names, "", ""]), ax=ax))
    shown = ax.get_yticklabels()
    assert texts(shown) == ["%_{}&#~\\alpha", "x y", "größe_µm", "a$b", "$x_1$"]
    assert not any(label.get_parse_math() for label in shown)


def test_long_names_stay_short_and_different():
    names = [f"concentration of metabolite {i} in the serum of patients" for i in (1, 2, 12)]
    same = "the one name that both of these two columns have"
    labels = shorten([*names, same, same, "short"], range(6))
    assert [label[-3:] for label in labels[:5]] == [" #0", " #1", " #2", " #3", " #4"]
    assert labels[5] == "short"
    assert len(set(labels)) == 6
    assert max(map(len, labels)) <= 28


def test_error_curves_are_means_over_folds_with_standard_errors(ax):
    draw(plots.plot_error_curves(curves(jmi=[0.5, 0.3, 0.3], tpower=[0.4, 0.2, 0.3]), ax=ax))
    jmi, tpower = ax.lines
    np.testing.assert_allclose(jmi.get_ydata(), [0.5, 0.3, 0.3])
    np.testing.assert_array_equal(tpower.get_xdata(), [1, 2, 3])
    assert jmi.get_markevery() == [1]  # the smallest k of the least error
    low, high = np.sort(ax.collections[0].get_paths()[0].vertices[:, 1])[[0, -1]]
    np.testing.assert_allclose([low, high], [0.2, 0.6])  # sd / sqrt(2) is 0.1
    best_first = ["tpower: 20.0% at k = 2", "jmi: 30.0% at k = 2"]
    assert texts(ax.get_legend().get_texts()) == best_first
    assert ax.yaxis.get_major_formatter()(0.25) == "25%"


def test_the_error_of_all_features_is_a_dashed_line(ax):
    rows = (*table(jmi=[0.5, 0.3]), Row("all", 5, 0, 0.2, 10, 0.0, range(5)))
    plots.plot_error_curves(Curves(rows, "abcde"), ax=ax)
    line, dashed = ax.lines
    assert line.get_linestyle() == "-"
    assert dashed.get_linestyle() == "--"
    assert dashed.get_ydata() == [0.2, 0.2]
    assert dashed.get_label() == "all 5 features: 20.0%"


def test_the_legend_has_the_smallest_error_first(plt):
    drawn = plots.plot_error_curves(curves(b=[0.5, 0.6], a=[0.5, 0.2]))
    assert texts(drawn.get_legend().get_texts()) == ["a: 20.0% at k = 2", "b: 50.0% at k = 1"]


def test_many_methods_all_look_different_and_have_no_bands(ax):
    many = curves(**{f"method_${i}$": [0.5, 0.01 * i] for i in range(1, 24)})
    draw(plots.plot_error_curves(many, ax=ax))
    looks = {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in ax.lines}
    assert len(looks) == 23
    assert not ax.collections
    assert not any(text.get_parse_math() for text in ax.get_legend().get_texts())


def test_unknown_errors_leave_gaps(ax):
    draw(plots.plot_error_curves(curves(a=[NAN, 0.4, NAN, 0.3, 0.2], b=[NAN] * 5), ax=ax))
    line = ax.lines[0]
    np.testing.assert_allclose(line.get_ydata(), [NAN, 0.4, NAN, 0.3, 0.2])
    assert line.get_markevery() == [4]


def test_errors_that_are_no_shares_are_not_written_in_percent(ax):
    draw(plots.plot_error_curves(curves(a=[12.5, 3.4]), ax=ax))
    assert ax.lines[0].get_label() == "a: 3.4 at k = 2"
    assert not any("%" in text for text in texts(ax.get_yticklabels()))


@pytest.mark.parametrize("wrong", [curves(), {"k": [1], "error": [0.1]}, 3])
def test_error_curves_say_what_they_want(wrong):
    with pytest.raises(ValueError, match="nothing to draw: give Curves that error_curves"):
        plots.plot_error_curves(wrong)


def test_pictures_of_features_want_a_solution_that_tells_of_them():
    bare = solve(np.eye(3), 2)
    with pytest.raises(ValueError, match=r"details\['pairs'\].*bestk.select"):
        plots.plot_pairs(bare)
    with pytest.raises(ValueError, match=r"details\['relevance'\]"):
        plots.plot_features(bare)
    with pytest.raises(NotFittedError, match="SelectBestK has no rows to select from; call fit"):
        plots.plot_features(SelectBestK())
    with pytest.raises(TypeError, match="a fitted selector, not list"):
        plots.plot_features([1, 2])
