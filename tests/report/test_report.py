"""What a report tells of a selection, on tables of every sort."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

from bestk import CAIM, Quadratic, SelectBestK, SelectBestKCV, select
from bestk.codes import read_target
from bestk.report import make_report, write_report
from bestk.report._columns import column_values, read_column
from bestk.report._comparison import sizes
from bestk.report._heatmap import png, ramp
from bestk.report._recipe import snippet
from bestk.table import read_table

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :12]


@pytest.fixture(scope="module")
def fitted():
    return SelectBestK(k=4, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def report(fitted):
    return make_report(fitted, X, y, target="diagnosis")


def test_the_features_are_those_of_the_solution_with_their_numbers(report, fitted):
    frame = fitted.solution_.to_frame()
    told = report.facts.features
    assert [f.name for f in told] == frame["name"].tolist()
    for name in ("relevance", "contribution", "adds"):
        np.testing.assert_array_equal([getattr(f, name) for f in told], frame[name])
    pairs = fitted.solution_.details["pairs"]
    for j, feature in enumerate(told):
        i = [f.name for f in told].index(feature.nearest)
        assert i != j
        assert feature.adds == pairs[i, j]


def test_what_was_left_out_is_the_most_relevant_of_the_rest(report, fitted):
    rest = np.flatnonzero(~fitted.support_)
    best = rest[np.argsort(-fitted.scores_[rest], kind="stable")]
    assert [f.place for f in report.facts.runners_up] == best.tolist()
    np.testing.assert_allclose([f.relevance for f in report.facts.runners_up],
                               fitted.scores_[best])  # fmt: skip


def test_the_comparison_is_what_the_methods_select_and_their_errors(report, fitted):
    comparison = report.facts.comparison
    mine = set(fitted.solution_.support.tolist())
    assert [c.method for c in comparison.choices] == ["auto", "maxrel", "mrmr", "jmi"]
    for choice in comparison.choices[1:]:
        support = select(X, y, 4, choice.method).support.tolist()
        assert list(choice.support) == support
        assert choice.shared == len(mine & set(support))
    errors = comparison.errors
    assert 4 in errors.ks
    assert all(0 < e < 0.5 for means in errors.means.values() for e in means)


def test_every_section_is_there_and_the_contents_lead_to_it(report, read_page):
    page = read_page(report.html)
    ids = [value for name, value in page.attributes if name == "id"]
    links = [v[1:] for name, v in page.attributes if name == "href" and v.startswith("#")]
    assert links[:3] == ["main", "warnings", "selected"]
    assert links[3:] == ["pairs", "certificate", "errors", "comparison", "table", "reproduce"]
    assert set(links) <= set(ids)
    assert len(ids) == len(set(ids))
    assert [tag for tag, _ in page.structure].count("h1") == 1


def test_the_page_needs_nothing_from_elsewhere(report, read_page):
    page = read_page(report.html)
    used = [v for name, v in page.attributes if name in ("src", "href", "srcset", "action")]
    assert used
    assert all(value.startswith(("#", "data:")) for value in used)
    assert not re.search(r"https?:|//\w|@import|url\(", report.html.replace("data:image", ""))


def test_the_same_input_gives_the_same_bytes_and_a_date_only_where_it_is_given(report, fitted):
    again = make_report(fitted, X, y, target="diagnosis")
    assert again.html == report.html
    dated = make_report(fitted, X, y, target="diagnosis", errors=False, date="1 May")
    assert "Made on 1 May" in dated.html
    assert "Made on" not in report.html


def test_the_code_of_a_report_selects_the_same(report, fitted):
    names = {"X": X, "y": y}
    exec(report.facts.code.replace("print", "str"), names)
    np.testing.assert_array_equal(names["selector"].solution_.support, fitted.solution_.support)


def test_code_names_the_classes_of_methods_and_discretisers():
    options = SelectBestK(2, Quadratic("mrmr", "search"), discretizer=CAIM(), include=["a"])
    names = {"X": X.rename(columns={X.columns[5]: "a"}), "y": y}
    exec(snippet(options).replace("print", "str"), names)
    assert "a" in names["selector"].get_feature_names_out()


def test_bins_count_every_row_once_and_hold_what_their_cuts_say():
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, np.nan, 1.5]})
    goal = read_target([0, 0, 1, 1, 1, 0], 6)
    told = read_column("x", column_values(read_table(frame), 0), np.array([1.0, 2.0]), goal)
    assert [(b.label, b.counts) for b in told.bins] == [
        ("≤ 1", (2, 0)), ("> 1 to 2", (1, 1)), ("> 2", (0, 1)), ("missing", (0, 1)),
    ]  # fmt: skip
    assert (told.missing, told.distinct) == (1, 5)


def test_bins_of_the_report_are_those_of_the_discretiser(report, fitted):
    cuts = dict(zip(fitted.discretized_features_, fitted.discretizer_.cut_points_, strict=True))
    for feature, column in zip(report.facts.features, report.facts.reading.columns, strict=True):
        np.testing.assert_array_equal(column.cuts, cuts[feature.place])
        counts = np.array([each.counts for each in column.bins])
        np.testing.assert_array_equal(counts.sum(axis=0), np.bincount(y))


def test_rare_levels_are_put_together_and_no_row_is_lost():
    words = [f"w{min(i, 60 - i)}" for i in range(60)]
    table = read_table(pd.DataFrame({"x": words}))
    goal = read_target([0, 1] * 30, 60)
    told = read_column("x", column_values(table, 0), None, goal)
    assert told.bins[-1].label == "8 rarer values"
    assert np.sum([each.counts for each in told.bins]) == 60


def test_text_missing_values_and_booleans_are_told_of_and_trees_predict():
    rng = np.random.default_rng(1)
    target = rng.integers(0, 2, 60)
    frame = pd.DataFrame({
        "colour": np.where(rng.random(60) < 0.8, np.array(["red", "blue"])[target], "green"),
        "size": np.where(rng.random(60) < 0.2, np.nan, target + rng.normal(size=60)),
        "wet": rng.random(60) < 0.5,
    })  # fmt: skip
    made = make_report(SelectBestK(2).fit(frame, target), frame, target)
    assert made.facts.reading.kinds == {"boolean": 1, "numeric": 1, "string": 1}
    assert made.facts.comparison.errors.model == "boosted trees"
    assert made.facts.comparison.errors.ks == (1, 2, 3)


def test_a_continuous_target_is_told_in_ranges_and_predicted_by_regression():
    numbers, goal = load_diabetes(return_X_y=True, as_frame=True)
    goal = goal + 0.5
    made = make_report(SelectBestK(3).fit(numbers, goal), numbers, goal)
    assert made.facts.reading.continuous
    assert len(made.facts.reading.classes) == 5
    assert made.facts.comparison.errors.measure == "mean squared error"


@pytest.mark.parametrize("options", [{"information": "gaussian"}, {"method": "exact"},
                                     {"method": "mrmr"}, {"bound": None}])  # fmt: skip
def test_every_kind_of_selection_has_a_report(options):
    made = make_report(SelectBestK(3, **options).fit(X, y), X, y, errors=False)
    assert "There are no cross-validated errors here. They were not asked for." in made.html
    proved = made.facts.certificate.gap == 0
    assert ("proved to be the best choice" in made.html) == proved
    assert ("proves nothing" in made.html) == (options.get("method") == "mrmr")


def test_a_leak_is_found_whether_numbers_are_cut_or_not():
    leaky = X.assign(code=np.where(y, 7.25, 3.5) + np.linspace(0, 1, len(X)))
    for information in ("discrete", "gaussian"):
        selector = SelectBestK(2, information=information).fit(leaky, y)
        cautions = make_report(selector, leaky, y, errors=False).facts.cautions
        assert [c.text for c in cautions if c.kind == "leak"] == [
            "“code” alone nearly determines the target."
        ]


def test_a_sparse_table_has_a_report():
    rng = np.random.default_rng(0)
    sparse = csr_array(rng.integers(0, 2, (60, 5)) * 1.0)
    target = sparse.toarray()[:, 1].astype(int) ^ (rng.random(60) < 0.2)
    made = make_report(SelectBestK(2).fit(sparse, target), sparse, target)
    assert made.facts.comparison.errors is not None


def test_a_target_that_cannot_be_split_is_reported_without_errors_and_says_why():
    small = X.iloc[:6]
    made = make_report(SelectBestK(2).fit(small, list("aabbcc")), small, list("aabbcc"))
    assert made.facts.comparison.errors is None
    assert "They cannot be measured here: n_splits=5 cannot be greater" in made.html


def test_a_solution_alone_tells_what_it_holds(fitted, read_page, tmp_path):
    made = fitted.solution_.report(tmp_path / "alone.html", target="diagnosis")
    assert (tmp_path / "alone.html").read_text("utf-8") == made.html
    assert read_page(made.html).data["names"] == fitted.get_feature_names_out()[
        np.argsort(fitted.ranking_[fitted.support_])
    ].tolist()  # fmt: skip
    assert made.facts.comparison is None


def test_a_selector_writes_its_report(fitted, report, tmp_path):
    made = fitted.report(X, y, tmp_path / "all.html", target="diagnosis")
    assert made.html == report.html
    assert (tmp_path / "all.html").read_text("utf-8") == report.html
    with pytest.raises(NotFittedError):
        SelectBestK().report(X, y)


def test_a_report_in_a_notebook_is_a_frame_of_its_own(report, read_page):
    page = read_page(report._repr_html_())
    assert [tag for tag, _ in page.structure] == ["iframe"]
    assert ("srcdoc", report.html) in page.attributes


def test_another_table_than_that_of_the_fit_is_refused(fitted):
    with pytest.raises(ValueError, match="selected from 12; give the table"):
        make_report(fitted, X.iloc[:, 1:], y)
    with pytest.raises(ValueError, match="when features were selected"):
        make_report(fitted, X[X.columns[::-1]], y)
    with pytest.raises(ValueError, match="needs the X and y"):
        make_report(fitted)


def test_a_selector_that_chose_k_is_told_how_it_can_be_reported():
    chosen = SelectBestKCV(GaussianNB(), ks=[1, 2]).fit(X, y)
    with pytest.raises(ValueError, match=r"SelectBestK\(k=selector.best_k_\)"):
        make_report(chosen, X, y)
    assert make_report(chosen.solution_).facts.comparison is None


def test_thousands_of_features_and_long_names_make_a_page_of_less_than_six_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.integers(0, 3, (40, 2500)) + 0.0)
    wide.columns = [f"{'long name ' * 30}{j}" for j in wide]
    target = rng.integers(0, 2, 40)
    selector = SelectBestK(2400, "maxrel").fit(wide, target)
    write_report(selector, wide, target, tmp_path / "wide.html", errors=False)
    assert (tmp_path / "wide.html").stat().st_size < 6_000_000


def test_the_heat_map_is_a_picture_that_others_can_read():
    image = pytest.importorskip("matplotlib.image")
    pixels = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
    seen = image.imread(io.BytesIO(png(pixels)), format="png")
    np.testing.assert_array_equal((seen[..., :3] * 255).round(), ramp()[pixels])


def test_colours_rise_in_brightness():
    brightness = ramp() @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(brightness[::5]) > 0).all()


def test_numbers_of_features_lie_within_what_there_is_and_hold_k():
    for k, most, least in [(1, 1, 0), (5, 5, 5), (7, 100, 3), (90, 100, 0), (3, 40, 2)]:
        found = sizes(k, most, least)
        assert k in found
        assert max(1, least) <= found[0] <= found[-1] <= most
        assert found == sorted(set(found))
