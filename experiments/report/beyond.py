"""Beyond the paper: our search, ranks of methods, objective against error, discretisation."""

import numpy as np

from experiments import discretisation, figures
from experiments.classification.curves import methods_with_every_k
from experiments.classification.methods import NAMES
from experiments.classification.protocols import PROTOCOLS
from experiments.figures import LABELS
from experiments.report import comparisons
from experiments.report.contents import Contents
from experiments.report.page import Page
from experiments.statistics import ALPHA, Ranks, rank_treatments
from experiments.tables import Grid


def say_search(page: Page, contents: Contents) -> None:
    """Our own method."""
    page.say("## Beyond the paper: search against all others")
    for protocol in PROTOCOLS:
        if contents.curves(protocol):
            page.table(comparisons.search_grid(contents, protocol))


def say_ranks(page: Page, contents: Contents) -> None:
    """Methods ranked over the sets."""
    page.say("## Beyond the paper: are the methods different at all?")
    for protocol in PROTOCOLS:
        found = _ranked(contents, protocol)
        if found is not None:
            title = PROTOCOLS[protocol].title
            caption = f"Mean ranks over {found.n_sets} real sets, {title}"
            page.figure(figures.draw_ranks(found, caption), f"ranks_{protocol}", caption)
            page.say(_tested(found))


def _ranked(contents: Contents, protocol: str) -> Ranks | None:
    sets = contents.real(protocol)
    methods = methods_with_every_k(sets.values())
    table = [[contents.mean_error(protocol, name, method) for method in methods] for name in sets]
    return rank_treatments(methods, np.array(table)) if len(table) > 1 else None


def _tested(ranks: Ranks) -> str:
    pairs = [f"{LABELS.get(a, a)} and {LABELS.get(b, b)} (p = {p:.3f})"
             for (a, b), p in ranks.wilcoxon.items() if p < ALPHA]  # fmt: skip
    return (
        f"Friedman: chi square {ranks.chi_square:.2f}, p = {ranks.pvalue:.3g}; Iman-Davenport: "
        f"F = {ranks.f_statistic:.2f}, p = {ranks.f_pvalue:.3g}. Bars join what Nemenyi's test at "
        f"{ALPHA:.0%} does not tell apart. Wilcoxon's signed-rank test adjusted by Holm tells "
        f"apart: {', '.join(pairs) or 'no pair'}."
    )


def say_objective(page: Page, contents: Contents) -> None:
    """Whether a better objective means a smaller error."""
    page.say("## Beyond the paper: is a better objective a better choice?")
    chosen = {name: contents.selections(name) for name in contents.curves("paper")}
    names = [m for m in NAMES if m != "sdp" and all(m in found for found in chosen.values())]
    rows, best, cases = [], dict.fromkeys(names, 0), 0
    for name, found in chosen.items():
        values = np.array([found[m]["cmi"] for m in names])
        top = values.max(axis=0)
        cases += values.shape[1]
        for method, own in zip(names, values, strict=True):
            best[method] += int((own >= top * (1 - 1e-9)).sum())
        rows.append([name, *(f"{100 * (v / top).mean():.2f}" for v in values)])
    if not rows:
        page.say("Not run yet.")
        return
    rows.append(["best of all, % of k", *(f"{100 * best[m] / cases:.0f}" for m in names)])
    caption = "Objective x'Qx in percent of the best found, mean over k"
    page.table(Grid(caption, ["data", *(LABELS[m] for m in names)], rows))
    for protocol in PROTOCOLS:
        if errors := contents.mean_errors(protocol):
            told = ", ".join(f"{LABELS[m]} {error:.2f}" for m, error in errors.items())
            page.say(f"Mean error (%) over {len(contents.real(protocol))} real sets, "
                     f"{PROTOCOLS[protocol].title}: {told}.")  # fmt: skip


def say_discretisation(page: Page, contents: Contents) -> None:
    """The study that the paper leaves open."""
    page.say("## Beyond the paper: the effect of discretisation")
    page.say(
        "The paper: *we have not studied the effect of discretization*. Nested protocol, "
        f"{discretisation.FOLDS} folds, k = {', '.join(map(str, discretisation.KS))} where there "
        f"are so many features, methods {', '.join(LABELS[m] for m in discretisation.METHODS)}; "
        "`+ chance` takes from each estimate what random labels would give. Gaussian information "
        "needs no discretiser."
    )
    score = discretisation.mean_errors(contents.discretised)
    found = discretisation.ranks(score)
    if found is None:
        page.say("Not run yet.")
        return
    head = ["data", *discretisation.treatments()]
    rows = [[name, *(f"{own[t]:.2f}" for t in head[1:])] for name, own in score.items()]
    rows.append(["mean rank", *(f"{found.rank(t):.2f}" for t in head[1:])])
    page.table(Grid("Mean error (%) over folds, k and methods", head, rows))
    caption = f"Discretisers ranked over {found.n_sets} sets"
    page.figure(figures.draw_ranks(found, caption), "discretisation", caption)
    page.say(_tested(found))
    lines = []
    for method in discretisation.METHODS:
        ranks = discretisation.ranks(discretisation.mean_errors(contents.discretised, method))
        lines.append(
            [LABELS[method], *(f"{ranks.rank(t):.2f}" for t in head[1:]), f"{ranks.pvalue:.2g}"]
        )
    page.table(Grid("Mean ranks by method, and Friedman's p", ["method", *head[1:], "p"], lines))
