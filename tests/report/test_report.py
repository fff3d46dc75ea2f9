"""The content of reports, for tables of every kind."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_diabetes

from bestk import SelectBestK, select, stability_selection
from bestk.evaluation import error_curves
from bestk.report import make_report
from bestk.report.records import format_number, format_score, join_some

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :12]


@pytest.fixture(scope="module")
def fitted():
    return SelectBestK(k=4, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def report(fitted):
    return make_report(fitted, X, y, target="diagnosis")


def test_the_features_are_those_of_the_solution_with_their_numbers(report, fitted, read_page):
    frame, texts = fitted.solution_.to_frame(), read_page(report.html).texts
    assert report.facts.names == frame["name"].tolist()
    for name in ("relevance", "new_information"):
        assert set(frame[name].map("{:.3f}".format)) <= set(texts)
    assert set(frame["contribution"].map("{:.4f}".format)) <= set(texts)


def test_what_was_left_out_is_the_most_relevant_of_the_rest(report, fitted):
    rest = np.flatnonzero(~fitted.support_)
    best = rest[np.argsort(-fitted.scores_[rest], kind="stable")]
    places, relevance, new, nearest = zip(*report.facts.runners_up, strict=True)
    assert list(places) == best.tolist()
    np.testing.assert_allclose(relevance, fitted.scores_[best])
    given = report.facts.measured.estimates.cmi(fitted.solution_.support, np.array(places))
    np.testing.assert_array_equal(new, given.min(axis=0))
    np.testing.assert_array_equal(nearest, fitted.solution_.support[given.argmin(axis=0)])


def test_the_comparison_is_what_the_methods_select_and_their_scores(report, fitted):
    choices, scores = report.facts.choices, report.facts.scores
    mine = set(fitted.solution_.support.tolist())
    assert list(choices) == ["auto", "maxrel", "mrmr", "jmi"]
    assert set(choices["auto"]) == mine
    for method in ("maxrel", "mrmr", "jmi"):
        support = select(X, y, 4, method).support.tolist()
        assert list(choices[method]) == support
        assert f"{len(mine & set(support))} of 4" in report.html
    assert [scores.method, *scores.others] == list(choices)
    assert (scores.k, scores.measure.name, scores.measure.guess) == (4, "AUC", 0.5)
    wanted = error_curves(X, y, ["auto"], [4], cv=5, random_state=0, scoring="roc_auc",
                          baseline=True)  # fmt: skip
    np.testing.assert_allclose(scores.folds, -wanted.errors("auto")[0])
    np.testing.assert_allclose(scores.all_features, -wanted.errors("all")[0])


def test_frequencies_are_those_of_stability_selection(report, fitted, read_page):
    wanted = stability_selection(X, y, 4, n_subsamples=20)
    np.testing.assert_array_equal(report.facts.stability.frequencies, wanted.frequencies)
    for place in fitted.solution_.support:
        assert f"{wanted.frequencies[place]:.0%}" in read_page(report.html).texts
    assert "are too many for that of Meinshausen" in report.html  # 4 of 12
    without = make_report(fitted, X, y, errors=False, stability=0)
    assert without.facts.stability is None
    assert "frequency" not in without.html


def test_the_bound_on_false_selections_is_shown_where_it_is_useful():
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(200, 400)))
    target = (wide[0] + wide[1] > 0).astype(int)
    made = make_report(SelectBestK(2, "maxrel").fit(wide, target), wide, target, errors=False)
    bound = made.facts.stability.false_selections(0.6)
    assert bound == pytest.approx(2 * 2 / (0.2 * 400))
    assert f"at most {bound:.2f} are expected to be irrelevant" in made.html


def test_every_section_is_there_and_the_contents_lead_to_it(report, read_page):
    page = read_page(report.html)
    ids = [value for name, value in page.attributes if name == "id"]
    links = [v[1:] for name, v in page.attributes if name == "href" and v.startswith("#")]
    parts = ["prediction", "selected", "number", "comparison", "warnings", "pairs", "table",
             "repeat", "certificate"]  # fmt: skip
    assert [i for i in ids if i in parts] == parts
    assert set(links) <= set(ids)
    assert len(ids) == len(set(ids))
    assert [tag for tag, _ in page.structure].count("h1") == 1


def test_the_page_needs_nothing_from_elsewhere(report, read_page):
    page = read_page(report.html)
    used = [v for name, v in page.attributes if name in ("src", "href", "srcset", "action")]
    assert used
    assert all(value.startswith(("#", "data:")) for value in used)
    assert not re.search(r"https?:|//\w|@import|url\(", report.html.replace("data:image", ""))


def test_the_same_input_gives_the_same_bytes(report, fitted):
    again = make_report(fitted, X, y, target="diagnosis")
    assert again.html == report.html


def test_bins_of_the_selected_columns_count_every_row(report):
    for name, column in zip(report.facts.names, report.facts.columns, strict=True):
        assert column.name == name
        counts = np.array([each.counts for each in column.bins])
        np.testing.assert_array_equal(counts.sum(axis=0), np.bincount(y))
        assert len(counts) == 8


def test_text_missing_values_and_booleans_are_told_of_and_trees_predict():
    rng = np.random.default_rng(1)
    target = rng.integers(0, 2, 60)
    frame = pd.DataFrame({
        "colour": np.where(rng.random(60) < 0.8, np.array(["red", "blue"])[target], "green"),
        "size": np.where(rng.random(60) < 0.2, np.nan, target + rng.normal(size=60)),
        "wet": rng.random(60) < 0.5,
    })  # fmt: skip
    made = make_report(SelectBestK(2).fit(frame, target), frame, target)
    assert "1 boolean, 1 numeric, 1 string." in made.html
    assert made.facts.scores.model == "boosted trees"
    assert made.facts.scores.ks == (1, 2, 3)


def test_a_continuous_target_is_shown_by_its_mean_and_predicted_by_regression():
    numbers, goal = load_diabetes(return_X_y=True, as_frame=True)
    goal = goal + 0.5
    made = make_report(SelectBestK(3).fit(numbers, goal), numbers, goal)
    assert "Classes and their rows" not in made.html
    assert made.facts.goal.overall == pytest.approx(goal.mean())
    for column in made.facts.columns:
        total = sum(each.rows * each.value for each in column.bins)
        assert total == pytest.approx(goal.sum())
    scores = made.facts.scores
    assert (scores.measure.name, scores.measure.guess) == ("R²", 0)
    assert 0.3 < scores.mean() < 0.6
    assert "0 is always predicting the mean" in made.html


@pytest.mark.parametrize("options", [
    {}, {"method": "jmi", "information": "gaussian"}, {"method": "exact"}, {"method": "mrmr"},
    {"bound": None},
])  # fmt: skip
def test_every_kind_of_selection_has_a_report(options):
    made = make_report(SelectBestK(3, **options).fit(X, y), X, y, errors=False)
    assert "Not measured: errors were not requested." in made.html
    proved = made.facts.solution.gap < 1e-9
    assert ("Proved optimal." in made.html) == proved
    assert ("gives no upper bound" in made.html) == (options.get("method") != "exact")


def test_a_leak_is_found_whether_numbers_are_cut_or_not():
    leaky = X.assign(code=np.where(y, 7.25, 3.5) + np.linspace(0, 1, len(X)))
    gaussian = {"method": "jmi", "information": "gaussian"}
    for options in ({}, {"method": "jmi"}, gaussian):
        selector = SelectBestK(2, **options).fit(leaky, y)
        report = make_report(selector, leaky, y, errors=False)
        assert [c.text for c in report.facts.cautions if c.kind == "leak"] == [
            "'code': nearly determines the target alone, a possible leak; exclude it if it is not "
            "known at the time of prediction."
        ]
        headline = report.html.partition("<h1>")[2].partition("</h1>")[0]
        assert headline.endswith("possible leak: code</bdi>")


def test_a_sparse_table_has_a_report():
    rng = np.random.default_rng(0)
    sparse = csr_array(rng.integers(0, 2, (60, 5)) * 1.0)
    target = sparse.toarray()[:, 1].astype(int) ^ (rng.random(60) < 0.2)
    made = make_report(SelectBestK(2).fit(sparse, target), sparse, target)
    assert made.facts.scores is not None


def test_a_target_that_cannot_be_split_is_reported_without_errors_and_says_why():
    small = X.iloc[:6]
    made = make_report(SelectBestK(2).fit(small, list("aabbcc")), small, list("aabbcc"))
    assert made.facts.scores is None
    assert "Not measured: n_splits=5 cannot be greater" in made.html


def test_another_table_than_that_of_the_fit_is_refused(fitted):
    with pytest.raises(
        ValueError, match=r"and 8 more, and features were .* and 9 more; pass the table"
    ):
        make_report(fitted, X.iloc[:, 1:], y)
    with pytest.raises(ValueError, match="features were selected from 'mean radius', "):
        make_report(fitted, X[X.columns[::-1]], y)
    with pytest.raises(ValueError, match="y should be a 1d array with one value a row; got None"):
        make_report(fitted, X, None)
    with pytest.raises(ValueError, match="got a str; give an array, a frame or a list"):
        make_report(fitted, "table.csv", y)
    with pytest.raises(ValueError, match="a report takes one target"):
        make_report(SelectBestK(2).fit(X, X.iloc[:, :2]), X, X.iloc[:, :2])


@pytest.fixture(scope="module")
def wide():
    """A page of more features than can be shown, all with long names."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 3, (40, 2500)) + 0.0)
    table.columns = [f"{'long name ' * 30}{j}" for j in table]
    target = rng.integers(0, 2, 40)
    selector = SelectBestK(2400, "maxrel").fit(table, target)
    return make_report(selector, table, target, errors=False, stability=0).html


