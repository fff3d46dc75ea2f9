"""Tables 3 and 4, and the same for our own search, beside what the paper prints."""

from typing import Any

from bestk.datasets import DATASETS
from experiments.classification.curves import compare
from experiments.classification.methods import NAMES
from experiments.figures import LABELS
from experiments.report.contents import Contents
from experiments.tables import Grid
from experiments.verdicts import Agreement, agreement, beside, shown, totals

TITLES = {
    "paper": "features selected from all rows, as in the paper",
    "nested": "features selected inside each fold",
    "states": "the paper's protocol on the versions of three states",
}


def grid(contents: Contents, table: str, protocol: str) -> Grid:
    """Table 3 or 4: our cells, the printed ones in brackets."""
    cells = beside(table, contents.curves(protocol))
    others = list(dict.fromkeys(cell.other for cell in cells))
    rows = []
    for name in contents.curves(protocol):
        own = [cell for cell in cells if cell.name == name]
        row = [f"{shown(cell.found)} [{cell.theirs or 'N/A'}]" for cell in own]
        rows.append([name, *row])
    for decision in ("verdict", "leaning"):
        found = [[c.found for c in cells if c.other == other and c.is_real] for other in others]
        rows.append([f"W/T/L by {decision}", *(totals(own, decision) for own in found)])
    number, ours = table[-1], {"table3": "TPower", "table4": "LowRank"}[table]
    caption = f"Table {number}, {ours} against others: {TITLES[protocol]} [printed values]"
    return Grid(caption, ["data", *(LABELS[other] for other in others)], rows)


def search_grid(contents: Contents, protocol: str) -> Grid:
    """Our search against every method of the paper."""
    others = [name for name in NAMES if name != "search"]
    found = {
        name: [compare(own, "search", other) for other in others]
        for name, own in contents.curves(protocol).items()
    }
    rows = [[name, *map(shown, own)] for name, own in found.items()]
    real = [own for name, own in found.items() if DATASETS[name].stands_in_for is None]
    for decision in ("verdict", "leaning"):
        columns = [list(column) for column in zip(*real, strict=True)]
        rows.append([f"W/T/L by {decision}", *(totals(column, decision) for column in columns)])
    caption = f"search against others: {TITLES[protocol]}"
    return Grid(caption, ["data", *(LABELS[other] for other in others)], rows)


def agreement_grid(contents: Contents) -> Grid:
    """How often signs and decisions are the paper's."""
    rows = []
    for protocol, title in TITLES.items():
        if contents.curves(protocol):
            rows.append([title, *_counts(agreement(contents.curves(protocol)))])
    head = ["protocol", "clear printed differences", "same sign", "clearly opposed",
            "cells with a decision", "same decision", "same leaning"]  # fmt: skip
    return Grid("Agreement with Tables 3 and 4, real data sets only", head, rows)


def _counts(found: Agreement) -> list[str]:
    def share(count: int, of: int) -> str:
        return f"{count} ({100 * count / of:.0f}%)" if of else "0"

    return [
        str(found.cells), share(found.same, found.cells), share(found.opposed, found.cells),
        str(found.decided), share(found.same_verdict, found.decided),
        share(found.same_leaning, found.decided),
    ]  # fmt: skip


def by_set(contents: Contents, protocol: str) -> dict[str, tuple[int, int]]:
    """For each set: signs that agree, and clear printed differences."""
    found: dict[str, Any] = {}
    for name, own in contents.real(protocol).items():
        counted = agreement({name: own})
        found[name] = counted.same, counted.cells
    return found
