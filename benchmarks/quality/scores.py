"""Finished cells as tables of numbers: losses by set and way, noise, recall, stability, time."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata, wilcoxon

from benchmarks.quality.judge import MODELS
from benchmarks.quality.ways import DEFAULT, NAMES, SLOW
from experiments.statistics import holm

Row = dict[str, Any]
TIE = 1e-9
EXACT = 9  # decimals; further ones depend on the order of sums
ABOUT = ("set", "source", "half", "family", "kind", "few_rows", "columns", "repeat", "fold", "way",
         "seconds")  # fmt: skip
WORST_R2 = -1.0  # a model that fails is as bad as one that predicts badly


@dataclass(frozen=True)
class Versus:
    """The default against another way over sets."""

    other: str
    wins: int
    ties: int
    losses: int
    difference: float  # mean difference of the loss, negative if the default is better
    pvalue: float  # Wilcoxon, adjusted by Holm


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
        found = self.cells.groupby("way")["set"].nunique()
        ranked = [way for way in NAMES if found.get(way, 0) == self.cells["set"].nunique()]
        return [way for way in ranked if way not in SLOW] or ranked

    @cached_property
    def complete(self) -> pd.DataFrame:
        """Cells of folds that every such way has finished, so that means compare like with like."""
        own = self.cells[self.cells["way"].isin(self.ways)]
        place = ["set", "repeat", "fold"]
        return own[own.groupby(place)["way"].transform("nunique") == len(self.ways)]

    def losses(self, measure: str = "loss") -> pd.DataFrame:
        """Mean loss over folds, k and models, by set (rows) and way (columns)."""
        return self.complete.pivot_table(measure, "set", "way", dropna=False)[self.ways]

    def ranks(self, measure: str = "loss") -> pd.Series:
        """Mean rank of each way over the sets, 1 for the best."""
        table = self.losses(measure).dropna().round(EXACT)
        return pd.Series(rankdata(table, axis=1).mean(axis=0), table.columns).sort_values()

    def against_each(self, measure: str = "loss") -> list[Versus]:
        """The default against every other way, on the sets and folds that both finished."""
        pairs = {way: self._differences(way, measure) for way in self._others()}
        raw = [float(wilcoxon(d).pvalue) if np.any(d) else 1.0 for d in pairs.values()]
        return [
            Versus(way, int((d < -TIE).sum()), int((np.abs(d) <= TIE).sum()),
                   int((d > TIE).sum()), float(d.mean()), pvalue)
            for (way, d), pvalue in zip(pairs.items(), holm(raw), strict=True)
        ]  # fmt: skip

    def _others(self) -> list[str]:
        present = set(self.cells["way"])
        return [way for way in NAMES if way in present and way != DEFAULT]

    def _differences(self, way: str, measure: str) -> Any:
        place = ["set", "repeat", "fold"]
        pair = self.cells[self.cells["way"].isin([DEFAULT, way])]
        both = pair[pair.groupby(place)["way"].transform("nunique") == 2]
        table = both.pivot_table(measure, "set", "way").dropna().round(EXACT)
        return (table[DEFAULT] - table[way]).to_numpy()

    @cached_property
    def _by_cell(self) -> pd.DataFrame:
        """Mean score by family, k and model (rows) and way (columns)."""
        return self.complete.pivot_table("score", ["family", "k", "model"], "way")

    def behind_best(self) -> pd.DataFrame:
        """Score of the default and of the best way by family, k and model, and its lag."""
        table = self._by_cell
        best = table.max(axis=1)
        return pd.DataFrame({"default": table[DEFAULT], "best": best, "way": table.idxmax(axis=1),
                             "behind": best - table[DEFAULT]}).reset_index()  # fmt: skip

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
        own = self.complete if k is None else self.complete[self.complete["k"] == k]
        return own.pivot_table(measure, "family", "way")[self.ways]

    def noise_by_k(self) -> pd.DataFrame:
        """Mean noise share by way (rows) and k (columns)."""
        return self.complete.pivot_table("noise", "way", "k")

    def seconds(self) -> pd.DataFrame:
        """Median seconds of a fold by set and way; the first fold of a process loads."""
        return self.cells.pivot_table("seconds", "set", "way", aggfunc="median")


def _lines(row: Row) -> Iterable[Row]:
    """One line for each k and model of a cell."""
    about = {name: row[name] for name in ABOUT}
    for k, found in row["ks"].items():
        own = about | {"k": int(k), "noise": found.get("noise"), "recall": found.get("recall")}
        for model in MODELS:
            if model in found:
                yield own | {"model": model} | _measures(found[model])


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
        for k, found in row.get("ks", {}).items():
            selections[row["set"], row["way"], k, row["columns"]].append(found["selected"])
    lines = [{"set": name, "way": way, "index": index(each, columns)}
             for (name, way, _, columns), each in selections.items() if len(each) > 1]  # fmt: skip
    return pd.DataFrame(lines, columns=["set", "way", "index"]).pivot_table("index", "set", "way")
