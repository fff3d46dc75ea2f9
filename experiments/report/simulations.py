"""Time and objective on random matrices: Table 1, Figures 2 and 3, and forms of LowRank."""

from collections import Counter

import numpy as np

from experiments import figures, published, simulation
from experiments.classification.methods import LARGE
from experiments.figures import SOLVER_LABELS
from experiments.report.contents import Contents
from experiments.report.page import Page
from experiments.tables import Grid

SIZES = (100, 500, 1000, 2000, 5000)
SHOWN = (1000, 100)  # n and k of the order of the solvers


def say_scalability(page: Page, contents: Contents) -> None:
    """Table 1 and Figure 2."""
    page.say("## Table 1 and Figure 2: time")
    rows = contents.simulated
    if not rows:
        page.say("Not run yet.")
        return
    times, printed = simulation.seconds_by_cell(rows), published.complexities()
    growth, local = simulation.growth(rows), simulation.local_growth(rows)
    lines = [[SOLVER_LABELS[name], printed[name], f"n^{growth.get(name, np.nan):.2f}",
              f"n^{local.get(name, np.nan):.2f}",
              *(f"{times[n, n // 10][name]:.3g}" if name in times.get((n, n // 10), {}) else "-"
                for n in SIZES)]
             for name in printed]  # fmt: skip
    head = ["method", "printed", f"fitted at k = n/10, n >= {simulation.GROWTH_FROM}",
            "the same, the last two n", *(f"s at n = {n}" for n in SIZES)]  # fmt: skip
    page.table(Grid("Table 1: growth of the time with n (medians)", head, lines))
    page.figure(figures.draw_times(times), "figure2",
                "Figure 2: median time over the runs of each experiment (n, k)")  # fmt: skip
    runs = Counter((row.n, row.k) for row in rows if row.solver == "linear")
    by_runs = {count: [cell for cell in runs if runs[cell] == count] for count in runs.values()}
    told = "; ".join(f"{count} runs: {', '.join(f'({n}, {k})' for n, k in cells)}"
                     for count, cells in by_runs.items())  # fmt: skip
    page.say(
        f"From the fastest at n = {SHOWN[0]}, k = {SHOWN[1]}: "
        f"{', '.join(fastest(contents)) or 'not run'}. The paper: Linear, followed closely by "
        "Spectral and TPower. SDP works on a factor of few columns, not by the interior-point "
        f"method of the paper, and has answers where that ran out of memory (n >= {LARGE}). "
        f"{simulation.describe_width()} "
        "LowRank draws the same number of directions for every n, so "
        "that its time does not grow as n^(d+1), which is the number of candidates of the exact "
        "algorithm. The paper does not print its (n, k); these are ours.",
        f"{told}. {simulation.describe_runs(contents.folder)}",
    )


def fastest(contents: Contents) -> list[str]:
    """Methods of the paper, from the fastest at n and k that are shown."""
    own = simulation.seconds_by_cell(contents.simulated).get(SHOWN, {})
    names = [name for name in own if name in published.complexities()]
    return [SOLVER_LABELS[name] for name in sorted(names, key=own.__getitem__)]


def say_approximation(page: Page, contents: Contents) -> None:
    """Figure 3."""
    page.say("## Figure 3: objective beside Linear's")
    if not contents.simulated:
        page.say("Not run yet.")
        return
    found = percent(contents)
    names = ["spectral", "sdp", "lowrank", "tpower", "search"]
    rows = [[f"({n}, {k})", *(f"{own.get(name, np.nan):.2f}" for name in names)]
            for (n, k), own in found.items()]  # fmt: skip
    head = ["(n, k)", *(SOLVER_LABELS[name] for name in names)]
    page.table(Grid("Figure 3: percent over Linear's objective", head, rows))
    page.figure(figures.draw_objectives(found), "figure3",
                "Figure 3: mean difference of the objective from Linear's, percent")  # fmt: skip
    above = above_others(contents)
    best = sum(own["search"] >= max(own.values()) - 1e-9 for own in found.values())
    page.say(
        "The paper: TPower and LowRank have the largest increase over Linear. Here TPower is above "
        f"Spectral and SDP in {above['tpower']} of {len(found)} cells, LowRank in "
        f"{above['lowrank']}; our search, given {simulation.SECOND:g} s, is the best of all in "
        f"{best}.",
    )
    _say_forms(page, contents)


def percent(contents: Contents) -> dict[tuple[int, int], dict[str, float]]:
    """Figure 3: by cell and solver, the percentage by which its objective exceeds Linear's."""
    return simulation.above_linear(contents.simulated)


def above_others(contents: Contents) -> dict[str, int]:
    """In how many cells of Figure 3 TPower and LowRank are above Spectral and SDP."""
    cells = percent(contents).values()
    return {name: sum(own[name] > max(own["spectral"], own["sdp"]) for own in cells)
            for name in ("tpower", "lowrank")}  # fmt: skip


def _say_forms(page: Page, contents: Contents) -> None:
    """LowRank as published, exact, and scored on Q, where the optimum is known."""
    found = simulation.read_file(contents.folder / simulation.FORMS_FILE)
    if not found:
        return
    page.say("### LowRank: the exact Spannogram, random draws, and scores on Q itself")
    cells = sorted({(row["d"], row["n"], row["k"]) for row in found})
    lines = []
    for d, n, k in cells:
        own = [row for row in found if (row["d"], row["n"], row["k"]) == (d, n, k)]
        lines.append(
            [
                f"{d:g}",
                f"({n:g}, {k:g})",
                str(len(own)),
                *(
                    f"{100 * np.mean([r[form] / r['optimum'] for r in own]):.2f}"
                    for form in simulation.FORMS
                ),
                str(sum(r["published"] >= r["spannogram"] * (1 - 1e-9) for r in own)),
            ]
        )
    head = ["rank", "(n, k)", "matrices", *simulation.FORMS.values(), "draws find no less"]
    caption = f"Objective in percent of the optimum (commit {found[0]['commit']})"
    page.table(Grid(caption, head, lines))
    loses = 100 * np.mean([(r["published"] - r["spannogram"]) / r["optimum"] for r in found])
    gains = 100 * np.mean([(r["scored"] - r["spannogram"]) / r["optimum"] for r in found])
    page.say(
        f"Against the exact Spannogram, drawing directions changes the objective by {loses:+.2f}% "
        f"of the optimum on average, and scoring the choices on Q itself by {gains:+.2f}%: the "
        "approximation of Q by few eigenvectors costs more than the draws do."
        if gains > abs(loses)
        else f"Against the exact Spannogram, drawing directions changes the objective by "
        f"{loses:+.2f}% of the optimum on average, and scoring on Q itself by {gains:+.2f}%."
    )
