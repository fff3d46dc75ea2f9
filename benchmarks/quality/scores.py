"""Finished cells as tables of numbers: losses by set and way, noise, recall, stability, time."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata, wilcoxon

from benchmarks.quality.judge import MODELS
from benchmarks.quality.sets import LINES, line_of
from benchmarks.quality.ways import DEFAULT, NAMES, SLOW
from experiments.statistics import holm

Row = dict[str, Any]

TIE = 1e-9  # losses that differ by less are equal
EXACT = 9  # decimals; further ones depend on the order of sums
WORST_R2 = -1.0  # a model that fails is as bad as one that predicts badly
FOLD = ["set", "repeat", "fold"]
ABOUT = (
    *FOLD, "source", "half", "family", "kind", "few_rows", "columns", "way", "seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Versus:
    """The default against another way over sets."""

    other: str
    wins: int
    ties: int
    losses: int

    difference: float
    """Mean difference of the loss, negative if the default is better."""

    pvalue: float
    """Of Wilcoxon's test, adjusted by Holm."""


@dataclass(frozen=True)
class Scores:
    """All cells of some sets, one line for each set, fold, way, k and model."""

    cells: pd.DataFrame

    @classmethod
    def of(cls, rows: Iterable[Row]) -> "Scores":
        """Cells of all rows that did not fail."""
        lines = [line for row in rows if "failed" not in row for line in _lines(row)]
        return cls(pd.DataFrame(lines))

    def where(self, keep: Callable[[pd.DataFrame], Any]) -> "Scores":
        """The cells of a part of the sets."""
        return Scores(self.cells[keep(self.cells)])

    @cached_property
    def ways(self) -> list[str]:
        """Ways with a score on every set, in order."""
        n_sets = self.cells["set"].nunique()
        sets_of_way = self.cells.groupby("way")["set"].nunique()
        finished = [way for way in NAMES if sets_of_way.get(way, 0) == n_sets]
        quick = [way for way in finished if way not in SLOW]
        return quick or finished

    @cached_property
    def complete(self) -> pd.DataFrame:
        """Cells of folds that every such way has finished, so that means compare like with like."""
        ranked = self.cells[self.cells["way"].isin(self.ways)]
        ways_of_fold = ranked.groupby(FOLD)["way"].transform("nunique")
        return ranked[ways_of_fold == len(self.ways)]

    def losses(self, measure: str = "loss") -> pd.DataFrame:
        """Mean loss over folds, k and models, by set (rows) and way (columns)."""
        return self.complete.pivot_table(measure, "set", "way", dropna=False)[self.ways]

    def ranks_by_set(self, measure: str = "loss") -> pd.DataFrame:
        """The rank of each way (columns) on each set (rows), 1 for the best."""
        losses = self.losses(measure).dropna().round(EXACT)
        return pd.DataFrame(rankdata(losses, axis=1), losses.index, losses.columns)

    def ranks(self, measure: str = "loss") -> pd.Series:
        """Mean rank of each way over the sets."""
        return self.ranks_by_set(measure).mean().sort_values()

    def ranks_by_line(self, measure: str = "loss") -> pd.DataFrame:
        """Mean rank of each way (rows) over the real sets of each kind of table (columns).

        Ordinary tables are many and wide ones few, so the headline is the mean over the columns,
        in which each kind counts alike.
        """
        ranks = self.ranks_by_set(measure)
        sources = self.cells.groupby("set")["source"].first()
        lines = [line_of(name, sources[name]) for name in ranks.index]
        by_line = ranks.groupby(lines).mean().T
        return by_line[[line for line in LINES if line in by_line]]

    def against_each(self, measure: str = "loss", way: str = DEFAULT) -> list[Versus]:
        """A way against every other one, on the sets and folds that both finished."""
        present = set(self.cells["way"])
        others = [other for other in NAMES if other in present and other != way]
        differences = [self._differences(way, other, measure) for other in others]
        raw = [float(wilcoxon(d).pvalue) if np.any(d) else 1.0 for d in differences]
        return [
            Versus(
                other,
                wins=int((difference < -TIE).sum()),
                ties=int((np.abs(difference) <= TIE).sum()),
                losses=int((difference > TIE).sum()),
                difference=float(difference.mean()),
                pvalue=pvalue,
            )
            for other, difference, pvalue in zip(others, differences, holm(raw), strict=True)
        ]

    def _differences(self, way: str, other: str, measure: str) -> Any:
        """The loss of a way less that of another, for each set that both finished."""
        pair = self.cells[self.cells["way"].isin([way, other])]
        both = pair[pair.groupby(FOLD)["way"].transform("nunique") == 2]
        losses = both.pivot_table(measure, "set", "way").dropna().round(EXACT)
        return (losses[way] - losses[other]).to_numpy()

    @cached_property
    def _by_cell(self) -> pd.DataFrame:
        """Mean score by family, k and model (rows) and way (columns)."""
        return self.complete.pivot_table("score", ["family", "k", "model"], "way")

    def behind_best(self) -> pd.DataFrame:
        """Score of the default and of the best way by family, k and model, and its lag."""
        table = self._by_cell
        best = table.max(axis=1)
        columns = {
            "default": table[DEFAULT],
            "best": best,
            "way": table.idxmax(axis=1),
            "behind": best - table[DEFAULT],
        }
        return pd.DataFrame(columns).reset_index()

    def lags(self) -> pd.DataFrame:
        """How far each way is behind the best one, by family, k and model."""
        return self._by_cell.rsub(self._by_cell.max(axis=1), axis=0)

    def lags_of(self, scores: pd.Series) -> pd.Series:
        """How far other scores, by family, k and model, are behind the best way."""
        lag = self._by_cell.max(axis=1) - scores.reindex(self._by_cell.index)
        lag.attrs["ways"] = self._by_cell.shape[1]
        return lag

    def by_family(self, measure: str, k: int | None = None) -> pd.DataFrame:
        """Mean noise share or recall by family (rows) and way (columns)."""
        cells = self.complete if k is None else self.complete[self.complete["k"] == k]
        return cells.pivot_table(measure, "family", "way")[self.ways]

    def noise_by_k(self) -> pd.DataFrame:
        """Mean noise share by way (rows) and k (columns)."""
        return self.complete.pivot_table("noise", "way", "k")

    def seconds(self) -> pd.DataFrame:
        """Median seconds of a fold by set and way; the first fold of a process loads."""
        return self.cells.pivot_table("seconds", "set", "way", aggfunc="median")


