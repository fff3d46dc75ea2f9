"""Compare our tables with those of the paper."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from scipy.stats import spearmanr

from bestk.evaluation import Comparison
from experiments import published
from experiments.classification.curves import Curves, compare
from experiments.datasets import DATASETS
from experiments.published import Cell

ByName = dict[str, Curves]  # curves of each data set


@dataclass(frozen=True)
class Beside:
    """One cell: what the paper has, and what is found here."""

    name: str
    ours: str
    other: str
    theirs: Cell | None
    found: Comparison | None

    @property
    def is_real(self) -> bool:
        """Whether the data set is the paper's own, not a stand-in."""
        return DATASETS[self.name].stands_in_for is None

    @property
    def counts(self) -> bool:
        """Whether it is a cell in which the paper has a clear difference, and we have one."""
        known = self.theirs is not None and self.found is not None
        return self.is_real and known and self.theirs.is_clear

    @property
    def same_sign(self) -> bool:
        """Whether both differences have one sign."""
        return self.theirs.difference * self.found.mean_difference > 0

    @property
    def is_ours_clear(self) -> bool:
        """Whether our difference exceeds its deviation, too."""
        return abs(self.found.mean_difference) > self.found.deviation


def beside(table: str, curves: ByName) -> list[Beside]:
    """All cells of ``table3`` or ``table4``."""
    printed = published.comparison(table)
    cells = []
    for name, own in curves.items():
        row = printed.rows[DATASETS[name].stands_in_for or name]
        for other in printed.others:
            found = compare(own, printed.ours, other)
            cells.append(Beside(name, printed.ours, other, row[other], found))
    return cells


def once(curves: ByName) -> Iterator[Beside]:
    """The cells of both tables, TPower against LowRank only once."""
    yield from beside("table3", curves)
    yield from (cell for cell in beside("table4", curves) if cell.other != "tpower")


def shown(found: Comparison | None, decision: str = "verdict") -> str:
    """A cell as the paper prints it."""
    if found is None:
        return "N/A"
    letter = getattr(found, decision)[0]
    return f"{100 * found.mean_difference:+.2f} ± {100 * found.deviation:.1f} {letter}"


def totals(found: list[Comparison | None], decision: str = "verdict") -> str:
    """Wins, ties and losses of a column."""
    counts = Counter(getattr(each, decision) for each in found if each is not None)
    return f"{counts['win']}/{counts['tie']}/{counts['loss']}"


@dataclass(frozen=True)
class Agreement:
    """How often signs agree, where the paper's difference exceeds its deviation."""

    cells: int
    same: int
    opposed: int  # the other sign, and clearly so
    decided: int  # cells of any size that both have
    same_of_all: int  # signs that agree among them
    correlation: float  # Spearman's, of the two differences over them
    same_verdict: int
    same_leaning: int


def agreement(curves: ByName) -> Agreement:
    """Counted over Tables 3 and 4, real data sets only."""
    cells = list(once(curves))
    clear = [cell for cell in cells if cell.counts]
    both = [cell for cell in cells if cell.is_real and cell.theirs and cell.found]
    return Agreement(
        len(clear),
        sum(cell.same_sign for cell in clear),
        sum(not cell.same_sign and cell.is_ours_clear for cell in clear),
        len(both),
        sum(cell.same_sign for cell in both),
        _correlation(both),
        sum(cell.theirs.decision == cell.found.verdict for cell in both),
        sum(cell.theirs.decision == cell.found.leaning for cell in both),
    )


def _correlation(cells: list[Beside]) -> float:
    theirs = [cell.theirs.difference for cell in cells]
    ours = [cell.found.mean_difference for cell in cells]
    spread = len(set(theirs)) > 1 and len(set(ours)) > 1
    return float(spearmanr(theirs, ours).statistic) if spread else float("nan")
