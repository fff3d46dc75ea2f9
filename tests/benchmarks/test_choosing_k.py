"""The comparison of rules for k: what a rule takes, and what the table says of it."""

import csv

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.quality.choosing_k import RULES, Row, main, paired, table_of, within
from bestk._choose_k import choose

KS = [1, 2, 3, 5, 8]


@given(st.integers(0, 10**6))
def test_no_and_one_standard_error_are_the_rules_of_the_selector(seed):
    errors = np.random.default_rng(seed).integers(0, 12, (5, 5)) / 12
    assert within(0.0)(KS, errors) == choose(KS, -errors, "best")
    assert within(1.0)(KS, errors) == choose(KS, -errors, "one-se")
    assert within(1.0)(KS, errors) <= within(0.5)(KS, errors) <= within(0.0)(KS, errors)


def test_paired_differences_see_what_folds_have_in_common():
    hard = np.array([[0.1], [0.5], [0.3], [0.2], [0.4]])  # folds differ much, numbers of features
    errors = hard + np.array([0.04, 0.03, 0.02, 0.01, 0.0])  # in the same way in all of them
    assert paired(KS, errors) == 8
    assert within(1.0)(KS, errors) == 1


def test_the_table_takes_means_over_test_rows_and_finds_the_best_k_in_hindsight():
    chosen = dict.fromkeys(RULES, (1, 3)) | {"k=1": (1, 3), "k=2": (2, 1), "k=10": (2, 1)}
    rows = [Row("set", 0, fold, rule, k, wrong, 10, 2)
            for fold in (0, 1) for rule, (k, wrong) in chosen.items()]  # fmt: skip
    _, own, mean, compared = table_of(rows).splitlines()
    assert own.split()[:4] == ["set", "30.00", "(k", "1.0)"]
    assert own.split()[-3:] == mean.split()[-3:] == ["10.00", "(k", "2.0)"]
    assert compared.split()[1:] == ["0/1/0"] * 4 + ["1/0/0"] * 2


def test_a_run_has_a_row_for_every_rule_and_every_k(tmp_path, capsys):
    assert main(["--only", "levels", "--folds", "1", "--out", str(tmp_path / "k.csv")]) == 0
    with (tmp_path / "k.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["rule"] for row in rows} >= {*RULES, "k=1", "k=10", "k=48"}
    wrong = {(row["k"], row["wrong"]) for row in rows}
    assert len(wrong) == len({row["k"] for row in rows})  # a k has one error, whoever takes it
    assert "levels" in capsys.readouterr().out
