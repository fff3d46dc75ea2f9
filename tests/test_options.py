"""Every option has an effect, or an error or warning, wherever it can be passed.

A row for each option, a column for each entry point: every cell runs. Where an entry point has no
such parameter, Python and click refuse it by its name.
"""

import json
import re
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import ShuffleSplit

from bestk import (
    SelectBestK,
    SelectBestKCV,
    SelectionWarning,
    SelectRelevant,
    error_curves,
    pair_scan,
    select,
    stability_selection,
)
from bestk.cli import main
from bestk.errors import ParameterError
from bestk.report import make_report
from bestk.tables.target import NumericTarget

PEOPLE, VISITS = 30, 8
rng = np.random.default_rng(0)
PERSON = np.repeat(np.arange(PEOPLE), VISITS)
# noise that is the same in all rows of a person, as is the class
NOISE = pd.DataFrame(rng.normal(size=(PEOPLE, 12))[PERSON], columns=[f"n{j}" for j in range(12)])
CLASS_OF_PERSON = rng.permutation(np.arange(PEOPLE) % 2)[PERSON]

ROWS = 200
X = pd.DataFrame(rng.normal(size=(ROWS, 6)), columns=[*"abcdef"])
Y = (X["a"] + 0.7 * X["b"] + rng.normal(size=ROWS) > 0).astype(int).to_numpy()
COUNT = rng.poisson(np.exp(0.6 * X["a"] + 0.5)).clip(0, 7)  # classes, or numbers to predict
WEIGHTS = np.where(np.arange(ROWS) < 60, 5, 1)
GROUPS = np.arange(ROWS) % 20
EXCLUDED = ["a"]
INCLUDED = ["f"]
TOGETHER = {"pair": ["a", "f"]}


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        warnings.simplefilter("ignore", UserWarning)
        yield


# Entry points. Each returns the names that were selected, and whatever else was measured.


def names_of(selector):
    return set(selector.get_feature_names_out())


def with_number(fit=None, X=X, y=Y, **options):
    selector = SelectBestK(2, **options).fit(X, y, **(fit or {}))
    return names_of(selector), selector.solution_.warnings


def with_auto_k(fit=None, X=X, y=Y, **options):
    selector = SelectBestK("auto", random_state=0, **options).fit(X, y, **(fit or {}))
    return names_of(selector), selector.k_scores_


def with_estimator(fit=None, X=X, y=Y, **options):
    selector = SelectBestKCV(LogisticRegression(), ks=[1, 2], **options).fit(X, y, **(fit or {}))
    return names_of(selector), selector.cv_results_["mean_test_score"].tolist()


def relevant(fit=None, X=X, y=Y, **options):
    selector = SelectRelevant(permutations=5, **options).fit(X, y, **(fit or {}))
    return selector.pvalues_.tolist()


def curves(fit=None, X=X, y=Y, **options):
    options = {"cv": 4} | options
    found = error_curves(X, y, ["maxrel"], [2], random_state=0, **options, **(fit or {}))
    return [row.support for row in found.rows], found.errors("maxrel").tolist()


def stable(fit=None, X=X, y=Y, **options):
    found = stability_selection(X, y, 3, n_subsamples=5, random_state=0, **options, **(fit or {}))
    return found.supports


def reported(fit=None, X=X, y=Y, report=None, **options):
    selector = SelectBestK(2, **options).fit(X, y, **(fit or {}))
    facts = make_report(selector, X, y, stability=3, **(report or {})).facts
    scores = facts.scores
    measured = None if scores is None else (scores.measure.name, scores.curve.tolist())
    supports = None if facts.stability is None else facts.stability.supports
    return facts.names, facts.choices, measured, supports


