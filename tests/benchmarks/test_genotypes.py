"""Genotypes of which pairs of places decide a disease."""

import numpy as np
import pytest

from benchmarks.interactions.genotypes import (
    MODELS,
    PAIRS,
    SINGLES,
    Setting,
    as_table,
    count_among_columns,
    count_pairs,
    draw,
    measure,
)


@pytest.mark.parametrize("model", MODELS)
def test_a_table_has_counts_of_alleles_as_frequent_as_asked_and_half_of_the_people_are_ill(model):
    setting = Setting(model, frequency=0.4, heritability=0.5, seed=0, snps=60)
    table = draw(setting)
    assert np.array_equal(table.counts, draw(setting).counts)
    assert set(np.unique(table.counts)) == {0, 1, 2}
    assert table.ill.mean() == pytest.approx(0.5, abs=0.02)
    assert table.counts[:, table.pairs.ravel()].mean() / 2 == pytest.approx(0.4, abs=0.02)
    assert len({*table.pairs.ravel(), *table.singles}) == 2 * PAIRS + SINGLES


@pytest.mark.parametrize("model", MODELS)
def test_a_larger_share_of_the_liability_makes_the_pairs_tell_more(model):
    def strength(heritability):
        table = draw(Setting(model, 0.4, heritability, seed=1, snps=60))
        effects = [MODELS[model](*table.counts[:, pair].T) for pair in table.pairs]
        return abs(np.corrcoef(np.sum(effects, axis=0), table.ill)[0, 1])

    assert strength(0.5) > strength(0.1) > 0


def test_singles_matter_alone():
    table = draw(Setting("xor", 0.4, 0.1, seed=0, snps=60))
    related = [abs(np.corrcoef(table.counts[:, place], table.ill)[0, 1]) for place in range(60)]
    assert set(np.argsort(related)[-SINGLES:]) == set(table.singles)


def test_linked_neighbours_are_correlated_and_others_are_not():
    table = draw(Setting("xor", 0.4, 0.3, seed=0, linked=True, snps=100))
    correlation = np.corrcoef(table.counts.T)
    same = table.block[:, np.newaxis] == table.block
    neighbours = np.abs(np.subtract.outer(np.arange(100), np.arange(100))) == 1
    assert correlation[same & neighbours].min() > 0.6
    assert np.abs(correlation[~same]).max() < 0.2


def test_strong_pairs_are_recovered_by_the_scan():
    found = measure(Setting("xor", 0.4, 0.5, seed=0, snps=60), "integers")
    assert found["in_best_1000"] == found["true_pairs"] == PAIRS


def test_a_pair_counts_in_either_order_and_only_with_both_of_its_columns():
    table = draw(Setting("xor", 0.4, 0.3, seed=0, snps=60))
    assert count_pairs(table.pairs[:, ::-1], table) == PAIRS
    assert count_pairs(np.empty((0, 2), int), table) == 0
    assert count_among_columns(table.pairs[0], table) == 1
    assert count_among_columns(table.pairs[:, 0], table) == 0


def test_counts_are_shown_as_whole_numbers_or_as_categories():
    counts = np.array([[0, 1], [2, 1]], np.int8)
    assert as_table(counts, "integers").dtype == np.int64
    assert (as_table(counts, "categories").dtypes == "category").all()