def test_thousands_of_features_and_long_names_make_a_page_of_less_than_six_megabytes(wide):
    assert len(wide.encode("utf-8")) < 6_000_000


@pytest.mark.parametrize(
    "note",
    ["400 more are not listed.", "2,200 more contributions are not listed.",
     "The 12 most relevant of 100.", "The best 100 of 2,400 features are drawn.",
     "a table of all pairs is left out for more than 25 features.",
     "500 of 2,500 columns: selected and", "2,340 more selected columns are not shown.",
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
    assert "Classes and their rows; the 40 largest of 300" in made.html
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
    assert [
        "'7' (1 rows): small classes" in c.text for c in made.facts.cautions if c.kind == "class"
    ] == [True]
    assert "Warnings of the models: The least populated class" in made.html
    assert made.facts.scores is not None


def test_every_column_is_listed_in_a_line(report, fitted):
    assert report.facts.listed == list(range(12))
    lines = re.findall(
        r"<tr><th scope=\"row\"><bdi>([^<]*)</bdi></th><td><bdi>numeric.*", report.html
    )
    assert lines == X.columns.tolist()
    cells = re.findall(r"<bdi>numeric</bdi></td>.*", report.html)
    numbers = [re.findall('data-value="([^"]*)"', line) for line in cells]
    assert [int(distinct) for _, distinct, _, _ in numbers] == X.nunique().tolist()
    np.testing.assert_allclose([float(each[2]) for each in numbers], fitted.scores_)
    ranks = {i: int(rank) for i, (*_, rank) in enumerate(numbers) if rank}
    assert ranks == {place: i for i, place in enumerate(fitted.solution_.support, 1)}


def test_the_headline_and_the_first_section_say_whether_the_features_predict(report):
    scores = report.facts.scores
    mean, (low, high) = scores.mean(), scores.interval(scores.folds)
    assert f"4 of 12 features predict diagnosis: AUC {mean:.3f}</bdi></h1>" in report.html
    assert ">Yes. With 4 features selected by auto" in report.html
    assert f"<strong>{mean:.3f}</strong> (95% interval {low:.3f} to {high:.3f})" in report.html
    assert f"guessing gives 0.500, all 12 features {scores.all_features.mean():.3f}." in report.html


def test_features_that_predict_nothing_are_not_praised():
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(60, 4)))
    target = rng.integers(0, 2, 60)
    made = make_report(SelectBestK(2).fit(noise, target), noise, target)
    assert ">Not clearly. With 2 features" in made.html
    assert "2 of 4 features do not clearly predict y" in made.html