def command(*words, X=X, y=Y, page=None, **columns):
    """What a command prints as JSON, less what differs between runs; an error as an exception."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        X.assign(y=y, **columns).to_csv(path, index=False)
        name, *more = map(str, words)
        if name == "report":
            more += ["-o", str(page or Path(folder) / "report.html")]
        done = CliRunner().invoke(main, [name, str(path), "-t", "y", "--json", *more])
    if done.exit_code:
        raise ValueError(done.stderr)
    told = json.loads(done.stdout)
    for changing in ("seconds", "bytes", "file", "report"):
        told.pop(changing, None)
    for method in told.get("methods", {}).values():
        method.pop("seconds")
    return told


def select_command(*words, **table):
    return command("select", "-k", 2, *words, **table)


def compare_command(*words, **table):
    return command("compare", "-k", 2, "-m", "maxrel", "-m", "jmi", "--cv", 4, *words, **table)


def report_command(*words, **table):
    return command("report", "-k", 2, *words, **table)


def blocks(fit=None, X=X, y=Y, **options):
    """In blocks of rows, which are frames with the target in them."""
    table = X.assign(y=y, weight=WEIGHTS, group=GROUPS)
    options = {"exclude": ["weight", "group"]} | options
    selector = SelectBestK(2, **options).fit([table[:90], table[90:]], "y", **(fit or {}))
    return names_of(selector)


def file(tmp_path, fit=None, X=X, y=Y, k=2, **options):
    path = tmp_path / "table.csv"
    X.assign(y=y, weight=WEIGHTS, group=GROUPS).to_csv(path, index=False)
    options = {"exclude": ["weight", "group"]} | options
    selector = SelectBestK(k, random_state=0, **options).fit(path, "y", **(fit or {}))
    return names_of(selector), getattr(selector, "k_scores_", None)


def refuses(call, *words, error=(ValueError, TypeError)):
    with pytest.raises(error, match="|".join(words)) as caught:
        call()
    return re.sub(r"\s+", " ", str(caught.value))


def no_such_parameter(call, name):
    assert name in refuses(call, "unexpected keyword argument", error=TypeError)


def no_such_option(call, name):
    assert name in refuses(call, "No such option", "no such option")


# Groups of rows.


def test_groups_need_k_auto_and_say_so_before_anything_is_read():
    for k in (2, 0.5):
        with pytest.raises(ParameterError, match=r"groups have no effect with k=.*pass k='auto'"):
            SelectBestK(k).fit(X, Y, groups=GROUPS)
    with pytest.raises(ParameterError, match="groups have no effect with k=2"):
        select(X, Y, 2, groups=GROUPS)
    with pytest.raises(ParameterError, match="groups have no effect with k=2"):
        SelectBestK(2).fit("no such file.csv", "y", groups="group")
    refuses(lambda: SelectBestK("auto").fit(X, Y, groups=GROUPS[:9]), "inconsistent", "groups")


@pytest.mark.parametrize("entry", [with_auto_k, with_estimator, curves, stable])
def test_groups_change_the_folds(entry):
    together = entry({"groups": PERSON}, X=NOISE, y=CLASS_OF_PERSON)
    assert together != entry({}, X=NOISE, y=CLASS_OF_PERSON)


def test_groups_of_files_and_blocks_are_named(tmp_path):
    grouped = file(tmp_path, {"groups": "group"}, k="auto", exclude=["weight"])
    alone = file(tmp_path, k="auto")
    assert grouped[1] != alone[1]
    refuses(lambda: blocks({"groups": GROUPS}, k="auto"), "multiple values", "groups")
    with pytest.raises(ValueError, match="groups is a ndarray; give the name"):
        SelectBestK("auto").fit([(X, Y)], groups=GROUPS)
    no_such_parameter(lambda: SelectBestK(2).partial_fit(X, Y, groups=GROUPS), "groups")


def test_groups_of_relevant_features_leave_one_row_of_each():
    columns = NOISE.to_numpy()
    alone = SelectRelevant(random_state=0).fit(columns, CLASS_OF_PERSON)
    grouped = SelectRelevant(random_state=0).fit(columns, CLASS_OF_PERSON, groups=PERSON)
    assert alone.support_.sum() > 6
    assert grouped.support_.sum() == 0


def auc(request, **more):
    scores = make_report(request, NOISE, CLASS_OF_PERSON, stability=0, **more).facts.scores
    assert scores.measure.name == "AUC"
    return scores.mean()


def test_a_report_keeps_groups_together_so_that_grouped_noise_predicts_nothing():
    selector = SelectBestK(6).fit(NOISE, CLASS_OF_PERSON)
    assert auc(selector) > 0.65
    assert abs(auc(selector, groups=PERSON) - 0.5) < 0.15
    refuses(lambda: auc(selector, groups=PERSON[:9]), "inconsistent numbers of samples")


def test_a_selector_that_was_fitted_with_groups_is_reported_with_groups_only():
    selector = SelectBestK("auto", random_state=0).fit(NOISE, CLASS_OF_PERSON, groups=PERSON)
    assert selector.n_groups_ == PEOPLE
    said = refuses(lambda: make_report(selector, NOISE, CLASS_OF_PERSON), "fitted with groups")
    assert "make_report(..., groups=groups)" in said
    made = make_report(selector, NOISE, CLASS_OF_PERSON, groups=PERSON, stability=4)
    assert abs(made.facts.scores.mean() - 0.5) < 0.15
    assert made.facts.stability is not None
    assert ".fit(X, y, groups=groups)" in made.facts.code
    chooser = SelectBestKCV(LogisticRegression(), ks=[2]).fit(NOISE, CLASS_OF_PERSON, groups=PERSON)
    alone = make_report(chooser, NOISE, CLASS_OF_PERSON)
    assert alone.facts.stability is None
    assert "fitted with groups of rows, which no subsample may separate" in alone.html
    made = make_report(chooser, NOISE, CLASS_OF_PERSON, groups=PERSON, stability=4)
    assert made.facts.stability is not None


def test_the_commands_keep_groups_together(tmp_path):
    table = {"X": NOISE, "y": CLASS_OF_PERSON, "person": PERSON}
    chosen = select_command("--groups", "person", **table)
    assert "person" not in [feature["name"] for feature in chosen["features"]]
    assert chosen["columns"] == 12
    auto = [command("select", "-k", "auto", "--seed", 0, *more, **table)["k_errors"]
            for more in (("--groups", "person"), ("--exclude", "person"))]  # fmt: skip
    assert auto[0] != auto[1]
    compared = [compare_command(*more, "--scoring", "roc_auc", **table)["methods"]
                for more in (("--groups", "person"), ("--exclude", "person"))]  # fmt: skip
    assert abs(compared[0]["maxrel"]["roc_auc"] - 0.5) < 0.2 < compared[1]["maxrel"]["roc_auc"]
    page = tmp_path / "report.html"
    for k in (6, "auto"):
        command("report", "-k", k, "--groups", "person", page=page, **table)
        headline = re.search(r"<h1><bdi>(.*?)</bdi>", page.read_text("utf-8"))[1]
        assert "not clearly predict" in headline
        measured = float(re.search(r"AUC ([\d.]+)", headline)[1])
        assert abs(measured - 0.5) < 0.15


# Weights.


@pytest.mark.parametrize("entry", [with_auto_k, with_estimator, relevant, curves, stable])
def test_weights_count(entry):
    assert entry({"sample_weight": WEIGHTS}) != entry()


def test_weights_count_for_a_number_of_features_in_files_and_in_blocks(tmp_path):
    weighted = SelectBestK(2).fit(X, Y, sample_weight=WEIGHTS).scores_
    assert not np.allclose(weighted, SelectBestK(2).fit(X, Y).scores_)
    path = tmp_path / "table.csv"
    table = X.assign(y=Y, weight=WEIGHTS)
    table.to_csv(path, index=False)
    for source in (path, [table[:90], table[90:]]):
        read = SelectBestK(2).fit(source, "y", sample_weight="weight")
        np.testing.assert_allclose(read.scores_, weighted, rtol=1e-6)
    held = SelectBestK(2).partial_fit(X, Y, sample_weight=WEIGHTS).finalize()
    np.testing.assert_allclose(held.scores_, weighted, rtol=1e-6)


def test_a_report_needs_the_weights_of_a_weighted_fit_and_uses_them():
    selector = SelectBestK(2).fit(X, Y, sample_weight=WEIGHTS)
    refuses(lambda: make_report(selector, X, Y), "the report needs them, too")
    weighted = make_report(selector, X, Y, sample_weight=WEIGHTS, stability=5)
    assert "their weights, are others" not in weighted.html
    assert "sample_weight=sample_weight" in weighted.facts.code
    plain = make_report(SelectBestK(2).fit(X, Y), X, Y, stability=5)
    assert weighted.facts.scores.curve.tolist() != plain.facts.scores.curve.tolist()
    assert weighted.facts.stability is not None
    mixed = make_report(SelectBestK(2).fit(X, Y), X, Y, sample_weight=WEIGHTS, errors=False)
    assert "their weights, are others" in mixed.html
    chooser = SelectBestKCV(LogisticRegression(), ks=[1, 2]).fit(X, Y, sample_weight=WEIGHTS)
    refuses(lambda: make_report(chooser, X, Y), "the report needs them, too")
    assert make_report(chooser, X, Y, sample_weight=WEIGHTS, stability=0).facts.scores is not None


def test_a_weighted_report_leaves_out_rows_without_weight():
    weights = np.where(np.arange(ROWS) < 60, 0, WEIGHTS)
    selector = SelectBestK(2).fit(X, Y, sample_weight=weights)
    facts = make_report(selector, X, Y, sample_weight=weights, stability=3).facts
    assert facts.scores is not None
    assert facts.stability is not None


def test_the_commands_weight_or_refuse():
    for entry in (select_command, compare_command):
        assert entry("--weights", "w", w=WEIGHTS) != entry("--exclude", "w", w=WEIGHTS)
    no_such_option(lambda: report_command("--weights", "w", w=WEIGHTS), "--weights")


# Scoring and folds.


@pytest.mark.parametrize("entry", [with_auto_k, with_estimator, curves])
@pytest.mark.parametrize("option", [{"scoring": "f1"}, {"cv": ShuffleSplit(3, random_state=0)}])
def test_scoring_and_folds_have_an_effect_where_something_is_cross_validated(entry, option):
    assert entry(**option) != entry()


@pytest.mark.parametrize("option", [{"scoring": "f1"}, {"cv": 3}, {"scoring": "f1", "cv": 3}])
def test_scoring_and_folds_of_a_number_of_features_are_warned_of(option, tmp_path):
    said = " and ".join(option) + " did not change the selection, as k=2 needs no cross-validation"
    assert any(said in text for text in with_number(**option)[1])
    with pytest.warns(SelectionWarning, match=said):
        blocks(**option)
    with pytest.warns(SelectionWarning, match=said):
        file(tmp_path, **option)


@pytest.mark.parametrize("name", ["scoring", "cv"])
def test_scoring_and_folds_are_refused_where_nothing_is_predicted(name):
    value = {"scoring": "f1", "cv": 3}[name]
    refuses(lambda: stable(**{name: value}), f"{name} has no effect on stability_selection")
    no_such_parameter(lambda: relevant(**{name: value}), name)


def test_a_report_takes_a_scorer_and_folds_or_those_of_the_selector():
    plain = reported()
    assert plain[2][0] == "AUC"
    for more in ({"report": {"scoring": "f1"}}, {"scoring": "f1"}):
        assert reported(**more)[2][0] == "f1"
    for more in ({"report": {"cv": 3}}, {"cv": 3}):
        assert len(reported(**more)[2][1][0]) == 3
    selector = SelectBestK(2).fit(X, Y)
    chooser = SelectBestKCV(LogisticRegression(), ks=[2]).fit(X, Y)
    for name, value in (("scoring", "f1"), ("cv", 3)):
        refuses(lambda option={name: value}: make_report(selector, X, Y, errors=False, **option),
                f"{name} has no effect without scores")  # fmt: skip
        refuses(lambda option={name: value}: make_report(chooser, X, Y, **option),
                f"{name} has no effect on the report of a SelectBestKCV")  # fmt: skip


def test_a_report_reads_the_target_as_the_estimator_did():
    chooser = SelectBestKCV(Ridge(), ks=[2]).fit(X, COUNT)
    report = make_report(chooser, X, COUNT, stability=0)
    assert isinstance(report.facts.measured.dataset.target, NumericTarget)


def test_the_commands_score_or_refuse(tmp_path):
    auto = [
        command("select", "-k", "auto", "--seed", 0, *more) for more in ((), ("--scoring", "f1"))
    ]
    assert "k_errors" in auto[0]
    assert "k_errors" not in auto[1]
    refuses(lambda: select_command("--scoring", "f1"), "--scoring f1 has no effect without -k auto")
    refuses(lambda: select_command("--scoring", "f1", "--dry-run"), "without -k auto")
    assert compare_command("--scoring", "f1")["measure"] == "f1"
    refuses(lambda: compare_command("--scoring", "f1", "--cv", 0), "no effect with --cv 0")
    assert compare_command("--cv", 3) != compare_command()
    page = tmp_path / "report.html"
    for k in (2, "auto"):
        command("report", "-k", k, "--scoring", "f1", page=page)
        text = page.read_text("utf-8")
        assert re.search(r"<h1><bdi>[^<]* f1 \d", text) or re.search(r"<h1><bdi>.*: 0\.", text)
        assert "f1" in text
    refuses(lambda: report_command("--scoring", "f1", "--no-errors"), "no effect with --no-errors")
    for entry in (select_command, report_command):
        no_such_option(lambda entry=entry: entry("--cv", 3), "--cv")


# Columns to include, to exclude, and to select together.

OF_COLUMNS = [{"include": INCLUDED}, {"exclude": EXCLUDED}, {"column_groups": TOGETHER}]


@pytest.mark.parametrize("option", OF_COLUMNS)
@pytest.mark.parametrize(
    "entry", [with_number, with_auto_k, with_estimator, curves, stable, reported]
)
def test_columns_are_included_excluded_and_kept_together(entry, option):
    assert entry(**option) != entry()


def test_columns_of_files_and_blocks_are_included_excluded_and_kept_together(tmp_path):
    aside = ["weight", "group"]
    for entry in (blocks, lambda **options: file(tmp_path, **options)[0]):
        assert entry(include=INCLUDED) >= set(INCLUDED)
        assert not entry(exclude=[*EXCLUDED, *aside]) & set(EXCLUDED)
        assert len(entry(column_groups=TOGETHER)) == 3
    refuses(lambda: blocks(exclude=["nobody"]), "nobody")
    refuses(lambda: with_number(include=["nobody"]), "nobody")


@pytest.mark.parametrize("option", OF_COLUMNS)
def test_relevant_features_are_not_chosen_by_name(option):
    no_such_parameter(lambda: relevant(**option), *option)


def test_the_commands_include_and_exclude_and_refuse_groups_of_columns():
    for entry in (select_command, compare_command, report_command):
        plain = entry()
        assert entry("--include", "f") != plain
        assert entry("--exclude", "a") != plain
        no_such_option(lambda entry=entry: entry("--column-groups", "_"), "--column-groups")


# Columns that are adjusted for.

COVARIATES = {"covariates": ["a"]}


@pytest.mark.parametrize(
    "entry", [with_number, with_auto_k, with_estimator, stable, reported, blocks]
)
def test_covariates_change_what_is_selected(entry):
    assert entry(**COVARIATES) != entry()


def test_covariates_of_files_are_not_selected(tmp_path):
    names, _ = file(tmp_path, **COVARIATES)
    assert len(names) == 2
    assert "a" not in names


def test_covariates_work_with_the_default_method_alone():
    for entry in (with_number, with_auto_k, with_estimator, curves, stable, reported):
        method = {} if entry is curves else {"method": "jmi"}
        refuses(lambda entry=entry, method=method: entry(**COVARIATES, **method),
                "covariates work with method='auto' alone")  # fmt: skip
    adjusted = error_curves(X, Y, ["auto"], [2], cv=4, random_state=0, **COVARIATES)
    assert not any(0 in row.support for row in adjusted.rows)
    made = make_report(SelectBestK(2, **COVARIATES).fit(X, Y), X, Y, stability=0)
    assert "given the covariates &#39;a&#39;" in made.html
    assert "other methods do not adjust for covariates" in made.html


def test_relevant_features_add_to_covariates():
    adjusted = relevant(**COVARIATES)
    assert np.isnan(adjusted[0])
    assert adjusted[1:] != relevant()[1:]
    refuses(
        lambda: relevant({"sample_weight": WEIGHTS}, **COVARIATES),
        "covariates or sample_weight, not both",
    )
    assert relevant({"groups": GROUPS}, **COVARIATES)[1:] != adjusted[1:]


@pytest.mark.parametrize("entry", [with_number, with_auto_k, with_estimator, relevant])
def test_a_table_of_covariates_changes_what_is_selected(entry):
    assert entry({"covariates": X[["a"]]}) != entry()


def test_a_table_of_covariates_is_refused_where_rows_could_not_follow_it(tmp_path):
    table = {"covariates": X[["a"]]}
    refuses(lambda: file(tmp_path, table), "X comes in blocks of rows")
    refuses(lambda: reported(table), "fitted with a table of covariates")
    refuses(lambda: pair_scan(X, Y, **COVARIATES), "covariates have no effect on pair_scan")
    refuses(lambda: with_number(table, method="jmi"), "covariates work with method='auto' alone")
    for entry in (curves, stable):
        refuses(lambda entry=entry: entry(**table), "names columns of X")


def test_the_commands_take_covariates():
    for entry in (select_command, report_command):
        told = entry("--covariates", "a")
        assert told != entry()
        assert "a" not in [feature["name"] for feature in told["features"]]
        assert told["columns"] == 5
        assert told["covariates"] == ["a"]
        refuses(lambda entry=entry: entry("--covariates", "a,b"), "--covariates a --covariates b")
        refuses(lambda entry=entry: entry("--covariates", "nobody"), "no feature 'nobody'")
    told = command("compare", "-k", 2, "-m", "auto", "--covariates", "a")
    assert "a" not in told["methods"]["auto"]["features"]
    refuses(
        lambda: compare_command("--covariates", "a"), "covariates work with method='auto' alone"
    )


# The threshold of new information.


def test_the_threshold_lowers_k_or_is_refused(tmp_path):
    assert len(with_number(threshold=0.1)[0]) == 1
    assert len(blocks(threshold=0.1)) == 1
    assert len(file(tmp_path, threshold=0.1)[0]) == 1
    assert len(reported(threshold=0.1)[0]) == 1
    assert len(select_command("--threshold", 0.1)["features"]) == 1
    assert len(report_command("--threshold", 0.1)["features"]) == 1
    refuses(lambda: with_auto_k(threshold=0.1), "k='auto' and threshold both choose k")
    refuses(lambda: curves(threshold=0.1), "threshold has no effect on error_curves")
    refuses(lambda: stable(threshold=0.1), "threshold has no effect on stability_selection")
    no_such_parameter(lambda: with_estimator(threshold=0.1), "threshold")
    no_such_parameter(lambda: relevant(threshold=0.1), "threshold")
    no_such_option(lambda: compare_command("--threshold", 0.1), "--threshold")


# What the target is.


@pytest.mark.parametrize("entry", [relevant, curves, stable, reported, with_auto_k])
def test_the_kind_of_target_changes_what_is_measured(entry):
    assert entry(y=COUNT, target="classes") != entry(y=COUNT, target="continuous")


def test_the_kind_of_target_changes_relevance_in_memory_files_and_blocks(tmp_path):
    path = tmp_path / "table.csv"
    table = X.assign(y=COUNT)
    table.to_csv(path, index=False)
    for source, goal in ((X, COUNT), (path, "y"), ([table[:90], table[90:]], "y")):
        kinds = [
            SelectBestK(2, target=kind).fit(source, goal) for kind in ("classes", "continuous")
        ]
        assert not np.allclose(kinds[0].scores_, kinds[1].scores_)
    models = [SelectBestKCV(Ridge(), ks=[2], target=kind) for kind in ("classes", "continuous")]
    as_classes, as_numbers = (model.fit(X, COUNT).scores_ for model in models)
    assert not np.allclose(as_classes, as_numbers)


def test_the_commands_take_the_kind_of_target():
    for entry in (select_command, compare_command, report_command):
        kinds = [entry("--target-kind", kind, y=COUNT) for kind in ("classes", "continuous")]
        assert kinds[0] != kinds[1]


# Where only a table in memory will do.


def test_what_needs_a_table_in_memory_says_so_of_a_file(tmp_path):
    path = tmp_path / "table.csv"
    X.assign(y=Y).to_csv(path, index=False)
    selector = SelectBestK(2).fit(path, "y")
    chooser = SelectBestKCV(LogisticRegression(), ks=[2])
    blocks_of_rows = [X.assign(y=Y)[:90], X.assign(y=Y)[90:]]
    for source in (path, str(path), blocks_of_rows):
        refuses(lambda source=source: chooser.fit(source, "y"), "needs a table in memory")
        refuses(lambda source=source: error_curves(source, "y", "jmi", [2]), "give a name only")
        refuses(lambda source=source: stability_selection(source, "y", 2), "give an array", "rows")
        refuses(lambda source=source: make_report(selector, source, "y"), "give an array", "rows")