def _lines(row: Row) -> Iterator[Row]:
    """One line for each k and model of a cell."""
    about = {name: row[name] for name in ABOUT}
    for k, scores in row["ks"].items():
        known = {"k": int(k), "noise": scores.get("noise"), "recall": scores.get("recall")}
        for model in MODELS:
            if model in scores:
                yield about | known | {"model": model} | _measures(scores[model])


def _measures(scores: dict[str, float]) -> dict[str, float]:
    """Error rate or 1 - R2 as the loss; AUC, or R2, or minus the log loss as the score."""
    if "r2" in scores:
        r2 = max(scores["r2"], WORST_R2)
        return {"loss": 1 - r2, "loss2": 1 - r2, "score": r2}
    second = 1 - scores["auc"] if "auc" in scores else scores["log_loss"]
    return {"loss": scores["error"], "loss2": second, "score": scores.get("auc", -second)}


def stability(rows: Sequence[Row]) -> pd.DataFrame:
    """Nogueira's index over the folds of a set, mean over k, by set and way."""
    from bestk.evaluation import stability as index

    selections: dict[tuple[str, str, str, int], list[list[int]]] = defaultdict(list)
    for row in rows:
        for k, scores in row.get("ks", {}).items():
            key = (row["set"], row["way"], k, row["columns"])
            selections[key].append(scores["selected"])
    lines = [
        {"set": name, "way": way, "index": index(of_folds, columns)}
        for (name, way, _, columns), of_folds in selections.items()
        if len(of_folds) > 1
    ]
    table = pd.DataFrame(lines, columns=["set", "way", "index"])
    return table.pivot_table("index", "set", "way")
