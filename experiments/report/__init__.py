"""Write tables, figures and a page of them from the stored results."""

from collections.abc import Callable
from pathlib import Path

from experiments.report import beyond, errors, setting, simulations, summary
from experiments.report.contents import Contents
from experiments.report.page import Page

Section = Callable[[Page, Contents], None]
SECTIONS: tuple[Section, ...] = (
    summary.say_verdict,
    setting.say_how,
    setting.say_sets,
    simulations.say_scalability,
    simulations.say_approximation,
    errors.say_authors,
    errors.say_ablation,
    errors.say_paper,
    errors.say_nested,
    errors.say_curves,
    beyond.say_search,
    beyond.say_ranks,
    beyond.say_objective,
    beyond.say_discretisation,
)


def write_report(folder: Path, page: Path, data: str | None = None, quick: bool = False) -> None:
    """Write tables, figures and the page, of what is stored so far."""
    contents, out = Contents(folder, data), Page(folder, page)
    out.say("# The paper, item by item")
    if quick:
        out.say("**A quick run: fewer k, folds and matrices; its numbers are no record.**")
    for section in SECTIONS:
        section(out, contents)
    out.write()
