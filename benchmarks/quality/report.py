"""Tables, figures and the page "What predicts best", from whatever is stored so far."""

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.quality import sentences, tables, times
from benchmarks.quality.comparisons import ranks, tested
from benchmarks.quality.figures import draw_ranks, draw_times
from benchmarks.quality.plan import PART
from benchmarks.quality.results import Results
from benchmarks.quality.sets import HALVES
from experiments.report.page import Page
from experiments.store import Store
from experiments.tables import Grid


@dataclass(frozen=True)
class Report:
    """The page being written, and what it is written from."""

    folder: Path
    page: Page
    results: Results
    seconds: times.Seconds

    def table(self, grid: Grid | None, name: str) -> None:
        """A table on the page, and as CSV and Markdown."""
        if grid is None:
            return
        self.page.parts.append(grid.markdown().rstrip())
        (self.folder / f"{PART}_{name}.md").write_text(grid.markdown())
        with (self.folder / f"{PART}_{name}.csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([grid.head, *grid.rows])


def write_report(folder: Path, page: Path, quick: bool = False) -> None:
    """Write the page, its tables and its figures."""
    results = Results(Store(folder / f"{PART}.jsonl"))
    seconds = times.read(folder / times.FILE)
    report = Report(folder, Page(folder, page), results, seconds)
    report.page.say("# What predicts best")
    if quick:
        report.page.say("**A quick run: few folds of small sets; its numbers are no record.**")
    if not results.sets:
        report.page.say("Not run yet.")
    else:
        for section in SECTIONS:
            section(report)
        write_rows(folder / f"{PART}.csv", results.rows())
    report.page.write()


def say_answer(report: Report) -> None:
    """The answer, and how it was found."""
    report.page.say(
        *sentences.answer(report.results),
        "## How it was measured",
        *sentences.protocol(report.results),
        *sentences.where(report.results, report.folder / times.FILE),
    )


def say_ranks(report: Report) -> None:
    """Mean ranks, all methods together."""
    report.page.say("## All methods, ranked")
    if ranks(report.results, report.results.everywhere) is None:
        report.page.say("There are too few sets or methods to rank.")
        return
    found = tested(report.results, report.results.everywhere)
    parts = {half: ranks(report.results, found.order, report.results.half(half)) for half in HALVES}
    halves = {half: part for half, part in parts.items() if part is not None}
    caption = f"Mean ranks over {found.n_sets} sets"
    report.page.figure(draw_ranks(found, halves, caption), f"{PART}_ranks", caption)
    report.page.say(sentences.tested(found))
    report.table(tables.rank_grid(report.results), "ranks")
    report.page.say(*sentences.missing(report.results))


def say_default(report: Report) -> None:
    """The default against each."""
    if report.results.has_default:
        report.page.say("## The default against each", sentences.HOW_SURE)
        report.table(tables.default_grid(report.results), "default")
        report.table(tables.judge_grid(report.results), "default_judge")
        report.page.say(*sentences.where_it_loses(report.results))


def say_sets(report: Report) -> None:
    """Errors set by set."""
    report.page.say("## Set by set")
    report.table(tables.set_grid(report.results), "sets")


def say_planted(report: Report) -> None:
    """Recall on made-up sets."""
    grid = tables.recall_grid(report.results)
    if grid is not None:
        report.page.say("## Made-up sets: is what matters found?", sentences.PLANTED)
        report.table(grid, "recall")
        report.page.say(*sentences.recall_words(report.results))


def say_stability(report: Report) -> None:
    """Stability and seconds beside error."""
    report.page.say("## Stability and time")
    report.page.say(*sentences.time_words(report.results, report.seconds))
    if report.seconds:
        seconds = {m: v for m in report.results.methods if (v := tables.median(report.seconds, m))}
        error = tables.mean_errors(report.results)
        caption = "Mean error over all sets against the seconds of a selection"
        report.page.figure(draw_times(seconds, error, caption), f"{PART}_times", caption)
    report.table(tables.cost_grid(report.results, report.seconds), "stability")


SECTIONS: tuple[Callable[[Report], None], ...] = (
    say_answer,
    say_ranks,
    say_default,
    say_sets,
    say_planted,
    say_stability,
)


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Rows of equal keys as a file."""
    lines = list(rows)
    if lines:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, lines[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
