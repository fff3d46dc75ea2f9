"""Examples: each runs without a warning, and what it concludes is so."""

import re
import runpy
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/plot_*.py"))
GALLERY = runpy.run_path(str(ROOT / "docs" / "gallery.py"))


@pytest.fixture
def run(monkeypatch):
    """Run an example, and return its names."""
    mpl.use("Agg")
    from matplotlib import pyplot

    def run_it(name):
        if (absent := GALLERY["absent"]().get(f"plot_{name}")) is not None:
            pytest.skip(f"data set {absent!r} is not here; set BESTK_DATA to a folder that has it")
        (path,) = (path for path in EXAMPLES if path.stem == f"plot_{name}")
        return runpy.run_path(str(path))

    monkeypatch.setattr(pyplot, "show", lambda: None)
    yield run_it
    pyplot.close("all")


def test_pandas_and_polars_give_the_same_features_and_only_plain_counts_fall_for_the_street(run):
    ran = run("mixed_table")
    assert ran["names"] == ran["twin"].get_feature_names_out().tolist()
    assert sorted(ran["names"]) == ["calls", "contract", "fibre", "income", "months"]
    plain, corrected = (
        dict(zip(ran["customers"], ran[name].scores_, strict=True))
        for name in ("plain", "corrected")
    )
    assert max(plain, key=plain.get) == "street"
    assert corrected["street"] < 0 < corrected["income"]
    assert ran["gap"] == pytest.approx(ran["whole"], rel=0.1)


def test_the_number_of_features_matters_more_than_the_method(run):
    ran = run("grid_search")
    assert ran["of_numbers"].mean() > 1.5 * ran["of_methods"].mean()
    assert ran["of_methods"][-1] < ran["of_methods"].mean() / 2
    assert (np.diff(ran["scores"].mean(axis=0)) > 0).all()
    assert ran["held_out"] < ran["search"].best_score_
    assert ran["held_out"] <= ran["plain"] + 0.02


def test_naive_bayes_needs_a_handful_of_features_and_a_linear_model_gains_from_more(run):
    ran = run("choosing_k")
    scores, chosen = ran["scores"], ran["chosen"]
    assert chosen["one-se"] <= chosen["best"] < 10
    errors = ran["auto"].k_errors_
    assert chosen["best"] < chosen["auto"] <= min(errors, key=errors.get)
    between_rules = np.ptp([scores[chosen[rule]] for rule in ("auto", "one-se", "best")])
    assert between_rules < ran["careful"].cv_results_["std_test_score"].mean()
    assert scores[chosen["all"]] <= min(scores[chosen["one-se"]], scores[chosen["best"]])


@pytest.mark.data
def test_genes_chosen_before_the_folds_look_too_good_and_no_list_is_steady(run):
    ran = run("genes")
    assert ran["too_good"].mean() < ran["honest"].mean()
    assert ran["leak"] > 0.03
    assert max(ran["single"].max(), ran["together"].max()) < 0.8
    assert (ran["single"] > ran["together"])[:-1].all()  # up to 20 genes
    assert ran["better"] > 0


@pytest.mark.data
def test_marks_of_good_letters_are_chosen_because_marks_of_spam_repeat_each_other(run):
    ran = run("spam")
    alone, together = ran["good_among"].values()
    assert together > alone
    assert ran["good_kept"] > ran["spam_kept"]
    assert ran["gap"] < 1e-9
    assert ran["wins"].sum() > len(ran["ks"]) / 2
    assert not ran["wins"][1]  # two columns
    assert ran["means"]["all"][0] < min(ran["means"]["balanced"])


def test_few_pixels_chosen_together_lie_apart_and_read_digits_better(run):
    ran = run("digits")
    errors, touching = ran["errors"], ran["touching"]
    alone, together = ("F-test", "alone"), ("together", "together, exact")
    for i, k in enumerate(ran["ks"]):
        least = min(errors[name][i] for name in alone)
        if k <= ran["few"]:
            assert max(errors[name][i] for name in together) < least
        assert errors["together, exact"][i] < least
    apart = [touching(ran["chosen"][name]) for name in together]
    assert max(apart) < min(touching(ran["chosen"][name]) for name in alone)


def test_only_the_default_finds_a_pair_of_genotypes(run):
    ran = run("snps")
    weak, strong = ({name: share[s, 1] for name, share in ran["found"].items()} for s in (1, -1))
    assert strong["auto"] > 0.8
    assert strong["F-test"] == 0
    others = ("F-test", "mrmr", "jmi")
    assert max(strong[name] for name in others) < 0.5
    assert max(weak[name] for name in others) < 0.5
    alone = {name: share[-1, 0] for name, share in ran["found"].items()}
    assert alone["auto"] > alone["F-test"]


def test_half_of_the_measurements_predict_nearly_as_well_as_all_and_need_no_bins(run):
    ran = run("diabetes")
    errors = ran["shares"]["auto"]
    assert errors[4] < errors[-1] + 0.02
    assert {6, 7, 8} <= set(ran["better"])


def test_no_choice_exceeds_the_bounds_and_the_tight_one_is_nearly_the_best(run):
    ran = run("certificate")
    assert (ran["found"] <= ran["best"] + 1e-9).all()
    assert (ran["best"] <= ran["tight"] + 1e-9).all()
    assert (ran["tight"] <= ran["loose"] + 1e-9).all()
    assert ran["missed"].max() > 0.1
    assert ran["excess"].max() < 0.02


