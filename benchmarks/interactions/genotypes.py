"""Pairs of genes that matter together: ``python -m benchmarks.interactions.genotypes``.

Tables of single-nucleotide polymorphisms (SNPs), counts of the rarer allele (0, 1 or 2) of 1,000
people at 1,000 places, and a disease that half of them have. Each table has three pairs of SNPs
that act under one model, and two SNPs that matter alone; what share of the liability the pairs
explain, and how frequent their rarer alleles are, varies. The question is how many of the true
pairs are among the best pairs of ``pair_scan``, and how many SelectBestK selects.

With ``--linked``, neighbours on the chromosome are correlated, as they are in people. A pair is
then also counted as recovered if a pair of neighbours of its two SNPs is among the best.
"""

import argparse
import csv
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.machine import RESULTS, describe_machine
from bestk import SelectBestK, SelectRelevant, pair_scan

Counts = NDArray[np.int8]
Pairs = NDArray[np.int64]

PEOPLE = 1000
SNPS = 1000
PAIRS = 3  # true pairs of a table
SINGLES = 2  # SNPs that matter alone
SHARE_OF_SINGLE = 0.08  # of the variance of the liability
BEST = 1000  # pairs that the scan returns
SELECTED = 20  # SNPs that SelectBestK selects
KINDS = ("integers", "categories")  # how a table shows its counts
BLOCK = 10  # linked SNPs beside each other
LINKAGE = 0.85  # probability that a SNP has the alleles of its left neighbour in the block

# The rarer allele of a true SNP has one of these frequencies; all others one between the bounds.
FREQUENCIES = (0.2, 0.35, 0.5)
FREQUENCY_BOUNDS = (0.05, 0.5)

# Shares of the variance of the liability that the three pairs explain together.
HERITABILITIES = (0.12, 0.25, 0.5)

MODELS: dict[str, Callable[[Counts, Counts], NDArray[Any]]] = {
    "multiplicative": lambda a, b: a + b,
    "product": lambda a, b: a * b,
    "dominant": lambda a, b: (a > 0) & (b > 0),
    "recessive": lambda a, b: (a == 2) & (b == 2),
    "xor": lambda a, b: (a > 0) != (b > 0),
    "threshold": lambda a, b: a + b >= 3,
}
"""What a pair of SNPs adds to the liability, from the counts of their rarer alleles.

In the multiplicative model each allele multiplies the odds, so that both SNPs also matter alone;
in the product model they do so only together.
"""


@dataclass(frozen=True)
class Genotypes:
    """A table of genotypes, who is ill, and the pairs of SNPs that decide it."""

    counts: Counts
    """One row for each person and one column for each SNP: 0, 1 or 2 rarer alleles."""

    ill: NDArray[np.bool_]

    pairs: Pairs
    """Places of the two SNPs of each true pair, the smaller first."""

    singles: NDArray[np.int64]
    """Places of the SNPs that matter alone."""

    block: NDArray[np.int64]
    """The group of linked SNPs that each SNP belongs to."""


@dataclass(frozen=True)
class Setting:
    """How a table is drawn."""

    model: str
    frequency: float
    heritability: float
    seed: int
    linked: bool = False
    snps: int = SNPS
    people: int = PEOPLE


def draw(setting: Setting) -> Genotypes:
    """A table by its setting; the same setting gives the same table.

    Examples
    --------
    >>> table = draw(Setting("xor", frequency=0.4, heritability=0.3, seed=0, snps=50))
    >>> table.counts.shape, table.pairs.shape, int(table.ill.sum())
    ((1000, 50), (3, 2), 500)
    """
    model = list(MODELS).index(setting.model)
    hundredths = [round(100 * share) for share in (setting.frequency, setting.heritability)]
    rng = np.random.default_rng([model, *hundredths, setting.seed, setting.linked])
    block_size = BLOCK if setting.linked else 1
    block = np.arange(setting.snps) // block_size
    true_blocks = rng.choice(block[-1] + 1, 2 * PAIRS + SINGLES, replace=False)
    places = true_blocks * block_size + rng.integers(block_size, size=len(true_blocks))
    places = np.minimum(places, setting.snps - 1)
    paired = places[: 2 * PAIRS]
    singles = places[2 * PAIRS :]
    frequencies = rng.uniform(*FREQUENCY_BOUNDS, setting.snps)
    if setting.linked:
        frequencies = frequencies[block * block_size]  # linked SNPs are about equally frequent
    frequencies[np.isin(block, block[paired])] = setting.frequency
    counts = _draw_counts(rng, frequencies, block, setting)
    pairs = np.sort(paired.reshape(PAIRS, 2), axis=1)
    liability = _liability(rng, counts, pairs, singles, setting)
    return Genotypes(counts, liability > np.median(liability), pairs, singles, block)


def _draw_counts(
    rng: np.random.Generator, frequencies: NDArray[Any], block: Any, setting: Setting
) -> Counts:
    """The alleles of both chromosomes of each person, added up."""
    chromosomes = []
    for _ in range(2):
        alleles = rng.random((setting.people, setting.snps)) < frequencies
        if setting.linked:
            inherited = rng.random(alleles.shape) < LINKAGE
            for snp in range(1, setting.snps):
                if block[snp] == block[snp - 1]:
                    same = inherited[:, snp]
                    alleles[same, snp] = alleles[same, snp - 1]
        chromosomes.append(alleles)
    return chromosomes[0].astype(np.int8) + chromosomes[1].astype(np.int8)


