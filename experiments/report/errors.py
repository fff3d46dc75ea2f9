"""Errors of the selected features: Tables 3 and 4, Figure 4, and the protocols."""

from typing import Any

import numpy as np

from bestk.evaluation import stability
from experiments import figures
from experiments.classification.methods import NAMES
from experiments.classification.plan import PART
from experiments.classification.protocols import PROTOCOLS
from experiments.classification.steps import LEAVE_ONE_OUT, SHOWN, unpack
from experiments.datasets import DATASETS
from experiments.figures import LABELS
from experiments.report import comparisons
from experiments.report.contents import Contents
from experiments.report.page import Page
from experiments.tables import Grid
from experiments.verdicts import agreement

SHOWCASE = ("colon", "gisette", "gisette_like", "musk2")  # the sets of Figure 4


def say_authors(page: Page, contents: Contents) -> None:
    """Tables 3 and 4 by the authors' pipeline."""
    page.say(
        "## Tables 3 and 4: classification, the authors' pipeline",
        "A cell is our mean over k of the difference of mean errors (%, negative: TPower or "
        "LowRank is better), its deviation over k, our verdict, and in brackets what is printed. "
        "Wins, ties and losses are counted over the real sets that have both.",
    )
    _say_tables(page, contents, "authors")
    if not contents.curves("authors"):
        return
    page.table(comparisons.agreement_grid(contents))
    page.table(comparisons.set_grid(contents))
    found = agreement(contents.real("authors"))
    page.say(
        f"Of {found.cells} printed cells, {found.half} exceed half their deviation; "
        f"{found.half_same} of these ({100 * found.half_same / max(1, found.half):.0f}%) have the "
        f"printed sign here. {comparisons.correlation_words(contents)} By the rule of the text "
        "most cells are ties, since most k are: the printed letters are ours in "
        f"{found.same_verdict} cells by that rule, in {found.same_leaning} by the leaning.",
    )
    _say_repeated(page, contents)


def _say_tables(page: Page, contents: Contents, protocol: str) -> None:
    if not contents.curves(protocol):
        page.say("Not run yet.")
        return
    for table in ("table3", "table4"):
        page.table(comparisons.grid(contents, table, protocol))
    if told := comparisons.forms(contents.curves(protocol)):
        page.say(told)


def _say_repeated(page: Page, contents: Contents) -> None:
    """Folds by several seeds."""
    page.say("### Other folds")
    if not contents.repeated[0]:
        page.say("Not run yet.")
        return
    page.table(comparisons.repeated_grid(contents))
    cells = comparisons.repeated_cells(contents)
    inside = sum(abs(mean - cell.theirs.difference) <= wide for cell, mean, wide in cells)
    crossing = sum(abs(mean) <= wide for _, mean, wide in cells)
    page.say(
        f"Over {len(contents.repeated)} seeds, {comparisons.few_ks()}, "
        f"{len(contents.repeated[0])} sets of more than {LEAVE_ONE_OUT} rows, both tables: "
        f"{crossing} of {len(cells)} intervals "
        f"contain zero, and {inside} contain the printed value. An interval is that of our mean "
        "over the seeds; the printed value has the noise of its own folds."
    )


def say_ablation(page: Page, contents: Contents) -> None:
    """Which choice of the pipeline moves which cell."""
    page.say("## Which choice moves which cell")
    found = comparisons.ablations(contents)
    if not found:
        page.say("Not run yet.")
        return
    page.say(
        "The authors' pipeline on the sets of three states, with one choice changed at a time; "
        f"leave-one-out, {comparisons.few_ks()}."
    )
    page.table(comparisons.ablation_grid(found))
    distances = {words: agreement(curves).apart for words, curves in found.items()}
    base = distances.pop("nothing")
    worst = max(distances, key=distances.__getitem__)
    page.say(
        f"With nothing changed the median distance from the printed cells is {base:.2f} points. "
        f"It is largest, {distances[worst]:.2f}, with: {worst}. Largest change of a cell of Table "
        f"3 against MaxRel, MRMR or JMI: {comparisons.largest_moves(found)}."
    )


