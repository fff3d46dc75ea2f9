"""Tables 3 and 4, and tables of the same kind, beside what the paper prints."""

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from scipy.stats import t as student

from experiments import published
from experiments.classification.curves import Curves, compare
from experiments.classification.methods import COARSE, NAMES
from experiments.classification.plan import ABLATED
from experiments.classification.protocols import ABLATIONS, PROTOCOLS, WITH_STATES
from experiments.classification.steps import FOLDS, LEAVE_ONE_OUT
from experiments.datasets import DATASETS
from experiments.figures import LABELS
from experiments.report.contents import Contents, only_real
from experiments.tables import Grid
from experiments.verdicts import (
    Agreement,
    Beside,
    agreement,
    beside,
    between_seeds,
    differences,
    form,
    once,
    shown,
    totals,
)

GREEDY = ABLATED[:-1]
LEVEL = 0.95  # of the intervals over seeds
OURS = {"table3": "TPower", "table4": "LowRank"}


def grid(contents: Contents, table: str, protocol: str) -> Grid:
    """Table 3 or 4: our cells, the printed ones in brackets."""
    curves = contents.curves(protocol)
    cells, printed = beside(table, curves), published.comparison(table)
    rows = [[name, *(f"{shown(cell.found)} [{cell.theirs or 'N/A'}]" for cell in cells
                     if cell.name == name)] for name in curves]  # fmt: skip
    columns = [[c for c in cells if c.other == other and c.counts] for other in printed.others]
    ways: dict[str, Callable[[Beside], str]] = {
        "by verdict": lambda cell: cell.found.verdict,
        "by leaning": lambda cell: cell.found.leaning,
        "printed, the same sets": lambda cell: cell.theirs.decision,
    }
    for words, decision in ways.items():
        rows.append([f"W/T/L {words}", *(totals(map(decision, column)) for column in columns)])
    title = PROTOCOLS[protocol].title
    caption = f"Table {table[-1]}, {OURS[table]} against others: {title} [printed values]"
    return Grid(caption, ["data", *map(_head, printed.others)], rows)


def _head(method: str) -> str:
    """The name of a method in the paper."""
    return LABELS[method].partition(",")[0]


def forms(curves: dict[str, Curves]) -> str:
    """On which sets TPower has not the published form."""
    warm = [name for name, own in curves.items() if form(own, "tpower") != "tpower"]
    where = "" if len(warm) == len(curves) else f"On {', '.join(warm)} "
    return f"{where or 'Here '}TPower starts from the k before, too." if warm else ""


def search_grid(contents: Contents, protocol: str) -> Grid:
    """Our search against every method."""
    others = [name for name in NAMES if name != "search"]
    curves = contents.curves(protocol)
    found = {name: [compare(own, "search", other) for other in others]
             for name, own in curves.items()}  # fmt: skip
    rows = [[name, *map(shown, own)] for name, own in found.items()]
    columns = list(zip(*(found[name] for name in only_real(curves)), strict=True))
    decided = (totals(cell.verdict for cell in column if cell) for column in columns)
    rows.append(["W/T/L by verdict", *decided])
    caption = f"search against others: {PROTOCOLS[protocol].title}"
    return Grid(caption, ["data", *(LABELS[other] for other in others)], rows)


HEAD = ["cells", "rank correlation", "median distance, points", "beyond half the printed deviation",
        "with the printed sign", "beyond the deviation", "with the printed sign", "same verdict",
        "same leaning"]  # fmt: skip


