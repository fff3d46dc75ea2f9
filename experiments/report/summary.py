"""The verdict: which claims of the paper hold, and on what they depend."""

from collections import Counter
from dataclasses import dataclass

from experiments import published
from experiments.classification.curves import Curves, compare
from experiments.classification.protocols import PROTOCOLS
from experiments.classification.steps import LEAVE_ONE_OUT
from experiments.datasets import DATASETS
from experiments.figures import LABELS
from experiments.report import comparisons, setting, simulations
from experiments.report.contents import Contents
from experiments.report.page import Page
from experiments.tables import Grid
from experiments.verdicts import agreement, beside

OTHERS = ("maxrel", "mrmr", "jmi", "qpfs", "spectral", "sdp")


@dataclass(frozen=True)
class Claim:
    """One method has a smaller mean error than others, in most cells of a table."""

    words: str
    table: str
    others: tuple[str, ...]


CLAIMS = (
    Claim("TPower than all but LowRank", "table3", OTHERS),
    Claim("LowRank than all but TPower", "table4", OTHERS),
    Claim("LowRank than TPower", "table4", ("tpower",)),
)


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
    if protocols := [name for name in PROTOCOLS if contents.real(name)]:
        page.table(claims_grid(contents, protocols))


def lines(contents: Contents) -> list[str]:
    """One line for each claim that the rows can judge."""
    found = []
    if contents.real("authors"):
        found += [_pipeline(contents)]
    if contents.simulated:
        found += [_time(contents), _objective(contents)]
    if variants := comparisons.ablations(contents):
        found.append(_depends(variants))
    if contents.real("nested"):
        found.append(_worth(contents))
    return found


def _pipeline(contents: Contents) -> str:
    told, sets = agreement(contents.real("authors")), len(contents.real("authors"))
    return (
        "**What the authors did** can be found from their numbers: three-state files, z-scores "
        f"over all rows, LIBLINEAR. {' '.join(setting.table_2_words(contents))} Over {sets} sets, "
        f"the {told.cells} cells of Tables 3 and 4 are {told.apart:.2f} points from the printed "
        f"ones (median), and have the printed sign in {told.half_same} of the {told.half} cells "
        "whose printed difference exceeds half its deviation. "
        f"{comparisons.correlation_words(contents)}"
    )


def _time(contents: Contents) -> str:
    order = simulations.fastest(contents)
    holds = order[:1] == ["Linear"] and {*order[1:3]} == {"Spectral", "TPower"}
    return (
        "*Linear is the fastest, followed closely by Spectral and TPower*: "
        f"{'holds' if holds else 'does not hold'} ({'; '.join(order)}; n = {simulations.SHOWN[0]}, "
        f"k = {simulations.SHOWN[1]})."
    )


def _objective(contents: Contents) -> str:
    above, cells = simulations.above_others(contents), len(simulations.percent(contents))
    return (
        "*TPower and LowRank have the largest increase of the objective over Linear*: TPower in "
        f"{above['tpower']} and LowRank (scored on Q) in {above['lowrank']} of {cells} experiments."
    )


def claims_grid(contents: Contents, protocols: list[str]) -> Grid:
    """In how many cells each claim on the errors is true, printed and by every protocol."""
    rows = [_judge(contents, claim, protocols) for claim in CLAIMS]
    head = ["smaller mean error", "printed", *(f"`{name}`" for name in protocols), "the claim"]
    caption = ("Claims on the errors: cells of the real sets in which they are true, and wins and "
               "losses by t-tests")  # fmt: skip
    return Grid(caption, head, rows)


def _judge(contents: Contents, claim: Claim, protocols: list[str]) -> list[str]:
    rows = published.comparison(claim.table).rows
    printed = [cell for name, row in rows.items() for other in claim.others
               if name != "gisette" and (cell := row[other])]  # fmt: skip
    decided = Counter(cell.decision for cell in printed)
    told = [_cell([cell.difference for cell in printed], decided)]
    holds = []
    for protocol in protocols:
        cells = [cell.found for cell in beside(claim.table, contents.real(protocol))
                 if cell.other in claim.others and cell.counts]  # fmt: skip
        found = [cell.mean_difference for cell in cells]
        told.append(_cell(found, Counter(cell.verdict for cell in cells)))
        if 2 * sum(value < 0 for value in found) > len(found):
            holds.append(protocol)
    words = "holds" if holds == protocols else f"only by `{'`, `'.join(holds)}`"
    return [claim.words, *told, words if holds else "does not hold"]


def _cell(found: list[float], decided: Counter[str]) -> str:
    won = sum(value < 0 for value in found)
    return f"{won} of {len(found)} ({decided['win']} w, {decided['loss']} l)"


def _depends(variants: dict[str, dict[str, Curves]]) -> str:
    if "lung" not in variants["nothing"]:
        return "What the cells depend on was not run on lung."
    cells = {words: compare(own["lung"], "tpower", "maxrel") for words, own in variants.items()}
    printed = published.comparison("table3").rows["lung"]["maxrel"].difference
    found = {words: f"{100 * cell.mean_difference:+.1f}" for words, cell in cells.items()}
    base = found.pop("nothing")
    return (
        "**The largest printed win depends on the pipeline**: TPower against MaxRel on lung is "
        f"printed as {printed:+.1f} points, and is {base} here. With one choice changed: "
        f"{'; '.join(f'{words}: {value}' for words, value in found.items())}."
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