def test_the_page_has_the_warnings_of_the_selection_and_those_of_missing_values():
    rng = np.random.default_rng(0)
    half = np.where(rng.random(len(X)) < 0.6, np.nan, y + rng.normal(size=len(X)))
    odd = X.iloc[:, :2].assign(leak=y + 0.0, half=half, id=[f"p{i}" for i in range(len(X))])
    selector = SelectBestK(3, include=["leak", "half", "id"]).fit(odd, y)
    made = make_report(selector, odd, y, errors=False)
    kinds = [caution.kind for caution in made.facts.cautions]
    assert {"leak", "identifier", "missing"} <= set(kinds)
    assert len(kinds) == len(set(kinds))
    for warning in selector.solution_.warnings:
        assert str(escape(warning)) in made.html
    assert re.search(r"half&#39; \(\d\d%\): most values are missing.", made.html)


def test_a_plain_table_has_no_warnings(report):
    assert report.facts.cautions == []
    assert "None: no selected column nearly determines the target" in report.html


def test_without_jinja2_the_error_names_the_extra():
    code = "import sys; sys.modules['jinja2'] = None\nimport bestk.report"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        "ImportError: reports need jinja2; run: pip install 'bestk[report]'"
    )


def test_numbers_and_lists_are_short():
    assert [format_number(v) for v in (0.123456, -0.00001, np.nan, 3000)] == [
        "0.1235", "0.0000", "\u2013", "3,000",
    ]  # fmt: skip
    assert [format_score(v) for v in (29875.1, 12.3456, 0.98765, -0.0001)] == [
        "29,875", "12.35", "0.988", "0.000",
    ]  # fmt: skip
    assert format_score(0.04567, percent=True) == "4.6%"
    assert (join_some("abcd", 2), join_some("ab", 2)) == ("a, b and 2 more", "a, b")


def test_a_table_of_which_the_default_takes_a_sample_has_scores_of_all_rows():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200_500, 2)), columns=["a", "b"])
    number = table["a"] + rng.normal(size=len(table))
    selector = SelectBestK(1, random_state=0).fit(table, number)
    facts = make_report(selector, table, number, stability=2).facts
    assert facts.scores is not None
    assert facts.scores.mean() == pytest.approx(0.5, abs=0.02)
    assert facts.stability is not None