def _liability(
    rng: np.random.Generator, counts: Counts, pairs: Pairs, singles: Any, setting: Setting
) -> NDArray[np.float64]:
    """The effects of pairs, of equal variance, those of singles, and all that else makes ill."""
    of_pair = setting.heritability / PAIRS
    liability = np.zeros(len(counts))
    for first, second in pairs:
        effect = MODELS[setting.model](counts[:, first], counts[:, second])
        liability += np.sqrt(of_pair) * _standardize(effect)
    for single in singles:
        liability += np.sqrt(SHARE_OF_SINGLE) * _standardize(counts[:, single])
    unexplained = 1 - setting.heritability - SINGLES * SHARE_OF_SINGLE
    return liability + np.sqrt(unexplained) * rng.normal(size=len(counts))


def _standardize(effect: NDArray[Any]) -> NDArray[np.float64]:
    """With mean 0 and variance 1, or all 0 where nobody has the effect."""
    centered = effect - np.mean(effect)
    spread = centered.std()
    return centered / spread if spread > 0 else centered


def as_table(counts: Counts, kind: str) -> Any:
    """The counts as whole numbers, or as categories."""
    if kind == "integers":
        return counts.astype(np.int64)
    return pd.DataFrame(counts.astype(str)).astype("category")


def count_pairs(found: Pairs, table: Genotypes) -> int:
    """How many true pairs are among those found."""
    listed = {tuple(sorted(pair)) for pair in found.tolist()}
    return sum(tuple(pair) in listed for pair in table.pairs.tolist())


def count_blocks(found: Pairs, table: Genotypes) -> int:
    """How many true pairs have a pair of their linked neighbours, or themselves, among those found.

    Examples
    --------
    >>> block = np.array([0, 0, 1, 1])
    >>> counts, ill, singles = np.zeros((1, 4), np.int8), np.zeros(1, bool), np.array([], int)
    >>> table = Genotypes(counts, ill, np.array([[0, 2]]), singles, block)
    >>> count_pairs(np.array([[3, 1]]), table), count_blocks(np.array([[3, 1]]), table)
    (0, 1)
    """
    listed = {tuple(sorted(pair)) for pair in table.block[found].tolist()}
    return sum(tuple(sorted(pair)) in listed for pair in table.block[table.pairs].tolist())


def count_among_columns(columns: Any, table: Genotypes) -> int:
    """How many true pairs have both SNPs among some columns."""
    return int(np.isin(table.pairs, columns).all(axis=1).sum())


def measure(setting: Setting, kind: str) -> dict[str, Any]:
    """True pairs that the scan, the default selection and SelectRelevant recover."""
    table = draw(setting)
    X = as_table(table.counts, kind)
    start = perf_counter()
    scan = pair_scan(X, table.ill, top=BEST)
    seconds = perf_counter() - start
    selected = SelectBestK(SELECTED, bound=None).fit(X, table.ill).solution_.support
    relevant = SelectRelevant().fit(X, table.ill).get_support(indices=True)
    return {
        "model": setting.model,
        "frequency": setting.frequency,
        "heritability": setting.heritability,
        "seed": setting.seed,
        "linked": setting.linked,
        "columns": kind,
        "true_pairs": PAIRS,
        "in_best_1000": count_pairs(scan.pairs, table),
        "in_first": count_pairs(scan.pairs[:PAIRS], table),
        "linked_in_best_1000": count_blocks(scan.pairs, table),
        "selected": count_among_columns(selected, table),
        "relevant": count_among_columns(relevant, table),
        "relevant_columns": len(relevant),
        "scan_seconds": round(seconds, 3),
    }


def settings(options: argparse.Namespace) -> Iterator[Setting]:
    """All settings, seeds last, so that a part is balanced."""
    chosen = product(range(options.seeds), MODELS, FREQUENCIES, HERITABILITIES)
    for seed, model, frequency, heritability in chosen:
        yield Setting(
            model, frequency, heritability, seed, options.linked, options.snps, options.people
        )


def summarize(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Sums over the tables of each model."""
    names = ["true_pairs", "in_best_1000", "in_first", "linked_in_best_1000", "selected"]
    sums = pd.DataFrame(rows).groupby(["columns", "linked", "model"])[[*names, "relevant"]].sum()
    total = sums.groupby(["columns", "linked"]).sum().assign(model="all")
    return pd.concat([sums, total.set_index("model", append=True)]).sort_index()


def parse() -> argparse.Namespace:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.interactions.genotypes",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--snps", type=int, default=SNPS)
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--linked", action="store_true", help="neighbours are correlated")
    parser.add_argument("--columns", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--out", type=Path, default=RESULTS / "genotypes.csv")
    return parser.parse_args()


def main() -> int:
    """Measure all settings, add them to the record and print the sums."""
    options = parse()
    warnings.simplefilter("ignore")
    machine = vars(describe_machine())
    rows = []
    new = not options.out.exists()
    with options.out.open("a", newline="") as file:
        for setting, kind in product(settings(options), options.columns):
            row = measure(setting, kind)
            rows.append(row)
            writer = csv.DictWriter(file, [*row, *machine], lineterminator="\n")
            if new:
                writer.writeheader()
                new = False
            writer.writerow(row | machine)
            file.flush()
    print(summarize(rows).to_string())
    return 0


if __name__ == "__main__":
    sys.exit(main())
