"""Targets: what y is read as, once, and what its rows and weights make of it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk.errors import DataError
from bestk.tables.frames import read_table
from bestk.tables.target import (
    ClassTarget,
    NumericTarget,
    drop_weightless,
    parse_target,
    parse_targets,
)

COUNTS = np.repeat(np.arange(30), np.arange(30, 0, -1))


def test_words_are_classes_with_sorted_labels():
    target = parse_target(["b", "a", "b", "c"], 4)
    assert isinstance(target, ClassTarget)
    assert target.labels.tolist() == ["a", "b", "c"]
    assert target.codes.tolist() == [1, 0, 1, 2]
    assert target.counts.tolist() == [1, 2, 1]
    assert target.values.tolist() == ["b", "a", "b", "c"]
    assert target.classes is target


def test_fractions_are_numbers_and_have_classes_of_equal_frequency():
    target = parse_target([0.5, 2.5, 1.5, 3.5, 4.5, 5.5], 6)
    assert isinstance(target, NumericTarget)
    assert target.values.tolist() == [0.5, 2.5, 1.5, 3.5, 4.5, 5.5]
    assert target.classes.codes.tolist() == [0, 1, 0, 2, 3, 4]


def test_a_target_that_is_parsed_is_given_back():
    targets = parse_targets([0, 1, 1], 3)
    assert parse_targets(targets, 3) is targets
    assert parse_target(targets[0], 3, "continuous") is targets[0]


@pytest.mark.parametrize(
    "make", [np.asarray, pd.DataFrame, read_table], ids=["array", "frame", "table"]
)
def test_each_column_of_y_is_a_target(make):
    y = np.column_stack([[0.0, 1.0, 1.0, 0.0], [0.5, 0.25, 2.0, 3.0]])
    first, second = parse_targets(make(y), 4)
    assert isinstance(first, ClassTarget)
    assert isinstance(second, NumericTarget)


@given(st.lists(st.sampled_from("abcd"), min_size=4, max_size=30), st.data())
def test_some_rows_have_the_classes_that_they_would_have_alone(words, data):
    places = st.lists(st.integers(0, len(words) - 1), min_size=3, max_size=40)
    rows = np.array(data.draw(places))
    if len(set(words)) < 2 or len(set(words)) == len(words) or len({words[i] for i in rows}) < 2:
        return
    part = parse_target(words, len(words)).take(rows)
    assert part.values.tolist() == [words[i] for i in rows]
    assert part.labels.tolist() == sorted({words[i] for i in rows})
    assert part.counts.tolist() == np.bincount(part.codes).tolist()


def test_rows_of_one_class_are_refused():
    with pytest.raises(DataError, match="y has one class only, a"):
        parse_target(["a", "b", "a"], 3).take(np.array([0, 2]))


def test_numbers_of_some_rows_are_cut_anew():
    target = parse_target(np.arange(100) + 0.5, 100)
    assert target.take(np.arange(10)).classes.codes.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_rows_of_weight_zero_are_dropped_from_the_table_and_the_target():
    table = read_table(np.arange(8.0).reshape(4, 2))
    targets = parse_targets(["a", "b", "a", "c"], 4, sample_weight=[1, 2, 0, 0.5])
    kept, (target,) = drop_weightless(table, targets)
    assert kept.n_samples == target.n_samples == 3
    assert target.values.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(target.weights.values, [0.5, 1, 0.25])
    assert target.sizes.sum() == pytest.approx(target.n_rows)


def test_the_note_on_whole_numbers_counts_all_rows_of_the_target():
    note = f"y holds 30 different whole numbers in {len(COUNTS)} rows, taken as numbers to predict"
    target = parse_target(COUNTS, len(COUNTS))
    assert target.note.startswith(note)
    assert target.take(np.arange(100)).note == target.note
    assert parse_target(COUNTS, len(COUNTS), "classes").note is None
