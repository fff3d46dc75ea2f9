"""What a report tells of a selection, on tables of every sort."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError

from bestk import SelectBestK, select
from bestk.report import make_report

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
    for name in ("relevance", "contribution", "new_information"):
        np.testing.assert_array_equal([getattr(f, name) for f in told], frame[name])
    pairs = fitted.solution_.details["pairs"]
    for j, feature in enumerate(told):
        i = [f.name for f in told].index(feature.nearest)
        assert i != j
        assert feature.new_information == pairs[i, j]


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
    assert [curve.name for curve in errors.curves] == [c.method for c in comparison.choices]
    for curve in errors.curves:
        assert 4 in curve.ks
        assert all(0 < error < 0.5 for error in curve.means)
    assert errors.guess == pytest.approx(np.bincount(y).min() / len(y))


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


def test_bins_of_the_report_are_those_of_the_discretiser(report, fitted):
    cuts = dict(zip(fitted.discretized_features_, fitted.discretizer_.cut_points_, strict=True))
    for feature, column in zip(report.facts.features, report.facts.reading.columns, strict=True):
        np.testing.assert_array_equal(column.cuts, cuts[feature.place])
        counts = np.array([each.counts for each in column.bins])
        np.testing.assert_array_equal(counts.sum(axis=0), np.bincount(y))


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
    assert made.facts.comparison.errors.curves[0].ks == (1, 2, 3)


def test_a_continuous_target_is_told_in_ranges_and_predicted_by_regression():
    numbers, goal = load_diabetes(return_X_y=True, as_frame=True)
    goal = goal + 0.5
    made = make_report(SelectBestK(3).fit(numbers, goal), numbers, goal)
    assert made.facts.reading.continuous
    assert len(made.facts.reading.classes) == 5
    errors = made.facts.comparison.errors
    assert errors.measure == "mean squared error"
    assert errors.guess == pytest.approx(np.var(goal))
    assert "guessing the mean, one of" in made.html


@pytest.mark.parametrize("options", [{"information": "gaussian"}, {"method": "exact"},
                                     {"method": "mrmr"}, {"bound": None}])  # fmt: skip
def test_every_kind_of_selection_has_a_report(options):
    made = make_report(SelectBestK(3, **options).fit(X, y), X, y, errors=False)
    assert "There are no cross-validated errors here. They were not asked for." in made.html
    proved = made.facts.certificate.gap < 1e-9
    assert ("Proved optimal." in made.html) == proved
    assert ("proves nothing" in made.html) == (options.get("method") != "exact")


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


def test_a_selector_writes_its_report(fitted, report, tmp_path):
    made = fitted.report(X, y, tmp_path / "all.html", target="diagnosis")
    assert made.html == report.html
    assert (tmp_path / "all.html").read_text("utf-8") == report.html
    with pytest.raises(NotFittedError):
        SelectBestK().report(X, y)


def test_another_table_than_that_of_the_fit_is_refused(fitted):
    with pytest.raises(ValueError, match="selected from 12; give the table"):
        make_report(fitted, X.iloc[:, 1:], y)
    with pytest.raises(ValueError, match="when features were selected"):
        make_report(fitted, X[X.columns[::-1]], y)
    with pytest.raises(ValueError, match="needs y, too"):
        make_report(fitted, X)


@pytest.fixture(scope="module")
def wide():
    """A page of more features than can be shown, all with long names."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 3, (40, 2500)) + 0.0)
    table.columns = [f"{'long name ' * 30}{j}" for j in table]
    target = rng.integers(0, 2, 40)
    selector = SelectBestK(2400, "maxrel").fit(table, target)
    return make_report(selector, table, target, errors=False).html


def test_thousands_of_features_and_long_names_make_a_page_of_less_than_six_megabytes(wide):
    assert len(wide.encode("utf-8")) < 6_000_000


@pytest.mark.parametrize(
    "note",
    ["The best 40 of 2,400 are drawn.", "400 more are not listed.",
     "They are the 12 most relevant of 100.", "The best 400 of 2,400 features are in it.",
     "they are too many for a table", "more features, which some method selects, are not listed.",
     "The 500 most relevant of 2,500 columns", "2,340 more selected columns are not shown.",
     "1,900 more are not listed."],
)  # fmt: skip
def test_what_is_left_out_of_a_page_is_said_in_it(wide, note):
    assert note in wide


def test_of_many_classes_the_largest_are_listed_and_it_is_said():
    rng = np.random.default_rng(0)
    numbers = np.arange(600) % 300
    goal = np.char.add("class ", numbers.astype(str))
    table = pd.DataFrame({"x": numbers + rng.normal(size=600), "z": rng.normal(size=600)})
    made = make_report(SelectBestK(1).fit(table, goal), table, goal, errors=False)
    assert len(made.facts.reading.classes) == 300
    assert "Classes and their rows; the 40 largest of 300" in made.html
    assert "292 other classes" in made.html
    assert "and 292 more" in made.html  # of fewer than ten rows


def test_what_reading_the_table_warns_of_is_told_in_the_page_and_nowhere_else():
    whole = pd.Series(np.arange(90) % 45)
    table = pd.DataFrame({"x": whole + 0.5, "z": np.arange(90) % 7 + 0.5})
    with pytest.warns(UserWarning, match="taken as classes"):
        selector = SelectBestK(1).fit(table, whole)
    made = make_report(selector, table, whole, errors=False)
    told = [c.text for c in made.facts.cautions if c.kind == "note"]
    assert ["taken as classes" in text for text in told] == [True]


def test_a_class_of_one_row_has_a_report_that_warns_of_it():
    alone = np.array(y)
    alone[3] = 7
    made = make_report(SelectBestK(3).fit(X, alone), X, alone)
    assert ["“7” (1)" in c.text for c in made.facts.cautions if c.kind == "class"] == [True]
    assert "Noted on the way: The least populated class" in made.html
    assert made.facts.comparison.errors is not None


def test_every_column_is_listed_in_a_line(report, fitted):
    listed = report.facts.reading.listed
    assert [each.name for each in listed] == X.columns.tolist()
    assert [each.distinct for each in listed] == X.nunique().tolist()
    np.testing.assert_allclose([each.relevance for each in listed], fitted.scores_)
    ranks = {each.name: each.rank for each in listed if each.rank is not None}
    assert ranks == {f.name: i for i, f in enumerate(report.facts.features, 1)}


def test_the_lead_says_how_well_features_predict_and_how_good_the_choice_is(report):
    errors = report.facts.comparison.errors
    found = f"is wrong in {100 * errors.curves[0].at(4)[0]:.1f}% of unseen rows"
    assert found in report.html
    assert "guessing the most frequent class, in 37.3%." in report.html
    assert report.facts.certificate.quality.capitalize() in report.html
