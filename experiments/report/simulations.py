"""Time and objective on random matrices: Table 1, Figures 2 and 3."""

from typing import Any

import numpy as np

from experiments import figures, published, simulation
from experiments.figures import LABELS
from experiments.report.contents import Contents
from experiments.report.page import Page
from experiments.tables import Grid


def say_scalability(page: Page, contents: Contents) -> None:
    """Table 1 and Figure 2."""
    page.say("## Table 1 and Figure 2: time")
    if not contents.simulated:
        page.say("Not run yet.")
        return
    times, growth = (
        simulation.seconds_by_cell(contents.simulated),
        simulation.growth(contents.simulated),
    )
    printed = published.complexities()
    rows = [[LABELS[name], printed[name], f"n^{growth.get(name, np.nan):.2f}",
             *(_seconds(times, n, name) for n in (100, 500, 1000, 2000, 5000))]
            for name in printed]  # fmt: skip
    head = ["method", "printed", "fitted at k = n/10, n >= 500",
            *(f"s at n = {n}" for n in (100, 500, 1000, 2000, 5000))]  # fmt: skip
    page.table(Grid("Table 1: growth of the time with n", head, rows), "table1")
    page.figure(figures.draw_times(times), "figure2",
                "Figure 2: mean time over the runs of each experiment (n, k)")  # fmt: skip
    own = times.get((1000, 100), {})
    order = ", ".join(LABELS[name] for name in sorted(own, key=lambda n: own[n]) if name in printed)
    page.say(
        f"From the fastest at n = 1000, k = 100: {order or 'not run'}. The paper: Linear, followed "
        "closely by Spectral and TPower. SDP grows "
        "far slower here than the printed n^4.5 of an interior-point solver, and has answers where "
        "the paper ran out of memory (n >= 700): it works on a factor of few columns. LowRank "
        "draws the same number of directions for every n, so its time grows with n, and not as "
        "n^(d+1), which is the number of candidates of the exact algorithm. The paper does not "
        "print its (n, k); these are ours.",
    )


def _seconds(times: Any, n: int, name: str) -> str:
    own = times.get((n, n // 10), {})
    return f"{own[name][0]:.2g}" if name in own else "-"


def say_approximation(page: Page, contents: Contents) -> None:
    """Figure 3."""
    page.say("## Figure 3: objective beside Linear's")
    if not contents.simulated:
        page.say("Not run yet.")
        return
    percent = simulation.above_linear(contents.simulated)
    names = ["spectral", "sdp", "lowrank", "tpower", "search"]
    rows = [[f"({n}, {k})", *(f"{own.get(name, np.nan):.2f}" for name in names)]
            for (n, k), own in percent.items()]  # fmt: skip
    head = ["(n, k)", *(LABELS[name] for name in names)]
    page.table(Grid("Figure 3: percent over Linear's objective", head, rows), "figure3_values")
    page.figure(figures.draw_objectives(percent), "figure3",
                "Figure 3: mean difference of the objective from Linear's, percent")  # fmt: skip
    above = {a: sum(own[a] > max(own[b] for b in ("spectral", "sdp")) for own in percent.values())
             for a in ("tpower", "lowrank")}  # fmt: skip
    best = sum(own["search"] >= max(own.values()) - 1e-9 for own in percent.values())
    page.say(
        "The paper: TPower and LowRank have the largest increase over Linear. Here TPower is above "
        f"Spectral and SDP in {above['tpower']} of {len(percent)} cells, LowRank in "
        f"{above['lowrank']}; our search, given a second, is the best of all in {best}.",
    )