def test_one_blood_value_is_worth_its_price_and_a_second_is_not(run):
    rows = run("objective")["rows"]
    blood = {nats: sum(name.startswith("s") and name != "sex" for name in row[0])
             for nats, row in rows.items()}  # fmt: skip
    assert list(blood.values()) == [2, 1, 1, 0]
    (two, one, _, none) = (row[2] for row in rows.values())
    assert one > two - 0.01
    assert none < one - 0.05
    assert all(row[3] == 0 for row in rows.values())
    assert all(np.diff([row[1] for row in rows.values()]) < 0)


def test_the_certificate_of_a_new_solver_holds_and_one_that_cheats_is_refused(run, capsys):
    ran = run("solver")
    assert ran["certified"]
    assert ran["missed"]["annealing"] <= ran["ours"].gap < 0.01
    assert ran["missed"]["tpower"] > 0.1
    assert "solver 'stubborn' did not return 10 different items" in capsys.readouterr().out


def test_blocks_give_the_objective_of_the_whole_table_and_find_what_tells(run):
    ran = run("blocks")
    assert len(ran["values"]) == 1
    assert ran["found"][-1] == ran["TELLING"] > ran["found"][0]
    assert ran["selector"].n_samples_seen_ == len(ran["y"])


def test_every_example_has_a_claim_here():
    told = set(re.findall(r'run\("(\w+)"\)', Path(__file__).read_text()))
    assert told == {path.stem.removeprefix("plot_") for path in EXAMPLES}


def test_the_gallery_runs_all_examples_but_those_whose_data_are_absent(monkeypatch, tmp_path):
    (tmp_path / "colon.npz").touch()
    monkeypatch.setenv("BESTK_DATA", str(tmp_path))
    pattern = re.compile(GALLERY["settings"]()["filename_pattern"])
    skipped = {path.stem for path in EXAMPLES if not pattern.search(str(path))}
    assert skipped == {"plot_spam"} == set(GALLERY["absent"]())


def test_a_page_that_was_not_run_says_so(monkeypatch):
    monkeypatch.delenv("BESTK_DATA", raising=False)
    pages = {"plot_spam": ["code"], "plot_genes": [".. image-sg:: from an earlier build"],
             "plot_digits": ["code"]}  # fmt: skip
    for name, source in pages.items():
        GALLERY["say_what_was_not_run"](None, f"auto_examples/tables/{name}", source)
    assert [name for name, (text,) in pages.items() if "was not run" in text] == ["plot_spam"]


def test_other_selectors_are_measured_on_the_same_folds_and_none_is_far_better(run):
    ran = run("other_selectors")
    means = {name: -found for name, found in ran["curves"].mean_error().items()}
    assert set(means) == {"auto", "SelectKBest", "RFE", "forest"}
    best = np.max(list(means.values()), axis=0)
    assert (best - means["auto"] < 0.01).all()
    assert ran["chosen"].best_k_ < 10


def test_measurements_are_selected_as_wholes_and_so_are_one_hot_variables(run):
    ran = run("column_groups")
    assert ran["groups"].k_ == 9
    assert len(set(ran["measured"].values())) == 3
    assert min(ran["by_groups"]) > 0.95
    assert set(ran["sizes"]) == {4}
    assert ran["whole"].k_ == 8


def test_few_features_are_selected_from_most_halves_and_a_copy_halves_the_frequency(run):
    ran = run("stability_selection")
    found, shares = ran["found"], ran["shares"]
    assert len(found.selected(0.9)) < len(found.selected(0.6)) < 6
    assert max(shares.values()) < found.frequencies.max()
    assert ran["index"][1] < ran["index"][0]


def test_a_factor_of_weights_changes_nothing_and_a_rarer_class_leaves_less_to_know(run):
    ran = run("weights")
    np.testing.assert_array_equal(ran["as_population"].scores_, ran["in_thousands"].scores_)
    assert 0 < ran["effective"] < len(ran["y"])
    assert ran["weighted_share"] == pytest.approx(0.1)
    order = ran["order"]
    assert (ran["as_population"].scores_[order] < ran["as_sampled"].scores_[order]).all()


def test_ten_selected_columns_are_nearly_as_good_as_all_and_better_than_the_ten_of_largest_f(run):
    ran = run("column_limit")
    accuracy, at = ran["accuracy"], ran["ks"].index(10)
    assert ran["limited"][1].k_ == ran["LIMIT"] < ran["X"].shape[1]
    assert accuracy["bestk"][at] > ran["whole"] - 0.01
    for name in ("SelectKBest(f_classif)", "random columns"):
        assert accuracy["bestk"][at] > accuracy[name][at] + 0.005


def test_the_hardest_digit_gains_when_the_smallest_objective_is_maximised(run):
    ran = run("several_targets")
    worst = {how: values.min() for how, values in ran["aucs"].items()}
    assert {how: round(value, 3) for how, value in worst.items()} == {"sum": 0.787, "min": 0.879}
    assert ran["union"].k_ < 20


def test_a_report_names_the_leak(run):
    ran = run("report")
    leaks = [caution for caution in ran["cautions"] if caution.kind == "leak"]
    assert [caution.text.split(":")[0] for caution in leaks] == ["'shelf'"]
    assert len(ran["report"].facts.stability.supports) == 50
    assert "shelf" not in ran["report"].html


def test_an_exported_pipeline_predicts_the_same_without_bestk(run):
    for package in ("skl2onnx", "onnxruntime", "skops"):
        pytest.importorskip(package)
    ran = run("export")
    assert ran["difference"] < 1e-5
    assert all(name.startswith("bestk.") for name in ran["unknown"])
    assert ran["again"].predict(ran["test"]).tolist() == ran["labels"].tolist()
    assert ran["pipeline"].score(ran["test"], ran["y_test"]) > 0.9