def say_paper(page: Page, contents: Contents) -> None:
    """Tables 3 and 4 as the text reads."""
    page.say("## Tables 3 and 4: the text as it reads")
    _say_tables(page, contents, "paper")


def say_nested(page: Page, contents: Contents) -> None:
    """The nested protocol and how much it differs."""
    page.say("## The nested protocol, and what the others hide")
    both = [name for name in contents.curves("nested") if name in contents.curves("paper")]
    _say_tables(page, contents, "nested")
    if not both:
        return
    methods = _common(contents, both)
    optimism = {name: {m: contents.mean_error("nested", name, m)
                       - contents.mean_error("paper", name, m) for m in methods}
                for name in both}  # fmt: skip
    rows = [[name,
             *(f"{np.mean([contents.mean_error(p, name, m) for m in methods]):.2f}"
               for p in ("paper", "nested")),
             *(f"{value:+.2f}" for value in optimism[name].values())]
            for name in both]  # fmt: skip
    head = ["data", "paper", "nested", *(LABELS[m] for m in methods)]
    page.table(Grid("Mean error (%) over k and methods by protocol; `nested` less `paper`, by "
                    "method", head, rows))  # fmt: skip
    caption = "Growth of the mean error when the test rows are kept from the selection"
    page.figure(figures.draw_optimism(optimism), "optimism", caption)
    few = {True: list[float](), False: list[float]()}  # by whether there are 100 rows or fewer
    for name, own in optimism.items():
        if not DATASETS[name].stands_in_for:
            few[DATASETS[name].m <= LEAVE_ONE_OUT].append(float(np.mean(list(own.values()))))
    page.say(
        "When the selection does not see the test rows, the error of the real sets grows by "
        f"{_mean(few[True] + few[False])} points on average: by {_mean(few[True])} on those of "
        f"{LEAVE_ONE_OUT} rows or fewer, by {_mean(few[False])} on the others."
    )
    _say_stability(page, contents, both, methods)


def _common(contents: Contents, names: list[str]) -> list[str]:
    """Methods, without SDP, that both protocols have on these sets."""
    return [method for method in NAMES if method != "sdp"
            and all(method in contents.curves(p)[name] for p in ("paper", "nested")
                    for name in names)]  # fmt: skip


def _say_stability(page: Page, contents: Contents, names: list[str], methods: list[str]) -> None:
    rows = []
    for name in names:
        selections: dict[str, list[Any]] = {method: [] for method in methods}
        for _, result in contents.store.under(PART, name, "nested", "folds"):
            for method in methods:
                if method in result["ks"]:
                    ks = [k for k in SHOWN if k in result["ks"][method]]
                    selections[method].append(unpack(result["supports"][method], ks)[0])
        if all(len(own) > 1 for own in selections.values()):
            n = DATASETS[name].n
            rows.append([name, *(f"{stability(own, n):.2f}" for own in selections.values())])
    head = ["data", *(LABELS[method] for method in methods)]
    page.table(Grid(f"Stability of the {SHOWN[0]} features selected inside the folds", head, rows))
    page.say("Stability is the index of Nogueira et al.: 1 where every fold selects the same.")


def say_curves(page: Page, contents: Contents) -> None:
    """Figure 4, and all sets."""
    page.say("## Figure 4: error against k")
    for protocol in ("authors", "nested"):
        own = contents.curves(protocol)
        chosen = {name: own[name] for name in SHOWCASE if name in own}
        if chosen:
            caption = f"Figure 4: error against k, {PROTOCOLS[protocol].title}"
            page.figure(figures.draw_curves(chosen, caption), f"figure4_{protocol}", caption)
    page.say(
        "The paper shows Colon, Gisette and Musk2, greedy methods above and global ones below; "
        "`gisette_like` is not Gisette."
    )
    every = {name: {p: contents.curves(p)[name] for p in PROTOCOLS if name in contents.curves(p)}
             for name in contents.curves("nested")}  # fmt: skip
    if every:
        caption = "Error against k on every set: authors' pipeline (solid), nested (dashed)"
        page.figure(figures.draw_all(every), "curves", caption)


def _mean(values: list[float]) -> str:
    return f"{np.mean(values):.2f}" if values else "-"
