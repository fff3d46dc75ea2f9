"""The verdict: which claims of the paper hold, and on what they depend."""

from experiments import published
from experiments.classification.curves import Curves, compare
from experiments.classification.protocols import PROTOCOLS
from experiments.classification.steps import LEAVE_ONE_OUT
from experiments.datasets import DATASETS
from experiments.figures import LABELS
from experiments.report import comparisons, setting, simulations
from experiments.report.contents import Contents
from experiments.report.page import Page
from experiments.verdicts import agreement, beside, form

OTHERS = ("maxrel", "mrmr", "jmi", "qpfs", "spectral", "sdp")


def say_verdict(page: Page, contents: Contents) -> None:
    """The verdict, every number from the rows."""
    page.say(
        "Every table and figure of H. Venkateswara, P. Lade, B. Lin, J. Ye, S. Panchanathan, "
        '"Efficient approximate solutions to mutual information based global feature selection", '
        "ICDM 2015, beside what this library finds. `make paper` makes this page from "
        "`experiments/results/`; printed values are in `experiments/published.toml`.",
        "## Verdict",
        "\n".join(f"- {line}" for line in lines(contents)) or "Nothing has been run yet.",
    )


def lines(contents: Contents) -> list[str]:
    """One line for each claim that the rows can judge."""
    found = []
    if contents.real("authors"):
        found += [_pipeline(contents)]
    if contents.simulated:
        found += [_time(contents), _objective(contents)]
    protocols = [p for p in PROTOCOLS if contents.real(p)]
    if protocols:
        found += [_better(contents, protocols), _lowrank(contents, protocols)]
    if variants := comparisons.ablations(contents):
        found.append(_depends(variants))
    if contents.real("nested"):
        found.append(_worth(contents))
    return found


def _pipeline(contents: Contents) -> str:
    told, sets = agreement(contents.real("authors")), len(contents.real("authors"))
    return (
        "**What the authors did** can be told from their numbers: three-state files, z-scores over "
        f"all rows, LIBLINEAR. {' '.join(setting.table_2_words(contents))} Over {sets} sets, the "
        f"cells of Tables 3 and 4 have a rank correlation of {told.correlation:+.2f} with the "
        f"printed ones (median distance {told.apart:.2f} points), and the printed sign in "
        f"{told.half_same} of the {told.half} cells whose printed difference exceeds half its "
        "deviation."
    )


def _time(contents: Contents) -> str:
    order = simulations.fastest(contents)
    holds = order[:1] == ["Linear"] and {*order[1:3]} == {"Spectral", "TPower"}
    return (
        "*Linear is the fastest, followed closely by Spectral and TPower*: "
        f"{'holds' if holds else 'does not hold'} ({', '.join(order)} at n = 1000, k = 100)."
    )


def _objective(contents: Contents) -> str:
    above, cells = simulations.above_others(contents), len(simulations.percent(contents))
    return (
        "*TPower and LowRank have the largest increase of the objective over Linear*: TPower in "
        f"{above['tpower']} and LowRank (scored on Q) in {above['lowrank']} of {cells} experiments."
    )


def _better(contents: Contents, protocols: list[str]) -> str:
    printed = [cell.difference for name, row in published.comparison("table3").rows.items()
               for other in OTHERS if name != "gisette" and (cell := row[other])]  # fmt: skip
    shares = [f"printed {sum(d < 0 for d in printed)} of {len(printed)} cells"]
    for protocol in protocols:
        cells = [c for c in beside("table3", contents.real(protocol))
                 if c.other in OTHERS and c.counts]  # fmt: skip
        won = sum(c.found.mean_difference < 0 for c in cells)
        shares.append(f"`{protocol}` {won} of {len(cells)}")
    return (
        "*TPower performs better than existing techniques across most data sets*, counted as a "
        f"smaller mean error: {', '.join(shares)}. "
        f"{_hold(contents, protocols)}"
    )


def _hold(contents: Contents, protocols: list[str]) -> str:
    """Significant differences, by the rule of the text."""
    told = []
    for protocol in protocols:
        cells = [c.found.verdict for c in beside("table3", contents.real(protocol))
                 if c.other in OTHERS and c.counts]  # fmt: skip
        told.append(f"`{protocol}` {cells.count('win')} wins and {cells.count('loss')} losses in "
                    f"{len(cells)} cells")  # fmt: skip
    return f"By t-tests, the rule of the text: {'; '.join(told)}."


def _lowrank(contents: Contents, protocols: list[str]) -> str:
    rows = published.comparison("table3").rows
    printed = [row["lowrank"].difference for name, row in rows.items() if name != "gisette"]
    told = [f"printed {sum(d > 0 for d in printed)} of {len(printed)} sets"]
    for protocol in protocols:
        pairs = [compare(own, form(own, "lowrank"), form(own, "tpower"))
                 for own in contents.real(protocol).values()]  # fmt: skip
        known = [pair for pair in pairs if pair]
        won = sum(pair.mean_difference < 0 for pair in known)
        told.append(f"`{protocol}` {won} of {len(known)}")
    return f"*LowRank does better than TPower*: its mean error is smaller on {', '.join(told)}."


def _depends(variants: dict[str, dict[str, Curves]]) -> str:
    if "lung" not in variants["nothing"]:
        return "What the cells depend on was not run on lung."
    cells = {words: compare(own["lung"], "tpower", "maxrel") for words, own in variants.items()}
    printed = published.comparison("table3").rows["lung"]["maxrel"].difference
    told = ", ".join(f"{words}: {100 * cell.mean_difference:+.1f}" for words, cell in cells.items())
    return (
        f"**The largest printed win depends on the pipeline**: TPower against MaxRel on lung is "
        f"printed as {printed:+.1f} points; with one choice changed it is {told} points."
    )


def _worth(contents: Contents) -> str:
    errors, sets = contents.mean_errors("nested"), contents.real("nested")
    few = sum(DATASETS[name].m <= LEAVE_ONE_OUT for name in sets)
    told = ", ".join(f"{LABELS[m]} {error:.1f}%" for m, error in errors.items())
    better = "search" in errors and errors["search"] < min(errors["mrmr"], errors["jmi"])
    return (
        f"**A better objective {'means' if better else 'does not mean'} better features** on "
        f"counts cut by CAIM: mean error of {len(sets)} sets ({few} of {LEAVE_ONE_OUT} rows or "
        f"fewer), features selected inside each fold: {told}."
    )