def agreement_grid(contents: Contents) -> Grid:
    """How the cells compare with the printed ones, by protocol and size of the sets."""
    rows = []
    for protocol, about in PROTOCOLS.items():
        found = contents.real(protocol)
        many = {name: own for name, own in found.items() if DATASETS[name].m > LEAVE_ONE_OUT}
        few = {name: own for name, own in found.items() if name not in many}
        parts = {"": found, f", m > {LEAVE_ONE_OUT}": many, f", m <= {LEAVE_ONE_OUT}": few}
        for words, own in parts.items():
            if own and (own is found or len(own) < len(found)):
                rows.append([about.title + words, str(len(own)), *counts(agreement(own))])
    return Grid("Agreement with Tables 3 and 4, real data sets only",
                ["protocol", "sets", *HEAD], rows)  # fmt: skip


def counts(found: Agreement) -> list[str]:
    """The cells of a row on agreement."""

    def share(count: int, of: int) -> str:
        return f"{count} ({100 * count / of:.0f}%)" if of else "0"

    return [
        str(found.cells), f"{found.correlation:+.2f}", f"{found.apart:.2f}",
        str(found.half), share(found.half_same, found.half),
        str(found.clear), share(found.clear_same, found.clear),
        share(found.same_verdict, found.cells), share(found.same_leaning, found.cells),
    ]  # fmt: skip


def set_grid(contents: Contents) -> Grid:
    """The same set by set; and how well two of our own cuts into folds agree."""
    noise = own_agreement(contents)
    rows = [[name, *counts(agreement({name: own})), noise.get(name, "-")]
            for name, own in contents.real("authors").items()]  # fmt: skip
    caption = "Agreement with Tables 3 and 4 by data set: the authors' pipeline"
    return Grid(caption, ["data", *HEAD, "rank correlation of our own seeds"], rows)


def own_agreement(contents: Contents) -> dict[str, str]:
    """By set: the rank correlation of our cells between two cuts into folds."""
    seeds = contents.repeated
    return {name: f"{between_seeds([{name: own[name]} for own in seeds]):+.2f}"
            for name in seeds[0]}  # fmt: skip


def correlations(contents: Contents) -> dict[str, float]:
    """By set, the lowest first: the rank correlation with the printed cells."""
    found = {name: agreement({name: own}).correlation
             for name, own in contents.real("authors").items()}  # fmt: skip
    finite = {name: value for name, value in found.items() if np.isfinite(value)}
    return dict(sorted(finite.items(), key=lambda pair: pair[1]))


def few_ks() -> str:
    """The numbers of features of what is run for few k."""
    return f"k = {COARSE[0]}, {COARSE[1]}, ..., {COARSE[-1]}"


def correlation_words(contents: Contents) -> str:
    """The rank correlation over all cells, by set, without the worst set, and of our own seeds."""
    found, by_set = contents.real("authors"), correlations(contents)
    seeds, told = contents.repeated, agreement(found)
    cells = list(once(found))
    linear = np.corrcoef(differences(cells), [cell.theirs.difference for cell in cells])[0, 1]
    words = (f"The rank correlation with the printed cells is {told.correlation:+.2f} over all "
             f"cells (linear: {linear:+.2f})")  # fmt: skip
    if len(by_set) > 1:
        (worst, low), *_, (best, high) = by_set.items()
        rest = agreement({name: own for name, own in found.items() if name != worst})
        words += (f" and {rest.correlation:+.2f} without {worst}; by set it is from {low:+.2f} "
                  f"({worst}) to {high:+.2f} ({best}), median {np.median([*by_set.values()]):+.2f}"
                  )  # fmt: skip
    if seeds[0]:
        words += (
            f". Between two of our own cuts into folds ({few_ks()}) it is "
            f"{between_seeds(seeds):+.2f} over the cells of {len(seeds[0])} sets, by set: "
            + ", ".join(f"{name} {value}" for name, value in own_agreement(contents).items())
        )
    return words + "."


