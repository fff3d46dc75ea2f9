"""Compare our tables with those of the paper."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import spearmanr

from experiments import published
from experiments.classification.curves import Curves, compare
from experiments.comparison import Comparison
from experiments.datasets import DATASETS
from experiments.published import Cell

ByName = dict[str, Curves]  # curves of each data set
# What the tables of LowRank show: one vector of the best pair on the matrix of low rank, as the
# text has it, selects features on colon that no printed cell allows.
SCORED, BEST_PAIR = "lowrank-scored", "lowrank"


@dataclass(frozen=True)
class Beside:
    """One cell: what the paper has, and what is found here."""

    name: str
    other: str
    theirs: Cell | None
    found: Comparison | None

    @property
    def is_real(self) -> bool:
        """Whether the data set is the paper's own, not a stand-in."""
        return DATASETS[self.name].stands_in_for is None

    @property
    def counts(self) -> bool:
        """Whether it is a cell of a real set that the paper has, and we have."""
        return self.is_real and self.theirs is not None and self.found is not None

    @property
    def same_sign(self) -> bool:
        """Whether both differences have one sign."""
        return self.theirs.difference * self.found.mean_difference > 0

    @property
    def apart(self) -> float:
        """Points between our difference and the printed one."""
        return abs(100 * self.found.mean_difference - self.theirs.difference)


def form(curves: Curves, method: str) -> str:
    """The method that a name of the paper stands for; TPower with a warm start if only that ran."""
    if method == "lowrank":
        return SCORED
    return "tpower-warm" if method == "tpower" and method not in curves else method


def beside(table: str, curves: ByName) -> list[Beside]:
    """All cells of ``table3`` or ``table4``."""
    printed = published.comparison(table)
    cells = []
    for name, own in curves.items():
        row = printed.rows[DATASETS[name].stands_in_for or name]
        for other in printed.others:
            found = compare(own, form(own, printed.ours), form(own, other))
            cells.append(Beside(name, other, row[other], found))
    return cells


def once(curves: ByName) -> Iterator[Beside]:
    """The cells of both tables that count, TPower against LowRank only once."""
    cells = [*beside("table3", curves),
             *(cell for cell in beside("table4", curves) if cell.other != "tpower")]  # fmt: skip
    yield from (cell for cell in cells if cell.counts)


def shown(found: Comparison | None, decision: str = "verdict") -> str:
    """A cell as the paper prints it; without a deviation where there is one k only."""
    if found is None:
        return "N/A"
    letter, deviation = getattr(found, decision)[0], 100 * found.deviation
    spread = f" ± {deviation:.1f}" if np.isfinite(deviation) else ""
    return f"{100 * found.mean_difference:+.2f}{spread} {letter}"


def totals(decisions: Iterable[str]) -> str:
    """Wins, ties and losses."""
    counts = Counter(decisions)
    return f"{counts['win']}/{counts['tie']}/{counts['loss']}"


@dataclass(frozen=True)
class Agreement:
    """How the cells of Tables 3 and 4 compare with the printed ones, real data sets only."""

    cells: int
    correlation: float  # Spearman's, of the two differences
    half: int  # cells whose printed difference exceeds half its deviation
    half_same: int  # of these, with the printed sign
    clear: int  # cells whose printed difference exceeds its deviation
    clear_same: int
    same_verdict: int
    same_leaning: int
    apart: float  # median of the points between ours and the printed


def agreement(curves: ByName) -> Agreement:
    """Counted over both tables."""
    cells = list(once(curves))
    half = [cell for cell in cells if cell.theirs.exceeds(0.5)]
    clear = [cell for cell in cells if cell.theirs.exceeds(1.0)]
    return Agreement(
        len(cells),
        correlation(cells),
        len(half),
        sum(cell.same_sign for cell in half),
        len(clear),
        sum(cell.same_sign for cell in clear),
        sum(cell.theirs.decision == cell.found.verdict for cell in cells),
        sum(cell.theirs.decision == cell.found.leaning for cell in cells),
        float(np.median([cell.apart for cell in cells])) if cells else np.nan,
    )


def correlation(cells: list[Beside]) -> float:
    """Spearman's, of our differences and the printed ones."""
    return rank_correlation([cell.theirs.difference for cell in cells], differences(cells))


def differences(cells: Iterable[Beside]) -> list[float]:
    """Ours, in points."""
    return [100 * cell.found.mean_difference for cell in cells]


def rank_correlation(first: list[float], second: list[float]) -> float:
    """Spearman's; NaN where one of the two does not vary."""
    spread = len(set(first)) > 1 and len(set(second)) > 1
    return float(spearmanr(first, second).statistic) if spread else float("nan")


def between_seeds(by_seed: list[ByName]) -> float:
    """Mean rank correlation of the same cells between two cuts into folds: noise leaves no more."""
    own = [differences(once(curves)) for curves in by_seed]
    return float(np.mean([rank_correlation(a, b) for a, b in combinations(own, 2)]))