def ablations(contents: Contents) -> dict[str, dict[str, Curves]]:
    """By what is changed: curves of the sets of three states that all variants have, for few k."""
    found = {title.title: contents.curves(name) for name, title in ABLATIONS.items()}
    base = contents.curves("authors")
    names = [name for name in WITH_STATES if "tpower-warm" in base.get(name, ())
             and all(name in own for own in found.values())]  # fmt: skip
    if not names:
        return {}
    few, warm = dict[str, Curves](), dict[str, Curves]()
    for name in names:
        ks = next(iter(found.values()))[name]["tpower"].ks
        few[name] = {method: base[name][method].only(ks) for method in ABLATED}
        warm[name] = few[name] | {"tpower": base[name]["tpower-warm"].only(ks)}
    changed = {words: {name: own[name] for name in names} for words, own in found.items()}
    return {"nothing": few, **changed, "TPower starts from the k before, too": warm}


def ablation_grid(found: dict[str, dict[str, Curves]]) -> Grid:
    """What each choice of the pipeline does to the cells of Table 3."""
    names, others = list(found["nothing"]), GREEDY
    printed = published.comparison("table3").rows
    head = ["changed", *(f"{name}, {LABELS[other]}" for name in names for other in others),
            "median distance, points", "rank correlation"]  # fmt: skip
    rows = [["printed", *(f"{printed[name][other].difference:+.2f}"
                          for name in names for other in others), "", ""]]  # fmt: skip
    for words, curves in found.items():
        cells = {(cell.name, cell.other): cell for cell in beside("table3", curves)}
        told = agreement(curves)
        rows.append([words, *(f"{100 * cells[name, other].found.mean_difference:+.2f}"
                              for name in names for other in others),
                     f"{told.apart:.2f}", f"{told.correlation:+.2f}"])  # fmt: skip
    caption = ("Table 3, TPower against greedy methods, with one choice changed; distance from and "
               "correlation with the printed cells of this table")  # fmt: skip
    return Grid(caption, head, rows)


def largest_moves(found: dict[str, dict[str, Curves]]) -> str:
    """For each changed choice, the cell of Table 3 that it moves most, greedy methods only."""
    told = []
    base = {(c.name, c.other): c for c in beside("table3", found["nothing"])}
    for words, curves in found.items():
        moves = {(c.name, c.other): 100 * c.found.mean_difference for c in beside("table3", curves)
                 if c.other in GREEDY}  # fmt: skip
        before = {key: 100 * base[key].found.mean_difference for key in moves}
        key = max(moves, key=lambda key: abs(moves[key] - before[key]))
        if words != "nothing":
            told.append(f"{words}: {key[0]} against {LABELS[key[1]]} from {before[key]:+.1f} to "
                        f"{moves[key]:+.1f}")  # fmt: skip
    return "; ".join(told)


def repeated_cells(
    contents: Contents, cells_of: Callable[[dict[str, Curves]], Iterable[Beside]] = once
) -> list[tuple[Beside, float, float]]:
    """Cells of the first seed; mean and half an interval of the difference over all seeds."""
    by_seed = [list(cells_of(curves)) for curves in contents.repeated]
    found = []
    for cells in zip(*by_seed, strict=True):
        values = np.array(differences(cells))
        wide = (
            student.ppf((1 + LEVEL) / 2, len(values) - 1)
            * values.std(ddof=1)
            / np.sqrt(len(values))
        )
        found.append((cells[0], float(values.mean()), float(wide)))
    return found


def repeated_grid(contents: Contents) -> Grid:
    """TPower against others over all seeds."""
    others = published.comparison("table3").others
    cells = {
        (cell.name, cell.other): f"{mean:+.2f} ± {wide:.2f} [{cell.theirs.difference:+.2f}]"
        for cell, mean, wide in repeated_cells(contents, partial(beside, "table3"))
    }
    rows = [[name, *(cells[name, other] for other in others)] for name in contents.repeated[0]]
    caption = (f"TPower against others, {FOLDS} folds by each of {len(contents.repeated)} seeds: "
               f"mean and {LEVEL:.0%} interval [printed]")  # fmt: skip
    return Grid(caption, ["data", *map(_head, others)], rows)
